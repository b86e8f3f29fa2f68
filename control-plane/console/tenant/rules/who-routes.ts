/** Who can open this path, and who could then? Asked of the very core that gateways run. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { DAY_MS } from '../../../../shared/clock.ts'
import { pathOf } from '../../../../shared/enforcement/path.ts'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { checkField, selectField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import { AccessQuestionBody, AccessQuestionFields } from '../../../requests/access-fields.ts'
import type { ReviewedAccess } from '../../../tenants/access-review.ts'
import { badge, card, moment, type Tone } from '../../blocks/text.ts'
import { parseDuration } from '../../durations.ts'
import { searched } from '../../filters.ts'
import { bodyOf } from '../../form-values.ts'
import { tenantPath } from '../../navigation.ts'
import { page, type ConsoleRoute, type TenantVisit } from '../../route.ts'
import { typedPeople } from '../people/typed-people.ts'
import { apiOf, RULES } from './paths.ts'
import { machineNames, type RulesWorld } from './saving.ts'
import { clauseText, ruleSentence, type MachineNames } from './sentences.ts'

const typed = v.optional(v.pipe(v.string(), v.maxLength(LIMITS.accessPathAskedMax)), '')
const QUERY = {
  path: typed,
  person: searched,
  machine: typed,
  host: typed,
  method: typed,
  ip: typed,
  factor: typed,
  ago: typed,
  at: typed,
}
type Asked = Readonly<Record<keyof typeof QUERY, string>>

const AGO_DEFAULT = '5 min'
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Found {
  /** How who was asked about is called. */
  readonly who: string
  readonly path: string
  readonly atMs: number | undefined
  readonly reviewed: ReviewedAccess
}

export function whoRoutes(world: RulesWorld): readonly ConsoleRoute[] {
  const { accessReview, users } = world

  async function answer({ tenant: { tenantId } }: TenantVisit, asked: Asked): Promise<Found> {
    const { person, machine, factor, ago } = asked
    if ((person === '') === (machine === ''))
      throw wrong('person', 'Enter a person, or choose a machine.')
    const seconds = parseDuration(ago === '' ? AGO_DEFAULT : ago)
    const userId =
      person === '' ? undefined : await typedPeople(users).idOf(tenantId, person, 'person')
    const { at } = bodyOf({ at: 'moment' }, { values: new Map([['at', asked.at]]), choices: NONE })
    const result = v.safeParse(AccessQuestionBody, {
      path: asked.path,
      method: asked.method === '' ? 'GET' : asked.method,
      ...(asked.host !== '' && { host: asked.host }),
      ...(userId !== undefined && { user_id: userId }),
      ...(machine !== '' && { service_id: machine }),
      ...(asked.ip !== '' && { ip: asked.ip }),
      second_factor: factor !== '',
      signed_in_seconds_ago: seconds ?? ago,
      at,
    })
    if (!result.success) throw problemOf(result.issues[0])
    const { output } = result
    const path = pathOf(output.path)
    const atMs = output.at == null ? undefined : Date.parse(output.at)
    const reviewed = await accessReview.ask(tenantId, {
      path,
      atMs,
      userId,
      host: output.host,
      method: output.method,
      serviceId: output.service_id,
      address: output.ip ?? '',
      isStrong: output.second_factor,
      signedInSecondsAgo: output.signed_in_seconds_ago,
    })
    const user = userId === undefined ? undefined : await users.find(tenantId, userId)
    const who = user?.name ?? (await machineNames(world, tenantId)).get(machine) ?? machine
    return { who, path, atMs, reviewed }
  }

  return [
    page({ path: `${RULES}/who`, role: 'tenant', query: QUERY }, async (visit) => {
      const { tenantId, name, hostnames } = visit.tenant
      const asked = visit.query as Asked
      const machines = await machineNames(world, tenantId)
      let found: Found | undefined
      let attempt: Attempt | undefined
      try {
        if (asked.path !== '') found = await answer(visit, asked)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        attempt = attemptOf(asked, error)
      }
      return {
        title: 'Who can open a path?',
        here: 'rules',
        intro: `Ask for one person or machine, now or at an earlier time. The answer comes from the code that decides for ${name}.`,
        ...(attempt && { status: 422 as const }),
        content: html`${found === undefined ? '' : card('Answer', answerPart(found, machines), 'answer')}
          <div class="card narrow">${questionForm(visit, asked, { attempt, hostnames, machines })}</div>`,
        calls: [
          {
            method: 'POST',
            path: `${apiOf(tenantId)}/decision`,
            body: { path: asked.path || '/reports', user_id: 'usr_…', second_factor: true },
          },
        ],
      }
    }),
  ]
}

