/**
 * Access rules: each as a sentence, in their order, with what can be done with it; and the pages on
 * which one is written. Everything that changes a decision is shown with its effect before it is saved.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import type { AccessRule, AccessRules } from '../../../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { linesField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import type { RuleEdit } from '../../../tenants/rule-edits.ts'
import { freshSignInNotice } from '../../access/fresh-sign-in.ts'
import { form } from '../../blocks/form.ts'
import { emptyState, pager, table } from '../../blocks/table.ts'
import { card, moment } from '../../blocks/text.ts'
import { tenantPath } from '../../navigation.ts'
import { action, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import { jsonRoutes } from './json-routes.ts'
import { networkRoutes } from './network-routes.ts'
import { apiOf, RULES, versionOf } from './paths.ts'
import { fitsForm, RULE_BODY, RULE_SHAPE, ruleFields, ruleOf, type Choices } from './rule-form.ts'
import { machineNames, previewView, saveEdit, savingRoutes, type RulesWorld } from './saving.ts'
import { placeText, ruleSentence, type MachineNames } from './sentences.ts'

const AT = /^\d{1,4}$/
/** From which rule on they are shown, by its place. */
const FROM_QUERY = {
  cursor: v.optional(v.pipe(v.string(), v.regex(AT, 'the place of a rule'), v.transform(Number))),
}
const base = ({ tenant }: TenantVisit) => tenantPath(tenant.tenantId, 'rules')

