/**
 * Policies: six forms. Each leads to a page that shows what would change and what it would have
 * done to the sign-ins of the last days; saving is a button on that page.
 */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { POLICY_NAMES, type Policies, type PolicyName } from '../../../policy/policies.ts'
import { network } from '../../../policy/network.ts'
import { differences, fromTo } from '../../blocks/diff.ts'
import { form } from '../../blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { card, facts } from '../../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf } from '../people/paths.ts'
import { effectSentences, effectTables } from './effect.ts'
import type { PolicyForm } from './policy-form.ts'
import { daysField, POLICY_FORMS, sentAs } from './policy-forms.ts'
import { inPolicyWords } from './policy-words.ts'
import { summaryOf } from './summary.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import { peopleOf } from '../people/session-table.ts'

const PATH = `${TENANT_PATH}/policies` as const
const DAYS_DEFAULT = 7
const DAYS_WISH = `a whole number from 1 to ${LIMITS.replayDaysMax}`
const days = v.pipe(
  v.number(DAYS_WISH),
  v.minValue(1, DAYS_WISH),
  v.maxValue(LIMITS.replayDaysMax, DAYS_WISH),
)

export function policiesRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { policies } = world
  return [
    page({ path: PATH, role: 'tenant' }, async ({ tenant: { tenantId, name }, proofs }) => {
      const all = await policies.of(tenantId)
      return {
        title: 'Policies',
        here: 'policies',
        intro: `Who can sign in to ${name}, how, from where and in which browsers.`,
        content: html`<div class="cards">
          ${POLICY_NAMES.map((one) => {
            const { title, about } = POLICY_FORMS[one]
            return card(
              title,
              html`<p class="hint">${about}</p>
                ${hiddenNotice(one, world)}
                ${facts(summaryOf(one, all))}
                <div class="submit">
                  <a class="button small" href="${`${tenantPath(tenantId, 'policies')}/${one}`}">${proofs.isReadOnly ? 'View' : 'Edit'}<span class="unseen"> ${title}</span></a>
                </div>`,
            )
          })}
        </div>`,
        calls: [{ method: 'GET', path: `${apiOf(tenantId)}/policies` }],
      }
    }),
    ...POLICY_NAMES.flatMap((name) => policyRoutes(name, POLICY_FORMS[name] as never, world)),
  ]
}

