/** Start: a tenant at a glance, and the setup checklist, which ticks itself. */
import { html } from 'hono/html'
import { integrationContract } from '../../../shared/integration/contract.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Html } from '../../pages/html.ts'
import { CHECK, WARNING } from '../../pages/icons.ts'
import type { Tenant } from '../../store/queries/tenants.ts'
import { form } from '../blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { card, copyable, facts, moment, stepItem } from '../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { MODE_LABELS } from '../operator/settings/settings-form.ts'
import { protectionBadge } from '../operator/tenants-routes.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { chosenOf, codeToPaste } from './integration/code-to-paste.ts'
import { trialTable } from './integration/checks-shown.ts'
import { stepsOf, type Step } from './steps.ts'

export function startRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { tenants, verification, integration, connectors, baseUrl, rates } = world
  const contract = integrationContract(baseUrl)

  async function show(visit: TenantVisit): Promise<View> {
    const { tenant, nowMs } = visit
    const { checks } = await verification.status(tenant.tenantId)
    const trial = await integration.latestOf(tenant)
    const dialled = tenant.mode === 'connector' ? await connectors.list(tenant.tenantId) : undefined
    const steps = stepsOf({ tenant, checks, trial, connectors: dialled, baseUrl, nowMs })
    const chosen = chosenOf(contract, { framework: '', place: '' }, tenant, undefined)
    const code = codeToPaste(contract, chosen, tenant, baseUrl)
    const api = `/api/v1/operator/tenants/${tenant.tenantId}`
    return {
      title: 'Start',
      heading: tenant.name,
      here: 'start',
      intro: html`${protectionBadge(tenant)} ${tenant.tenantId}`,
      content: html`${stateNotice(tenant)} ${card('Setup checklist', checklist(visit, steps, code))}
      ${card('Details', glance(tenant, world))}`,
      calls: [
        { method: 'GET', path: api, label: 'Everything on this page' },
        { method: 'POST', path: `${api}/publish`, label: 'Publish' },
      ],
    }
  }

  return [
    page({ path: TENANT_PATH, role: 'tenant' }, show),
    action(
      { path: `${TENANT_PATH}/publish`, role: 'tenant' },
      async ({ tenant: { tenantId, name }, actor }) => {
        await tenants.publish(tenantId, actor)
        return done(tenantPath(tenantId), `${name} is published.`, { changed: tenantId })
      },
    ),
    action({ path: `${TENANT_PATH}/probe`, role: 'tenant' }, async ({ tenant: { tenantId } }) => {
      rates.take('probe', tenantId, LIMITS.rateProbe)
      const { checks } = await verification.probe(tenantId)
      const failed = checks.filter(({ status }) => status === 'fail').length
      const said =
        failed === 0
          ? 'All checks that ran passed.'
          : `${failed} of ${checks.length} checks failed.`
      return done(tenantPath(tenantId), said)
    }),
    action(
      { path: `${TENANT_PATH}/sign-in-trial`, role: 'tenant' },
      async ({ tenant: { tenantId }, actor }) => {
        rates.take('integration', tenantId, LIMITS.rateIntegration)
        const { completedAtMs, checks } = await integration.complete(tenantId, actor)
        const isFailed = checks.some(({ status }) => status === 'fail')
        const said =
          completedAtMs !== null
            ? 'A test user signed in and out. The integration is complete.'
            : isFailed
              ? 'The test sign-in failed. The checklist says where.'
              : 'The test sign-in worked, but some checks haven’t passed yet. Run the checks.'
        return done(tenantPath(tenantId), said)
      },
    ),
  ]
}

function stateNotice({ status, protection }: Tenant) {
  if (status === 'suspended')
    return notice(
      'problem',
      'This tenant is suspended. All requests get a 503 response, and no one can sign in.',
    )
  return protection === 'on' ? notice('success', 'Live: visitors have to sign in.') : html``
}

/** One list in order; the first that is open is the one to do, and shows how. */
function checklist(visit: TenantVisit, steps: readonly Step[], code: Html) {
  const next = steps.findIndex(({ state }) => state !== 'done')
  // who pastes the code needs no tool, and runs the checks from here all the same
  const toCheck = steps.findIndex(({ button }) => button === 'probe')
  return html`<ol class="steps">
    ${steps.map((step, index) => item(visit, step, index === next, index === toCheck, code))}
  </ol>`
}

const STATES = {
  done: { word: 'done', tone: 'good', icon: CHECK },
  failed: { word: 'failed', tone: 'bad', icon: WARNING },
  open: { word: 'to do', tone: '', icon: '' },
} as const

function item(visit: TenantVisit, step: Step, isNext: boolean, isToCheck: boolean, code: Html) {
  const { title, text, command, part, button, parts = [], seenAtMs } = step
  const isShown = isNext || step.state === 'failed'
  return stepItem(
    STATES[step.state],
    title,
    html`<p class="hint">${text}${seenAtMs === undefined ? '' : html` Checked ${moment(seenAtMs)}.`}</p>
      ${isShown && command !== undefined ? copyable(command, `Next step: ${title}`) : ''}
      ${isShown && part !== undefined ? html`<p><a href="${tenantPath(visit.tenant.tenantId, part.on ?? 'integration')}#${part.id}">${part.label}</a></p>` : ''}
      ${isShown && step.hasCode === true ? html`<details><summary>Or paste the code yourself</summary>${code}</details>` : ''}
      ${parts.length === 0 ? '' : html`<details ${step.state === 'failed' ? html`open` : ''}><summary>Test sign-in, step by step</summary>${trialTable(parts)}</details>`}
      ${(isNext || isToCheck || button === 'sign-in-trial') && button !== undefined ? buttonOf(visit, button, isNext) : ''}`,
  )
}

const BUTTONS = {
  publish: 'Publish',
  probe: 'Run checks',
  'sign-in-trial': 'Test sign-in',
} as const

function buttonOf(visit: TenantVisit, button: NonNullable<Step['button']>, isNext: boolean) {
  const action = `${tenantPath(visit.tenant.tenantId)}/${button}`
  return form(visit, { action, submit: BUTTONS[button], ...(!isNext && { look: 'quiet' }) })
}

function glance(tenant: Tenant, { edgeUrlFor }: ConsoleWorld) {
  const { hostnames, origin, mode, plan, licence, sealed, excluded, createdAt } = tenant
  const links = hostnames.map(
    (hostname, index) =>
      html`${index === 0 ? '' : html`<br />`}${
        // no gateway serves it in sdk mode
        mode === 'sdk'
          ? hostname
          : html`<a href="${edgeUrlFor(hostname)}/" rel="noreferrer">${hostname}</a>`
      }`,
  )
  return facts([
    [
      hostnames.length > 1 ? 'Hostnames' : 'Hostname',
      hostnames.length === 0 ? null : html`${links}`,
    ],
    mode === 'connector'
      ? ['Reached by', html`<a href="${tenantPath(tenant.tenantId, 'connectors')}">connectors</a>`]
      : ['Origin', origin],
    ['Enforcement mode', MODE_LABELS[mode]],
    ['Plan', plan],
    ['License', licence],
    ['Sealed paths', sealed.length === 0 ? null : sealed.join(', ')],
    ['Public paths', excluded.length === 0 ? null : excluded.join(', ')],
    ['Created', moment(createdAt)],
  ])
}
