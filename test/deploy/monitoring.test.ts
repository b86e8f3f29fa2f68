/** Rules and pictures name figures that there are, under names that the programs give them. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'
import { createMetrics as ofControlPlane } from '../../control-plane/metrics.ts'
import { createMetrics as ofGateway } from '../../gateway/telemetry/metrics.ts'
import { createWorkerCounter, OUTCOMES } from '../../gateway/telemetry/worker-counts.ts'
import { startServices } from '../support/control-plane.ts'
import { clockOf } from '../support/clocks.ts'
import { missingIn, toldIn, type Told } from '../support/prometheus.ts'

const FOLDER = fileURLToPath(new URL('../../deploy/monitoring', import.meta.url))
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))
const docs = globSync('*.md', { cwd: DOCS }).map((name) => readFileSync(join(DOCS, name), 'utf8'))

const STATE = {
  workersWanted: 1,
  workersServing: 1,
  link: {
    ...{
      isConnected: true,
      isConfigured: true,
      isDamaged: false,
      isDiskHealthy: true,
      correctionMs: 0,
    },
    ...{ epoch: 'e', revision: 1, syncedMs: 0, workersReady: 1, tenants: 1, rejected: 0 },
  },
} satisfies Parameters<ReturnType<typeof ofGateway>['text']>[0]

const GAUGES = {
  ...{ connections: 1, inFlight: 1, webSockets: 1, loopLagMs: 1, cpuMs: 1, residentBytes: 1 },
  ...{ upstreamSockets: 1, upstreamIdle: 1, upstreamWaiting: 1, hopsOver: 1, hopsServed: 1 },
}

/** All that a gateway tells of itself that has had every kind of request. */
async function toldByGateway(): Promise<string> {
  const metrics = ofGateway({ id: 'g', version: '1', clock: clockOf(() => 0) })
  const counter = createWorkerCounter(() => ({
    ...{ verifyHits: 1, verifyMisses: 1, linesDropped: 1 },
    ...{ hopsOpened: 1, hopsFailed: 1, hopsServed: 1 },
  }))
  for (const outcome of OUTCOMES)
    for (const status of [0, 200, 302, 404, 503])
      counter.count({
        ...{ tenantId: 'acme', ...outcome, status, bytes: 1, isCut: true, ms: 1, upstreamMs: 1 },
        failureCode: 'upstream_refused',
      })
  metrics.absorb(1, { counts: counter.take(), gauges: GAUGES })
  return metrics.text(STATE)
}

async function toldByControlPlane(t: Test): Promise<string> {
  const services = await startServices(t)
  const keys = { operator: createLiveKey('one', 'two'), fleet: createLiveKey('one', 'two') }
  const metrics = ofControlPlane(services, keys)
  const attributes = { step: 'password', outcome: 'done', to: 'webhook' }
  for (const name of ['sign_in', 'outgoing'])
    await services.tracing.span(name, { attributes }, async () => {})
  await services.jobs.run()
  await services.tracing
    .span('job', { attributes: { job: 'digests' } }, () => Promise.reject(new Error('no')))
    .catch(() => undefined)
  return metrics.text()
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly expr: string
      readonly labels: { readonly severity: string }
      readonly annotations: { readonly summary: string; readonly action: string }
    }[]
  }[]
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[]
  }[]
}

const { groups } = parse(read('alerts.yaml')) as Rules
const rules = groups.flatMap((group) => group.rules)
const { panels } = JSON.parse(read('dashboard.json')) as Dashboard
const shownIn = (text: string) =>
  [...text.matchAll(/\{\{ ?(?:\$labels\.)?([a-z_]+) ?\}\}/g)].map(([, label = '']) => label)

void t.test('every figure that is asked for is one that is told, with these labels', async (t) => {
  const told = toldIn((await toldByGateway()) + (await toldByControlPlane(t)))
  const asks = (expression: string, shown: string, where: string) =>
    t.strictSame(missingIn(expression, shownIn(shown), told), [], `${where}: ${expression}`)
  for (const { alert, expr, annotations } of rules)
    asks(expr, Object.values(annotations).join(' '), alert)
  for (const { id, targets = [] } of panels)
    for (const { expr, legendFormat = '' } of targets) asks(expr, legendFormat, `panel ${id}`)
  const named = [read('README.md'), ...docs]
    .join('\n')
    .matchAll(/`((?:gateway|control_plane)_[^`]*)`/g)
    .map(([, text = '']) => text)
    .toArray()
  t.ok(named.length > 20)
  for (const text of named) asks(text, '', 'a page')
  const jobs = parse(read('prometheus.yaml')) as { scrape_configs: { job_name: string }[] }
  for (const [, job = ''] of read('alerts.yaml').matchAll(/\bjob="([^"]*)"/g))
    t.ok(
      jobs.scrape_configs.some((one) => one.job_name === job),
      job,
    )
  mistakesAreTold(t, told)
})

function mistakesAreTold(t: Test, told: Told) {
  const { expr } = rules.find(({ alert }) => alert === 'ApplicationsFail')!
  for (const [right, wrong] of [
    ['gateway_requests_total', 'gateway_request_total'],
    ['status="5xx"', 'status="500"'],
    ['decision="forward"', 'outcome="forward"'],
    ['by (tenant)', 'by (tenant_id)'],
  ] as const)
    t.not(missingIn(expr.replace(right, wrong), [], told).length, 0, `instead of ${right}`)
  t.not(missingIn(expr, ['instance'], told).length, 0, 'one that is summed away')
  t.not(missingIn('gateway_connections', ['tenant'], told).length, 0, 'one that it never had')
}

void t.test('each rule says what to do, and each panel is itself', (t) => {
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, labels, annotations } of rules) {
    t.match(labels.severity, /^(?:page|ticket)$/, alert)
    t.match(annotations, { summary: /\w/, action: /\w/ }, `${alert} says what to do`)
  }
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  t.end()
})

const PROMTOOL = '/usr/bin/promtool'
void t.test(
  'Prometheus takes rules and settings',
  { skip: !existsSync(PROMTOOL) && 'promtool is not installed' },
  (t) => {
    const check = (...args: readonly string[]) =>
      execFileSync(PROMTOOL, ['check', ...args], { cwd: FOLDER, stdio: 'pipe', encoding: 'utf8' })
    t.match(check('rules', 'alerts.yaml'), `SUCCESS: ${rules.length} rules found`)
    // the key that it names is on the machine of whoever runs it
    t.match(check('config', '--syntax-only', 'prometheus.yaml'), 'SUCCESS')
    t.end()
  },
)
