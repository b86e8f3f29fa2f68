/**
 * The metrics of the whole gateway, in the primary: what the workers hand over is added up here,
 * so that a worker's end loses nothing and sets no counter back.
 */
import { Counter, Gauge, Registry } from 'prom-client'
import type { SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { FleetLinkStatus } from '../fleet/fleet-link.ts'
import { CountedHistogram } from './counted-histogram.ts'
import type { WorkerGauges, WorkerReport } from './messages.ts'
import { OTHER_TENANTS, OUTCOMES, STATUS_CLASSES } from './worker-counts.ts'

interface GatewayState {
  readonly link: FleetLinkStatus
  readonly workersWanted: number
  readonly workersServing: number
}

interface MetricsOptions {
  readonly id: string
  readonly version: string
  readonly clock: SteadyClock
}

export function createMetrics({ id, version, clock }: MetricsOptions) {
  const registry = new Registry()
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `gateway_${name}`, help, labelNames, registers })
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `gateway_${name}`, help, labelNames, registers })

  const requests = counter(
    'requests_total',
    'Requests by tenant, decision, reason and class of status.',
    ['tenant', 'decision', 'reason', 'status'],
  )
  const duration = new CountedHistogram({
    name: 'gateway_request_duration_seconds',
    help: 'From the head of a request to the end of its answer.',
    label: 'answered_by',
    registers,
  })
  const firstByte = new CountedHistogram({
    name: 'gateway_upstream_first_byte_seconds',
    help: "From a request on its way to the application to the head of the application's answer.",
    label: '',
    registers,
  })
  const bytes = counter('response_bytes_total', 'Bytes of answers, heads included.')
  const cut = counter('requests_cut_total', 'Answers that did not arrive whole.')
  const upstreamErrors = counter('upstream_errors_total', 'Why an application gave no answer.', [
    'code',
  ])
  const refusedHeads = counter('refused_heads_total', 'What was no valid request.', ['code'])
  const verifyCache = counter(
    'verify_cache_total',
    'Session tokens by whether their proof is kept.',
    ['result'],
  )
  const linesDropped = counter('access_log_dropped_total', 'Lines that nobody was there to read.')
  const hops = counter('hops_total', 'Connections to connectors that are at other gateways.', [
    'result',
  ])
  const hopsServed = counter(
    'hops_served_total',
    'Connections that other gateways got to connectors here.',
  )
  const restarts = counter('worker_restarts_total', 'Workers that were replaced.', ['cause'])

  const workers = gauge('workers', 'Processes that serve.', ['state'])
  const connections = gauge('connections', 'Open connections of clients.', ['worker'])
  const inFlight = gauge('requests_in_flight', 'Requests without their whole answer.', ['worker'])
  const webSockets = gauge('websockets', 'Open WebSockets.', ['worker'])
  const upstreams = gauge('upstream_connections', 'Connections to applications.', ['state'])
  const waiting = gauge('upstream_waiting', 'Requests that wait for a connection.')
  const hopConnections = gauge('hop_connections', 'Open connections between gateways.', ['side'])
  const loopLag = gauge(
    'event_loop_lag_seconds',
    'The longest delay of the event loop since it was last asked for.',
    ['worker'],
  )
  const cpu = gauge('worker_cpu_seconds', 'CPU time of the process that serves now.', ['worker'])
  const resident = gauge('worker_resident_bytes', 'Memory of the process.', ['worker'])

  const revision = gauge('snapshot_revision', 'The newest revision that all workers serve.')
  const age = gauge(
    'snapshot_age_seconds',
    'Since the control plane last confirmed that nothing is missing; NaN before the first time.',
  )
  const isConnected = gauge('link_connected', '1 while there is a link to the control plane.')
  const isConfigured = gauge('configured', '1 once the gateway has had a whole state.')
  const isDamaged = gauge('state_damaged', '1 while a tenant has been lost from the disk.')
  const isDiskHealthy = gauge('disk_healthy', '0 while the state cannot be written down.')
  const correction = gauge(
    'clock_correction_seconds',
    "What is added to this machine's clock, which is not the control plane's; 0 while it is.",
  )
  const tenants = gauge('tenants', 'Tenants that are known.')
  const rejected = gauge('tenants_rejected', 'Tenants whose newest state cannot be served.')
  gauge('build', 'Always 1.', ['id', 'version']).set({ id, version }, 1)
  for (const cause of ['crash', 'rolling']) restarts.inc({ cause }, 0)
  for (const result of ['opened', 'failed']) hops.inc({ result }, 0)
  for (const result of ['hit', 'miss']) verifyCache.inc({ result }, 0)

  const tenantsSeen = new Set<string>(['', OTHER_TENANTS])
  const gaugesBySlot = new Map<number, WorkerGauges>()

  /** A tenant keeps its name for good, so that its series never jump. */
  function labelOf(tenantId: string): string {
    if (tenantsSeen.has(tenantId)) return tenantId
    if (tenantsSeen.size >= LIMITS.metricTenantsMax) return OTHER_TENANTS
    tenantsSeen.add(tenantId)
    return tenantId
  }

  function setGateway({ link, workersWanted, workersServing }: GatewayState) {
    workers.set({ state: 'wanted' }, workersWanted)
    workers.set({ state: 'serving' }, workersServing)
    revision.set(link.revision)
    age.set(link.syncedMs === null ? NaN : (clock.steadyMs() - link.syncedMs) / 1000)
    isConnected.set(Number(link.isConnected))
    isConfigured.set(Number(link.isConfigured))
    isDamaged.set(Number(link.isDamaged))
    isDiskHealthy.set(Number(link.isDiskHealthy))
    correction.set(link.correctionMs / 1000)
    tenants.set(link.tenants)
    rejected.set(link.rejected)
  }

  function setWorkers() {
    let [busy, idle, held, over, served] = [0, 0, 0, 0, 0]
    for (const perWorker of [connections, inFlight, webSockets, loopLag, cpu, resident])
      perWorker.reset()
    for (const [slot, gauges] of gaugesBySlot) {
      const worker = String(slot)
      connections.set({ worker }, gauges.connections)
      inFlight.set({ worker }, gauges.inFlight)
      webSockets.set({ worker }, gauges.webSockets)
      loopLag.set({ worker }, gauges.loopLagMs / 1000)
      cpu.set({ worker }, gauges.cpuMs / 1000)
      resident.set({ worker }, gauges.residentBytes)
      idle += gauges.upstreamIdle
      busy += gauges.upstreamSockets - gauges.upstreamIdle
      held += gauges.upstreamWaiting
      over += gauges.hopsOver
      served += gauges.hopsServed
    }
    upstreams.set({ state: 'busy' }, busy)
    upstreams.set({ state: 'idle' }, idle)
    waiting.set(held)
    hopConnections.set({ side: 'asking' }, over)
    hopConnections.set({ side: 'serving' }, served)
    for (const [slot, gauges] of gaugesBySlot) gaugesBySlot.set(slot, { ...gauges, loopLagMs: 0 })
  }

  return {
    contentType: registry.contentType,
    /** `slot` is 1 to the number of workers: a worker that takes another's place has its slot. */
    absorb(slot: number, { counts, gauges }: WorkerReport): void {
      // reports come more often than somebody asks: the longest delay in between is what counts
      const loopLagMs = Math.max(gauges.loopLagMs, gaugesBySlot.get(slot)?.loopLagMs ?? 0)
      gaugesBySlot.set(slot, { ...gauges, loopLagMs })
      for (const [tenantId, outcome, statusClass, count] of counts.requests) {
        const { decision = '', reason = '' } = OUTCOMES[outcome] ?? {}
        const status = STATUS_CLASSES[statusClass] ?? ''
        requests.inc({ tenant: labelOf(tenantId), decision, reason, status }, count)
      }
      duration.absorb('application', counts.application)
      duration.absorb('gateway', counts.gateway)
      firstByte.absorb('', counts.upstreamFirstByte)
      bytes.inc(counts.bytes)
      cut.inc(counts.cut)
      for (const [code, count] of Object.entries(counts.upstreamErrors))
        upstreamErrors.inc({ code }, count)
      for (const [code, count] of Object.entries(counts.refusedHeads))
        refusedHeads.inc({ code }, count)
      verifyCache.inc({ result: 'hit' }, counts.verifyHits)
      verifyCache.inc({ result: 'miss' }, counts.verifyMisses)
      linesDropped.inc(counts.linesDropped)
      hops.inc({ result: 'opened' }, counts.hopsOpened)
      hops.inc({ result: 'failed' }, counts.hopsFailed)
      hopsServed.inc(counts.hopsServed)
    },
    restarted: (cause: 'crash' | 'rolling'): void => restarts.inc({ cause }),
    text(state: GatewayState): Promise<string> {
      setGateway(state)
      setWorkers()
      return registry.metrics()
    },
  }
}
