/** Integration: from the keys to the checks, everything that putting an application behind it takes. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { integrationContract } from '../../../../shared/integration/contract.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { IntegrationResult } from '../../../verification/integration.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { tabs } from '../../blocks/tabs.ts'
import { card, copyable } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import {
  action,
  done,
  page,
  type ApiCall,
  type ConsoleRoute,
  type TenantVisit,
  type View,
} from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { checksTable, trialTable } from './checks-shown.ts'
import { chosenOf, codeToPaste } from './code-to-paste.ts'
import { guideShown } from './guide-shown.ts'
import { protectionCard } from './protection-routes.ts'
import { setupCommand } from '../steps.ts'
import { obstaclesOf } from './readiness.ts'
import { keysCard } from './secret-routes.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'

const PATH = `${TENANT_PATH}/integration`
/** What is not among them is the first of them. */
const word = v.optional(v.string(), '')
const QUERY = { framework: word, place: word } as const

const PARTS = [
  ['tool', 'Command-line tool'],
  ['keys', 'Keys'],
  ['code', 'Code to paste'],
  ['guide', 'Guide'],
  ['checks', 'Checks'],
  ['live', 'Go live'],
] as const

export function integrationRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { tenants, verification, integration, guides, baseUrl, rates } = world
  const contract = integrationContract(baseUrl)

  async function show(
    visit: TenantVisit,
    asked = { framework: '', place: '' },
    told?: Html,
  ): Promise<View> {
    const { tenant, nowMs } = visit
    const { tenantId } = tenant
    const here = tenantPath(tenantId, 'integration')
    const [{ checks }, guide, overlaps] = await Promise.all([
      verification.status(tenantId),
      guides.latest(tenantId),
      tenants.secretOverlaps(tenantId),
    ])
    const chosen = chosenOf(contract, asked, tenant, guide?.framework)
    const obstacles = obstaclesOf({ tenant, checks, nowMs })
    return {
      title: 'Integration',
      here: 'integration',
      intro: `Connect ${tenant.name} to this service, step by step.`,
      content: html`${tabs(
        'On this page',
        PARTS.map(([id, label]) => ({ label, href: `#${id}` })),
      )}
        ${told ?? ''} ${card('Command-line tool', toolSteps(baseUrl), 'tool')}
        ${card('Keys', keysCard(tenant, overlaps), 'keys')}
        ${card('Code to paste', codeToPaste(contract, chosen, tenant, baseUrl), 'code')}
        ${card('Guide', guideShown(guide), 'guide')}
        ${card('Checks', html`${checksTable(checks, nowMs)}${checkButtons(visit, here)}`, 'checks')}
        ${card('Go live', protectionCard(tenant, obstacles), 'live')}`,
      calls: callsOf(tenantId),
    }
  }

  /** The page once more, with what was refused above everything. */
  const again = (visit: TenantVisit, { problem = '' }: Attempt) =>
    show(visit, undefined, notice('problem', problem))

  return [
    page({ path: PATH, role: 'tenant', query: QUERY }, (visit) => show(visit, visit.query)),
    action(
      { path: `${PATH}/probe`, role: 'tenant' },
      async ({ tenant: { tenantId } }) => {
        rates.take('probe', tenantId, LIMITS.rateProbe)
        const { checks } = await verification.probe(tenantId)
        const ofPlatform = checks.filter(({ source }) => source === 'platform')
        const failed = ofPlatform.filter(({ status }) => status === 'fail').length
        const said =
          failed === 0
            ? 'All checks that ran passed.'
            : `${failed} of ${ofPlatform.length} checks failed. See the next step for each.`
        return done(`${tenantPath(tenantId, 'integration')}#checks`, said)
      },
      again,
    ),
    action(
      { path: `${PATH}/complete`, role: 'tenant' },
      async (visit) => {
        const { tenantId } = visit.tenant
        rates.take('integration', tenantId, LIMITS.rateIntegration)
        const result = await integration.complete(tenantId, visit.actor)
        if (result.completedAtMs === null)
          return { ...(await show(visit, undefined, trialShown(result))), status: 409 as const }
        const said = 'A test user signed in and out. The integration is complete.'
        return done(`${tenantPath(tenantId, 'integration')}#checks`, said)
      },
      again,
    ),
  ]
}

/** As it is typed; the address is in the program that is installed. */
const STEP_BY_STEP = [
  ['Sign in (once)', 'service-analyzer login'],
  ['In the folder of your application: preview the changes', 'service-analyzer analyze'],
  ['Apply the changes (each one is shown first)', 'service-analyzer apply'],
  ['Restart the application and verify', 'service-analyzer verify'],
  ['Test a sign-in and go live', 'service-analyzer complete\nservice-analyzer go-live'],
] as const

function toolSteps(baseUrl: string): Html {
  return html`<p>
      Run this in the folder of your application. It signs you in here, without a key to paste,
      shows every change before making it, checks the result and goes live when you say so.
      <code>service-analyzer undo</code> reverts its changes.
    </p>
    ${copyable(setupCommand(baseUrl), 'Install the tool and set up the application')}
    <details>
      <summary>Or step by step</summary>
      <ol class="numbered">
        ${STEP_BY_STEP.map(
          ([what, command]) => html`<li><p>${what}</p>${copyable(command, what)}</li>`,
        )}
      </ol>
    </details>
    <p class="hint">In a CI pipeline, set <code>SERVICE_ANALYZER_KEY</code> instead of signing in.</p>`
}

function checkButtons(visit: TenantVisit, here: string): Html {
  const { tenant } = visit
  if (tenant.status === 'draft')
    return html`<p>Publish this tenant to run checks.</p>
      ${linkButton(tenantPath(tenant.tenantId), 'Go to Start to publish')}`
  return html`<div class="actions">
      ${form(visit, { action: `${here}/probe`, submit: 'Run checks' })}
      ${form(visit, { action: `${here}/complete`, submit: 'Test sign-in', look: 'quiet' })}
    </div>
    <p class="hint">
      The test sign-in uses a temporary user: your application briefly sees
      <code>sign-in-check-…</code>.
    </p>`
}

function trialShown({ missing, checks }: IntegrationResult): Html {
  const names = missing.filter((name) => !checks.some(({ check }) => check === name))
  const text =
    names.length === 0
      ? 'The test sign-in failed.'
      : 'The test sign-in worked, but some checks haven’t passed yet. Run the checks.'
  return html`${notice('problem', text)}
  ${card('Test sign-in, step by step', trialTable(checks), 'trial')}`
}

function callsOf(tenantId: string): ApiCall[] {
  const api = `/api/v1/operator/tenants/${tenantId}`
  return [
    { method: 'POST', path: `${api}/analyzer-key/show`, label: 'Show the analyzer key' },
    {
      method: 'POST',
      path: `${api}/client-secret/rotate`,
      body: { overlap_seconds: LIMITS.secretOverlapSecondsDefault },
      label: 'Replace the client secret',
    },
    { method: 'GET', path: '/api/v1/contract', label: 'Contract and all code samples' },
    { method: 'POST', path: `${api}/go-live`, label: 'Go live' },
    { method: 'POST', path: `${api}/go-back`, label: 'Go back to pass-through' },
  ]
}