function policyRoutes<Name extends PolicyName>(
  name: Name,
  policyForm: PolicyForm<Name>,
  world: ConsoleWorld,
): readonly ConsoleRoute[] {
  const { policies, replayPolicy, users } = world
  const { title, about, besides, shape, fields, written } = policyForm
  const entries = policyForm.entries as v.ObjectEntries
  const path = `${PATH}/${name}` as const

  const shown = async (tenantId: string, settings: Policies[Name]) =>
    written === undefined ? settings : written.shown({ users, tenantId }, settings)

  async function kept(tenantId: string, settings: Policies[Name]): Promise<Policies[Name]> {
    const { [name]: current } = await policies.of(tenantId)
    return written === undefined ? settings : written.kept({ users, tenantId }, settings, current)
  }

  async function editView(visit: TenantVisit, attempt?: Attempt): Promise<View> {
    const { tenantId } = visit.tenant
    const { [name]: settings } = await policies.of(tenantId)
    return {
      title,
      here: 'policies',
      intro: about,
      content: html`${hiddenNotice(name, world)}
        <div class="card narrow">${proposal(visit, await shown(tenantId, settings), DAYS_DEFAULT, attempt)}</div>`,
      calls: callsOf(tenantId, settings),
    }
  }

  function proposal(visit: TenantVisit, settings: Policies[Name], past: number, attempt?: Attempt) {
    const base = tenantPath(visit.tenant.tenantId, 'policies')
    return form(visit, {
      action: `${base}/${name}/effect`,
      submit: 'Preview impact',
      cancel: base,
      attempt,
      content: html`${fields(settings, attempt)} ${daysField(past, attempt)}`,
    })
  }

  function callsOf(tenantId: string, policy: object) {
    const api = `${apiOf(tenantId)}/policies/${name}`
    return [
      {
        method: 'POST' as const,
        path: `${api}/replay`,
        body: { days: DAYS_DEFAULT, policy },
        label: 'Preview impact',
      },
      { method: 'PUT' as const, path: api, body: policy, label: 'Save' },
    ]
  }

  async function effectView(visit: TenantVisit, settings: Policies[Name], past: number) {
    const { tenantId } = visit.tenant
    const { [name]: current } = await policies.of(tenantId)
    const [before, after] = [await shown(tenantId, current), await shown(tenantId, settings)]
    const changes = fromTo({ ...before }, { ...after })
    const result = await replayPolicy(tenantId, name, settings, past)
    const userIds = result.examples.map(({ userId }) => userId)
    const people = await peopleOf(users, tenantId, userIds)
    const warning = name === 'network' ? lockOut(visit, settings as Policies['network']) : undefined
    return {
      title: `${title}: impact`,
      here: 'policies' as const,
      content: html`${hiddenNotice(name, world)}
        ${warning === undefined ? '' : notice('problem', warning)}
        ${
          changes.length === 0
            ? notice('info', 'This is the same as the current policy.')
            : card('Changes', html`${differences(inPolicyWords(name, changes))}`)
        }
        ${card(
          'Impact on past sign-ins',
          html`${effectSentences(result, past).map((sentence) => html`<p>${sentence}</p>`)}
            <p class="hint">${besides}</p>
            ${effectTables(tenantId, result, people)}`,
          'effect',
        )}
        ${changes.length === 0 ? '' : card('Save', saving(visit, settings, warning !== undefined))}
        ${card('Keep editing', proposal(visit, after, past))}`,
      calls: callsOf(tenantId, settings),
    } satisfies View
  }

  function saving(visit: TenantVisit, settings: Policies[Name], isHarsh: boolean) {
    const base = tenantPath(visit.tenant.tenantId, 'policies')
    return html`<p class="hint">Applies to all sign-ins from now on.</p>
      ${form(visit, {
        action: `${base}/${name}`,
        submit: isHarsh ? 'Save anyway (blocks you)' : 'Save',
        cancel: base,
        ...(isHarsh && { look: 'danger' as const }),
        content: sentAs(shape, settings).map(
          ([field, value]) => html`<input type="hidden" name="${field}" value="${value}" />`,
        ),
      })}`
  }

  return [
    page({ path, role: 'tenant', needsFreshSignIn: true, isForForm: false }, (visit) =>
      editView(visit),
    ),
    action(
      {
        path: `${path}/effect`,
        role: 'tenant',
        form: { ...shape, days: 'whole' },
        body: v.strictObject({ ...entries, days }),
      },
      async (visit, body) => {
        const { days: past, ...settings } = body as { readonly days: number }
        const meant = await kept(visit.tenant.tenantId, settings as Policies[Name])
        return effectView(visit, meant, past)
      },
      editView,
    ),
    action(
      { path, role: 'tenant', form: shape, body: v.strictObject(entries), needsFreshSignIn: true },
      async ({ tenant: { tenantId }, actor }, settings) => {
        const meant = await kept(tenantId, settings as unknown as Policies[Name])
        await policies.put(tenantId, name, meant, actor)
        const said = `${title} policy saved.`
        return done(tenantPath(tenantId, 'policies'), said, {
          ...(name === 'session' && { changed: tenantId }),
        })
      },
      editView,
    ),
  ]
}

/** Whoever sets a list of networks should know that nobody's address is seen. */
function hiddenNotice(name: PolicyName, { clientsHidden }: ConsoleWorld) {
  if (name !== 'network' || !clientsHidden) return ''
  return notice(
    'problem',
    'Network policies can’t work yet: everyone appears to come from the proxy in front of this service. An operator has to list that proxy under control_plane.trusted_proxies in config.yaml.',
  )
}

/** Of whoever is about to lock themselves out, before they do. */
function lockOut({ from, tenant }: TenantVisit, proposed: Policies['network']) {
  const address = from === '' ? null : from
  const facts = { address } as Parameters<typeof network>[0]
  if (network(facts, { network: proposed }).kind === 'pass') return undefined
  return `This blocks your own address, ${from}: you couldn’t sign in to ${tenant.name} from here. You keep access to the console.`
}
