/** One access rule as a form: its place, then each way in, then who stays out. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  AccessRuleSchema,
  type AccessRule,
  type AllowClause,
} from '../../../../shared/fleet/access-rules.ts'
import {
  checkField,
  choicesField,
  linesField,
  selectField,
  textField,
  type Attempt,
  type Option,
} from '../../../pages/blocks/field.ts'
import type { Html } from '../../../pages/html.ts'
import { durationText, durationWish } from '../../durations.ts'
import { attributeLines, attributesIn } from '../people/attribute-lines.ts'
import type { FormShape } from '../../form-values.ts'
import type { MachineNames } from './sentences.ts'

/** What a rule can speak of. */
export interface Choices {
  readonly hostnames: readonly string[]
  readonly groups: readonly string[]
  readonly networks: readonly string[]
  readonly machines: MachineNames
}

/** So many ways fit on a page; a rule with more is changed as JSON. */
const ALLOW_SHOWN_MAX = 12
const DENY_SHOWN_MAX = 6
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** A list that is longer is typed. */
const OPTIONS_MAX = 100

type List = 'allow' | 'deny'
const OF_CLAUSE = {
  signed_in: 'flag',
  group: 'optional',
  not_group: 'optional',
  attr: 'optional',
  network: 'optional',
  not_network: 'optional',
  service: 'optional',
} as const
const OF_ALLOW = { ...OF_CLAUSE, mfa: 'flag', max_age: 'seconds' } as const

const fieldsOf = (list: List, most: number, fields: FormShape): FormShape =>
  Object.fromEntries(
    Array.from({ length: most }, (_, at) =>
      Object.entries(fields).map(([name, kind]) => [`${list}_${at + 1}_${name}`, kind] as const),
    ).flat(),
  )

export const RULE_SHAPE: FormShape = {
  path: 'text',
  host: 'optional',
  methods: 'choices',
  ...fieldsOf('allow', ALLOW_SHOWN_MAX, OF_ALLOW),
  ...fieldsOf('deny', DENY_SHOWN_MAX, OF_CLAUSE),
  widen: 'flag',
}
/** Read by `ruleOf`, which says what is wrong in the words of the API. */
export const RULE_BODY = v.record(v.string(), v.unknown())

/** Whether the form can show it without losing anything. */
export const fitsForm = ({ allow, deny = [] }: AccessRule): boolean =>
  allow.length <= ALLOW_SHOWN_MAX && deny.length <= DENY_SHOWN_MAX

export function ruleFields(
  { hostnames, ...choices }: Choices,
  rule: AccessRule | undefined,
  attempt: Attempt | undefined,
): Html {
  const others = (rule?.methods ?? []).filter((method) => !METHODS.includes(method))
  const allow = rule?.allow ?? []
  const deny = rule?.deny ?? []
  return html`${textField({
    name: 'path',
    label: 'Path',
    hint: 'It and everything below it, for example /reports.',
    value: rule?.path ?? '',
    attempt,
  })}
  ${selectField({
    name: 'host',
    label: 'Hostname',
    options: [
      { value: '', label: 'Every hostname' },
      ...hostnames.map((name) => ({ value: name, label: name })),
    ],
    value: rule?.host ?? '',
    isFree: true,
    attempt,
  })}
  ${choicesField({
    name: 'methods',
    label: 'Methods',
    hint: 'Select none for every method. A path with rules is closed for methods that no rule names.',
    options: [...METHODS, ...others].map((method) => ({ value: method, label: method })),
    chosen: rule?.methods ?? [],
    attempt,
  })}
  <h2>Who may open it</h2>
  <p class="hint">Each box is one way in, and one is enough. Within a box everything must be true.</p>
  ${Array.from({ length: shownOf(allow.length, ALLOW_SHOWN_MAX, 2) }, (_, at) =>
    clauseFields({ list: 'allow', at, clause: allow[at], choices, attempt }),
  )}
  <h2>Who never may</h2>
  <p class="hint">Wins over every way in, and holds for every path below. Leave it empty if there is nobody.</p>
  ${Array.from({ length: shownOf(deny.length, DENY_SHOWN_MAX, 1) }, (_, at) =>
    clauseFields({ list: 'deny', at, clause: deny[at], choices, attempt }),
  )}
  ${checkField({
    name: 'widen',
    label: 'Open this path to people whom a rule above it refuses',
    hint: 'Without this, someone who may not open /admin may not open /admin/help either.',
    isOn: rule?.widen ?? false,
    attempt,
  })}`
}

/** One more than there are, to add to. */
const shownOf = (count: number, most: number, least: number) =>
  Math.min(most, Math.max(least, count + 1))

