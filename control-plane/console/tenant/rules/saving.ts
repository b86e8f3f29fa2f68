/**
 * A change of access rules on its way: shown with what it would mean for those who were here, then
 * saved by a button. What is sent is the change and not the rules, which may be many.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import type { AccessRules } from '../../../../shared/fleet/access-rules.ts'
import { parseStrictJson } from '../../../http/strict-json.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { applyEdit, RuleEditSchema, type RuleEdit } from '../../../tenants/rule-edits.ts'
import { differences } from '../../blocks/diff.ts'
import { form } from '../../blocks/form.ts'
import { card } from '../../blocks/text.ts'
import { tenantPath } from '../../navigation.ts'
import { action, done, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import type { Html } from '../../../pages/html.ts'
import { peopleOf } from '../people/session-table.ts'
import { impactSentence, impactTables, KNOWN_HINT, shownOf } from './impact.ts'
import { apiOf, RULES, versionOf } from './paths.ts'
import { ruleSentence, type MachineNames } from './sentences.ts'

export type RulesWorld = Pick<
  ConsoleWorld,
  'accessRules' | 'accessReview' | 'groups' | 'machines' | 'users'
>

export const machineNames = async ({ machines }: Pick<RulesWorld, 'machines'>, tenantId: string) =>
  new Map((await machines.list(tenantId)).map(({ serviceId, name }) => [serviceId, name]))

/** The rules that a page was made of, or a refusal where they are others by now. */
async function rulesOfVersion(
  { accessRules }: Pick<RulesWorld, 'accessRules'>,
  tenantId: string,
  version: string,
): Promise<AccessRules> {
  const content = await accessRules.of(tenantId)
  if (versionOf(content) !== version) throw new Refusal('access_rules_changed')
  return content
}

/** «"rules.2.path" must be …» is what programs read. */
function inWords(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.code !== 'field_invalid') return error
  const detail = error.detail
    .replace(/^"rules\.(\d+)(?:\.\w+)?"/, (_, at: string) => `Rule ${Number(at) + 1}`)
    .replace(/^"networks\.([^"]+)"/, 'The network $1')
  return new Refusal('field_invalid', {}, detail)
}

export async function previewView(
  world: RulesWorld,
  visit: TenantVisit,
  edit: RuleEdit,
  more: { readonly version: string; readonly keepEditing?: Html },
): Promise<View> {
  const { tenantId } = visit.tenant
  const { version, keepEditing } = more
  const content = await rulesOfVersion(world, tenantId, version)
  const next = applyEdit(content, edit)
  const base = tenantPath(tenantId, 'rules')
  const machines = await machineNames(world, tenantId)
  const replayed = await world.accessReview.replay(tenantId, next).catch((error: unknown) => {
    throw inWords(error)
  })
  const ids = shownOf(replayed).flatMap(({ ids: some }) => some)
  const people = await peopleOf(world.users, tenantId, ids)
  const verb = edit.kind === 'remove' ? 'Remove' : 'Save'
  const isHarsh = replayed.changes.some(({ change }) => change === 'refused')
  return {
    title: 'Access rules: impact',
    here: 'rules',
    content: html`${card('Change', html`${changeOf(content, next, edit, machines)}`)}
      ${card(
        'Impact',
        html`<p>${impactSentence(replayed)}</p>
          <p class="hint">${KNOWN_HINT}</p>
          ${impactTables({ tenantId, replayed, people, machines })}`,
        'impact',
      )}
      ${card(
        verb,
        html`<p class="hint">Gateways apply the rules within a second of saving.</p>
          ${form(visit, {
            action: `${base}/save`,
            submit: isHarsh ? `${verb} anyway (people lose access)` : verb,
            cancel: base,
            hidden: { edit: JSON.stringify(edit), version },
            ...(isHarsh && { look: 'danger' as const }),
          })}`,
      )}
      ${keepEditing === undefined ? '' : card('Keep editing', keepEditing)}`,
    calls: [
      { method: 'POST', path: `${apiOf(tenantId)}/replay`, body: next, label: 'Preview impact' },
      { method: 'PUT', path: apiOf(tenantId), body: next, label: 'Save' },
    ],
  }
}

function changeOf(
  before: AccessRules,
  after: AccessRules,
  edit: RuleEdit,
  machines: MachineNames,
): Html | string {
  const at = edit.kind === 'put' || edit.kind === 'remove' ? edit.at : undefined
  const said = (rule: AccessRules['rules'][number] | undefined) =>
    rule === undefined ? undefined : ruleSentence(rule, machines)
  if (edit.kind === 'put' || edit.kind === 'remove') {
    const from = at === undefined ? undefined : said(before.rules[at])
    const to = edit.kind === 'put' ? said(edit.rule) : undefined
    if (from === to) return notice('info', 'This is the same as the current rule.')
    const name = at === undefined ? 'New rule' : `Rule ${at + 1}`
    return differences([{ name, ...(from && { from }), ...(to && { to }) }])
  }
  const sentences = (content: AccessRules) =>
    content.rules.map((rule) => ruleSentence(rule, machines))
  const networks = (content: AccessRules) =>
    Object.entries(content.networks ?? {}).map(([name, list]) => `${name}: ${list.join(', ')}`)
  const changed = [
    { name: 'Rules', from: sentences(before), to: sentences(after) },
    { name: 'Networks', from: networks(before), to: networks(after) },
    { name: 'Contact', from: before.contact ?? 'none', to: after.contact ?? 'none' },
  ].filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
  return changed.length === 0
    ? notice('info', 'This is the same as the current rules.')
    : differences(changed)
}

const SAID: Readonly<Record<RuleEdit['kind'], string>> = {
  put: 'Rule saved.',
  remove: 'Rule removed.',
  move: 'Rule moved.',
  network: 'Network saved.',
  contact: 'Contact saved.',
  all: 'Rules saved.',
}

export async function saveEdit(
  world: RulesWorld,
  { tenant: { tenantId }, actor }: TenantVisit,
  edit: RuleEdit,
  version: string,
) {
  const content = await rulesOfVersion(world, tenantId, version)
  await world.accessRules
    .put(tenantId, applyEdit(content, edit), actor, content)
    .catch((error: unknown) => {
      throw inWords(error)
    })
  const location = tenantPath(tenantId, 'rules')
  return done(location, SAID[edit.kind], { changed: tenantId })
}

export const savingRoutes = (world: RulesWorld): readonly ConsoleRoute[] => [
  action(
    {
      path: `${RULES}/save`,
      role: 'tenant',
      form: { edit: 'text', version: 'text' },
      body: v.strictObject({ edit: v.string(), version: v.string() }),
      needsFreshSignIn: true,
    },
    (visit, { edit, version }) => saveEdit(world, visit, editIn(edit), version),
  ),
]

/** Made by a page of ours; a form may be changed on its way. */
function editIn(text: string): RuleEdit {
  const result = v.safeParse(RuleEditSchema, parseStrictJson(Buffer.from(text)))
  if (result.success) return result.output
  throw new Refusal('field_invalid', { field: 'edit' }, 'The change can’t be read. Make it again.')
}