const NONE: ReadonlyMap<string, readonly string[]> = new Map()
const wrong = (field: string, detail: string) => new Refusal('field_invalid', { field }, detail)

/** Where the API calls it otherwise. */
const FIELDS: Readonly<Record<string, keyof Asked>> = {
  user_id: 'person',
  service_id: 'machine',
  signed_in_seconds_ago: 'ago',
}

function problemOf(issue: v.BaseIssue<unknown>): Refusal {
  const named = issue.path?.[0]?.key
  const key = typeof named === 'string' ? named : 'path'
  if (key === 'at') return wrong('at', 'Must be a time like 2027-01-31 14:00, in UTC.')
  if (key === 'signed_in_seconds_ago')
    return wrong('ago', 'Must be a length of time, like 5 min or 8 h.')
  const field = Object.hasOwn(AccessQuestionFields, key) ? (FIELDS[key] ?? key) : 'path'
  return wrong(field, `Must be ${issue.message}.`)
}

function attemptOf(asked: Asked, { fields, detail }: Refusal): Attempt {
  const { field } = fields
  const isOfForm = typeof field === 'string' && Object.hasOwn(QUERY, field)
  return {
    values: new Map(
      Object.entries(asked).filter(([name, value]) => name !== 'factor' || value !== ''),
    ),
    choices: NONE,
    problems: new Map(isOfForm ? [[field, detail]] : []),
    problem: isOfForm ? undefined : detail,
  }
}

function questionForm(
  visit: TenantVisit,
  asked: Asked,
  shown: {
    readonly attempt: Attempt | undefined
    readonly hostnames: readonly string[]
    readonly machines: MachineNames
  },
): Html {
  const { attempt, hostnames, machines } = shown
  const text = (name: keyof Asked, label: string, hint?: string, isFree = true) =>
    textField({ name, label, hint, isFree, value: asked[name], attempt })
  const yesterday = new Date(visit.nowMs - DAY_MS).toISOString().slice(0, 16).replace('T', ' ')
  return html`<form method="get" action="${tenantPath(visit.tenant.tenantId, 'rules')}/who">
    ${attempt?.problem === undefined ? '' : notice('problem', attempt.problem)}
    ${text('path', 'Path', 'As a browser sends it, for example /reports/2026.', false)}
    ${text('person', 'Person', 'Username or email.')}
    ${
      machines.size === 0
        ? ''
        : selectField({
            name: 'machine',
            label: 'Or a machine',
            options: [
              { value: '', label: '—' },
              ...[...machines].map(([value, label]) => ({ value, label })),
            ],
            value: asked.machine,
            isFree: true,
            attempt,
          })
    }
    ${
      hostnames.length < 2
        ? ''
        : selectField({
            name: 'host',
            label: 'Hostname',
            options: hostnames.map((name) => ({ value: name, label: name })),
            value: asked.host,
            isFree: true,
            attempt,
          })
    }
    ${selectField({
      name: 'method',
      label: 'Method',
      options: METHODS.map((method) => ({ value: method, label: method })),
      value: asked.method === '' ? 'GET' : asked.method,
      isFree: true,
      attempt,
    })}
    ${text('ip', 'From the IP address', 'Leave it empty if you don’t know: then no network rule lets them in.')}
    ${checkField({
      name: 'factor',
      label: 'Signed in with a second factor',
      isOn: asked.factor !== '',
      attempt,
    })}
    ${textField({
      name: 'ago',
      label: 'Signed in this long ago',
      value: asked.ago === '' ? AGO_DEFAULT : asked.ago,
      isFree: true,
      attempt,
    })}
    ${text('at', 'At this time (UTC)', `Leave it empty for now, or enter a time like ${yesterday}.`)}
    <div class="submit"><button type="submit" class="button">Show the answer</button></div>
  </form>`
}