function clauseFields({
  list,
  at,
  clause = {},
  choices: { groups, networks, machines },
  attempt,
}: {
  readonly list: List
  readonly at: number
  readonly clause: AllowClause | undefined
  readonly choices: Omit<Choices, 'hostnames'>
  readonly attempt: Attempt | undefined
}): Html {
  const name = (field: string) => `${list}_${at + 1}_${field}`
  const named = groups.map((group) => ({ value: group, label: group }))
  const places = networks.map((network) => ({ value: network, label: network }))
  const services = [...machines].map(([value, label]) => ({ value, label }))
  const chosen = (field: string, label: string, options: readonly Option[], value = '') =>
    choice({ name: name(field), label, options, value, attempt })
  const title = `${list === 'allow' ? 'Way' : 'Never'} ${at + 1}`
  const content = html`<fieldset class="field box">
    <legend>${title}</legend>
    ${checkField({
      name: name('signed_in'),
      label: 'Anyone who is signed in',
      isOn: clause.signed_in === true,
      attempt,
    })}
    ${chosen('group', 'Member of', named, clause.group)}
    ${chosen('not_group', 'Not a member of', named, clause.not_group)}
    ${linesField({
      name: name('attr'),
      label: 'With these attributes',
      hint: 'One per line, as NAME = VALUE, for example department = audit. Values must match exactly.',
      rows: 2,
      isOptional: true,
      value: attributeLines(
        Object.entries(clause.attr ?? {}).map(([attribute, value]) => ({ name: attribute, value })),
      ),
      attempt,
    })}
    ${networks.length === 0 ? '' : chosen('network', 'From the network', places, clause.network)}
    ${networks.length === 0 ? '' : chosen('not_network', 'From outside the network', places, clause.not_network)}
    ${
      list === 'deny'
        ? ''
        : html`${checkField({
            name: name('mfa'),
            label: 'Signed in with a second factor',
            isOn: clause.strength === 'mfa',
            attempt,
          })}
          ${textField({
            name: name('max_age'),
            label: 'Signed in within the last',
            hint: 'A length of time, like 15 min or 8 h.',
            value: clause.max_age === undefined ? '' : durationText(clause.max_age),
            isFree: true,
            attempt,
          })}`
    }
    ${services.length === 0 ? '' : chosen('service', 'The machine', services, clause.service)}
  </fieldset>`
  const isFirst = list === 'allow' && at === 0
  const isSaid = Object.keys(clause).length > 0 || isTyped(attempt, name(''))
  return isFirst || isSaid ? content : folded(list, content)
}

/** What is wrong within must be seen. */
const isTyped = (attempt: Attempt | undefined, prefix: string) =>
  [...(attempt?.values ?? []), ...(attempt?.problems ?? [])].some(
    ([field, text]) => field.startsWith(prefix) && text !== '',
  )

const folded = (list: List, content: Html): Html =>
  html`<details class="folded">
    <summary>${list === 'allow' ? 'Add another way in' : 'Add someone who never may'}</summary>
    ${content}
  </details>`

function choice(view: {
  readonly name: string
  readonly label: string
  readonly options: readonly Option[]
  readonly value: string
  readonly attempt: Attempt | undefined
}): Html {
  const { options, value } = view
  if (options.length > OPTIONS_MAX) return textField({ ...view, isFree: true })
  const isMissing = value !== '' && !options.some((option) => option.value === value)
  const all = [...options, ...(isMissing ? [{ value, label: `${value} (deleted)` }] : [])]
  return selectField({
    ...view,
    isFree: true,
    options: [{ value: '', label: '—' }, ...all],
  })
}

/** Refuses with the field of the form, in the words of the API. */
export function ruleOf(body: Readonly<Record<string, unknown>>): AccessRule {
  const allow = clausesIn(body, 'allow', ALLOW_SHOWN_MAX)
  const deny = clausesIn(body, 'deny', DENY_SHOWN_MAX)
  if (allow.length === 0)
    throw wrong(
      'allow_1_signed_in',
      'Choose who may open it. To close a path to everyone, seal it under Settings.',
    )
  const { path, host, methods, widen } = body
  const rule = {
    path,
    ...(host !== undefined && { host }),
    ...(Array.isArray(methods) && methods.length > 0 && { methods }),
    ...(widen === true && { widen }),
    allow: allow.map(({ clause }) => clause),
    ...(deny.length > 0 && { deny: deny.map(({ clause }) => clause) }),
  }
  const result = v.safeParse(AccessRuleSchema, rule)
  if (result.success) return result.output
  const [issue] = result.issues
  const [first, index, condition] = (issue.path ?? []).map(({ key }) => String(key))
  if (first !== 'allow' && first !== 'deny') throw wrong(first ?? '', `Must be ${issue.message}.`)
  const { at = 1 } = (first === 'allow' ? allow : deny)[Number(index)] ?? {}
  const field = condition === 'strength' ? 'mfa' : (condition ?? 'signed_in')
  const wish =
    field === 'max_age'
      ? durationWish(issue.message)
      : field === 'attr'
        ? `one per line, as NAME = VALUE, at most ${LIMITS.ruleAttributesMax}, each name once and in lower-case letters`
        : issue.message
  throw wrong(`${first}_${at}_${field}`, `Must be ${wish}.`)
}

const wrong = (field: string, detail: string) => new Refusal('field_invalid', { field }, detail)

/** Those that say anything, each with its number on the page. */
function clausesIn(body: Readonly<Record<string, unknown>>, list: List, most: number) {
  return Array.from({ length: most }, (_, index) => index + 1).flatMap((at) => {
    const said = (field: string) => body[`${list}_${at}_${field}`]
    const clause = {
      ...(said('signed_in') === true && { signed_in: true }),
      ...given('group', said('group')),
      ...given('not_group', said('not_group')),
      ...given('attr', askedOf(said('attr'))),
      ...given('network', said('network')),
      ...given('not_network', said('not_network')),
      ...(said('mfa') === true && { strength: 'mfa' }),
      ...given('max_age', said('max_age')),
      ...given('service', said('service')),
    }
    return Object.keys(clause).length === 0 ? [] : [{ at, clause }]
  })
}

/** A name that comes twice would be two values, both of which it must have: it is refused by the schema. */
function askedOf(lines: unknown): unknown {
  if (typeof lines !== 'string') return undefined
  const all = attributesIn(lines)
  const names = new Set(all.map(({ name }) => name))
  return names.size < all.length
    ? {}
    : Object.fromEntries(all.map(({ name, value }) => [name, value]))
}

const given = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value })