export function rulesRoutes(world: RulesWorld): readonly ConsoleRoute[] {
  const { accessRules, groups } = world

  async function choicesOf({ tenant: { tenantId, hostnames } }: TenantVisit): Promise<Choices> {
    const { networks = {} } = await accessRules.of(tenantId)
    return {
      hostnames,
      groups: (await groups.list(tenantId)).map(({ name }) => name),
      networks: Object.keys(networks),
      machines: await machineNames(world, tenantId),
    }
  }

  async function listView(
    visit: TenantVisit & { readonly query?: { readonly cursor?: number | undefined } },
    attempt?: Attempt,
  ): Promise<View> {
    const { tenantId, name } = visit.tenant
    const { cursor: from = 0 } = visit.query ?? {}
    const content = await accessRules.of(tenantId)
    const machines = await machineNames(world, tenantId)
    const [saved] = await world.accessReview.saved(tenantId, 1)
    const { isReadOnly } = visit.proofs
    return {
      title: 'Access rules',
      here: 'rules',
      intro: `Who can open which paths of ${name}. A path without rules is open to everyone who is signed in.`,
      buttons: [
        ...(isReadOnly ? [] : [linkButton(`${base(visit)}/new`, 'Add a rule')]),
        linkButton(`${base(visit)}/who`, 'Who can open a path?', 'quiet'),
      ],
      content: html`${freshSignInNotice(visit)} ${problemOf(attempt)} ${ruleTable(visit, content, machines, from)}
        ${card('Networks', networksPart(visit, content, attempt), 'networks')}
        ${card('Contact', contactPart(visit, content, attempt), 'ask')}
        <p class="hint"><a href="${base(visit)}/json">${isReadOnly ? 'View' : 'Edit'} as JSON</a>${saved === undefined ? '' : html`. Last saved ${moment(saved.at)}${saved.actor === '' ? '' : ` by ${saved.actor}`}.`}</p>`,
      calls: [
        { method: 'GET', path: apiOf(tenantId) },
        { method: 'PUT', path: apiOf(tenantId), body: content },
      ],
    }
  }

  async function oneView(visit: TenantVisit, place?: string, attempt?: Attempt): Promise<View> {
    const content = await accessRules.of(visit.tenant.tenantId)
    const rule = place === undefined ? undefined : ruleAt(content, place)
    return {
      title: rule === undefined ? 'Add an access rule' : `Change rule ${Number(place) + 1}`,
      here: 'rules',
      ...(rule && { intro: ruleSentence(rule, await machineNames(world, visit.tenant.tenantId)) }),
      content:
        rule === undefined || fitsForm(rule)
          ? html`<div class="card narrow">${await ruleForm(visit, place, rule, attempt)}</div>`
          : notice(
              'info',
              'This rule has too many clauses for a form.',
              linkButton(`${base(visit)}/json`, 'Edit as JSON', 'quiet'),
            ),
      calls: [{ method: 'GET', path: apiOf(visit.tenant.tenantId) }],
    }
  }

  async function ruleForm(
    visit: TenantVisit,
    place: string | undefined,
    rule: AccessRule | undefined,
    attempt?: Attempt,
  ): Promise<Html> {
    const content = await accessRules.of(visit.tenant.tenantId)
    const version = attempt?.values.get('version') ?? versionOf(content)
    return form(visit, {
      action: place === undefined ? `${base(visit)}/new` : `${base(visit)}/${place}`,
      submit: 'Preview impact',
      cancel: base(visit),
      hidden: { version },
      attempt,
      content: ruleFields(await choicesOf(visit), rule, attempt),
    })
  }

  const shape = { version: 'text', ...RULE_SHAPE } as const

  async function preview(visit: TenantVisit, place: string | undefined, body: object) {
    const { version = '', ...fields } = body as { version?: string }
    const rule = ruleOf(fields)
    const edit: RuleEdit =
      place === undefined ? { kind: 'put', rule } : { kind: 'put', at: Number(place), rule }
    const keepEditing = await ruleForm(visit, place, rule)
    return previewView(world, visit, edit, { version, keepEditing })
  }

  return [
    page({ path: RULES, role: 'tenant', query: FROM_QUERY }, (visit) => listView(visit)),
    page(
      { path: `${RULES}/new`, role: 'tenant', needsFreshSignIn: true, isForForm: true },
      (visit) => oneView(visit),
    ),
    action(
      { path: `${RULES}/new`, role: 'tenant', form: shape, body: RULE_BODY },
      (visit, body) => preview(visit, undefined, body),
      (visit, attempt) => oneView(visit, undefined, attempt),
    ),
    ...savingRoutes(world),
    ...networkRoutes(world, listView),
    ...jsonRoutes(world),
    page(
      { path: `${RULES}/{at}`, role: 'tenant', needsFreshSignIn: true, isForForm: false },
      (visit) => oneView(visit, visit.path.at),
    ),
    action(
      { path: `${RULES}/{at}`, role: 'tenant', form: shape, body: RULE_BODY },
      async (visit, body) => {
        ruleAt(await accessRules.of(visit.tenant.tenantId), visit.path.at)
        return preview(visit, visit.path.at, body)
      },
      (visit, attempt) => oneView(visit, visit.path.at, attempt),
    ),
    page(
      { path: `${RULES}/{at}/remove`, role: 'tenant', needsFreshSignIn: true, isForForm: true },
      async (visit) => {
        const content = await accessRules.of(visit.tenant.tenantId)
        const { path } = ruleAt(content, visit.path.at)
        const edit: RuleEdit = { kind: 'remove', at: Number(visit.path.at) }
        const view = await previewView(world, visit, edit, { version: versionOf(content) })
        return { ...view, title: `Remove the rule for ${path}?` }
      },
    ),
    action(
      {
        path: `${RULES}/{at}/move`,
        role: 'tenant',
        form: { to: 'text', version: 'text' },
        body: v.strictObject({ to: v.picklist(['up', 'down']), version: v.string() }),
        needsFreshSignIn: true,
      },
      (visit, { to, version }) =>
        saveEdit(world, visit, { kind: 'move', at: placeIn(visit.path.at), to }, version),
      listView,
    ),
  ]
}

const placeIn = (place: string): number => {
  if (!AT.test(place)) throw new Refusal('not_found')
  return Number(place)
}

function ruleAt({ rules }: AccessRules, place: string): AccessRule {
  const rule = rules[placeIn(place)]
  if (rule === undefined) throw new Refusal('not_found')
  return rule
}

/** Of a button that has no fields; the others say it themselves. */
function problemOf(attempt: Attempt | undefined): Html | string {
  const isOfButton = attempt?.values.has('to') === true
  return isOfButton ? notice('problem', attempt.problem ?? 'This rule can’t be moved.') : ''
}

interface Listed {
  readonly at: number
  readonly rule: AccessRule
}

/** Each has forms of its own, and there may be two thousand. */
const RULES_SHOWN = 100