function answerPart({ who, path, atMs, reviewed }: Found, machines: MachineNames): Html {
  const { outcome, rules, groups, attributes } = reviewed
  const when = atMs === undefined ? '' : html` <span class="hint">at ${moment(atMs)}</span>`
  if (rules === undefined)
    return html`<p>${badge('Not known', 'warm')}${when}</p>
      <p>The rules of that time are no longer kept, so nobody can say.</p>`
  const [word, tone, text] = verdictOf(outcome, who, path, atMs !== undefined)
  return html`<p>${badge(word, tone)}${when}</p>
    <p>${text}</p>
    ${whyPart(reviewed, machines)}
    <p class="hint">${groups.length === 0 ? `${who} ${atMs === undefined ? 'is' : 'was'} in no group.` : `Groups: ${groups.join(', ')}.`}
      ${attributes.length === 0 ? '' : `Attributes: ${attributes.map(({ name, value }) => `${name} = ${value}`).join(', ')}.`}
      ${atMs === undefined ? '' : 'Sealed and excluded paths count as they are now.'}</p>`
}

function verdictOf(
  outcome: ReviewedAccess['outcome'],
  who: string,
  path: string,
  isPast: boolean,
): readonly [string, Tone, string] {
  const [can, cannot] = isPast ? ['could', 'couldn’t'] : ['can', 'can’t']
  if (outcome.kind === 'forward')
    return outcome.reason === 'excluded'
      ? ['Yes', 'good', `Everyone ${can} open ${path}, even without signing in: it is excluded.`]
      : ['Yes', 'good', `${who} ${can} open ${path}.`]
  if (outcome.kind === 'service')
    return ['Yes', 'good', `${path} belongs to the sign-in itself, and is open to everyone.`]
  if (outcome.kind === 'sign_in')
    return [
      'Only after more proof',
      'warm',
      `${who} would be asked to sign in again, with a second factor, and ${can} open ${path} after that.`,
    ]
  if (outcome.reason === 'sealed')
    return ['No', 'bad', `Nobody can open ${path}: it is sealed, and returns 404.`]
  if (outcome.reason === 'path_unreadable')
    return [
      'No',
      'bad',
      `Nobody can open ${path}: servers read it in different ways, so it is refused.`,
    ]
  return ['No', 'bad', `${who} ${cannot} open ${path}.`]
}

/** The rules that decided, by number and in words. */
function whyPart({ explanation, rules }: ReviewedAccess, machines: MachineNames): Html | string {
  if (explanation === undefined) return ''
  const deciding = explanation.rules.flatMap((at) => {
    const rule = rules?.rules[at]
    return rule === undefined ? [] : [{ at, rule }]
  })
  const isUnnamed = explanation.kind === 'closed' && deciding.length === 0
  const why = isUnnamed ? 'No rule names this machine for this path.' : WHY[explanation.kind]
  return html`<p>${why}</p>
    ${
      deciding.length === 0
        ? ''
        : html`<ul class="effects">
            ${deciding.map(
              ({ at, rule }) =>
                html`<li>Rule ${at + 1}: ${explanation.kind === 'denied' ? `never ${(rule.deny ?? []).map((clause) => clauseText(clause, machines)).join(', or ')} (${rule.path})` : ruleSentence(rule, machines)}</li>`,
            )}
          </ul>`
    }`
}

const WHY = {
  unruled: 'No rule names this path, so it is open to everyone who is signed in.',
  unreadable: 'Servers read this path in different ways, so no rule can be chosen.',
  opened: 'Opened by:',
  denied: 'Refused by:',
  closed: 'None of the ways in holds:',
} as const