function ruleTable(
  visit: TenantVisit,
  content: AccessRules,
  machines: MachineNames,
  wished: number,
): Html {
  const { rules } = content
  const from = wished < rules.length ? wished : 0
  const next = from + RULES_SHOWN < rules.length ? String(from + RULES_SHOWN) : null
  const { isReadOnly } = visit.proofs
  const version = versionOf(content)
  const path = base(visit)
  const mover = ({ at, rule }: Listed, to: 'up' | 'down') =>
    form(visit, {
      action: `${path}/${at}/move`,
      submit: to === 'up' ? 'Up' : 'Down',
      about: `the rule for ${rule.path}`,
      look: 'small',
      hidden: { to, version },
    })
  const about = ({ rule }: Listed) => html`<span class="unseen"> the rule for ${rule.path}</span>`
  return html`${table<Listed>({
    caption: 'Access rules',
    rows: rules.map((rule, at) => ({ at, rule })).slice(from, from + RULES_SHOWN),
    columns: [
      {
        label: 'Rule',
        isName: true,
        cell: ({ at, rule }) =>
          html`${at + 1}. <span class="said">${ruleSentence(rule, machines)}</span>`,
      },
      ...(isReadOnly
        ? []
        : [
            {
              label: 'Actions',
              isUnseen: true,
              cell: (one: Listed) => html`<div class="buttons">
                <a class="button small" href="${path}/${one.at}">Edit${about(one)}</a>
                ${one.at === 0 ? '' : mover(one, 'up')}
                ${one.at === rules.length - 1 ? '' : mover(one, 'down')}
                <a class="button small" href="${path}/${one.at}/remove">Remove${about(one)}</a>
              </div>`,
            },
          ]),
    ],
    empty: emptyState(
      'No access rules yet',
      'Everyone who is signed in can open every path. Add a rule to open a path only to some people.',
      isReadOnly ? undefined : linkButton(`${path}/new`, 'Add the first one'),
    ),
  })}
  ${rules.length <= RULES_SHOWN ? '' : pager(visit.address, { next, isFirst: from === 0 })}
  ${rules.length < 2 ? '' : html`<p class="hint">The order is for reading only. The rules of the longest path decide, and those of the paths above it have to agree unless a rule says otherwise.</p>`}`
}

function networksPart(
  visit: TenantVisit,
  { networks = {}, rules }: AccessRules,
  attempt: Attempt | undefined,
): Html {
  const users = (network: string) =>
    rules.filter(({ allow, deny = [] }) =>
      [...allow, ...deny].some((one) => one.network === network || one.not_network === network),
    )
  return html`<p class="hint">IP addresses that rules can name, such as an office or a VPN.</p>
    ${table({
      caption: 'Networks',
      rows: Object.entries(networks),
      columns: [
        { label: 'Name', isName: true, cell: ([name]) => name },
        { label: 'Addresses', cell: ([, entries]) => entries.join(', ') },
        {
          label: 'Used by',
          cell: ([name]) => users(name).map(placeText).join('; ') || 'no rule',
        },
      ],
      empty: html`<p class="hint">No networks yet.</p>`,
    })}
    ${
      visit.proofs.isReadOnly
        ? ''
        : html`<h3>Add or replace a network</h3>
          ${form(visit, {
            action: `${base(visit)}/networks`,
            submit: 'Preview impact',
            attempt: attempt?.values.has('name') === true ? attempt : undefined,
            content: html`${textField({
              name: 'name',
              label: 'Name',
              hint: 'Lower-case letters, digits and dashes, like office. An existing name is replaced.',
              attempt,
            })}
            ${linesField({
              name: 'entries',
              label: 'Addresses',
              hint: 'One per line, like 192.0.2.0/24. Leave it empty to delete the network.',
              isFree: true,
              attempt,
            })}`,
          })}`
    }`
}

function contactPart(visit: TenantVisit, content: AccessRules, attempt: Attempt | undefined): Html {
  return form(visit, {
    action: `${base(visit)}/contact`,
    submit: 'Save contact',
    hidden: { version: versionOf(content) },
    attempt: attempt?.values.has('contact') === true ? attempt : undefined,
    content: textField({
      name: 'contact',
      label: 'Whom to ask for access',
      hint: 'An email address or an https:// address. The page that people see when a rule refuses them links to it.',
      value: content.contact ?? '',
      charactersMax: LIMITS.accessContactCharactersMax,
      isOptional: true,
      attempt,
    }),
  })
}
