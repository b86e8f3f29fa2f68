/**
 * What the control plane tells of itself in figures, for the operator's own machines: on the fleet
 * listener, which no browser reaches, and for whoever has the fleet key.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { SECOND_MS, systemClock, type Clock } from '../shared/clock.ts'
import { VERSION } from '../shared/version.ts'
import type { Analysis } from './analysis/analysis.ts'
import type { Budgets } from './analysis/budgets.ts'
import type { Authority } from './connectors/authority.ts'
import type { FleetHub } from './fleet/hub.ts'
import type { LiveKey } from './keys/live-key.ts'
import { countAcmeOrders } from './store/queries/acme-orders.ts'
import { countUnprovenDomains } from './store/queries/connection-domains.ts'
import { countMissingProofs } from './store/queries/hostname-proofs.ts'
import { newestEvent, outboxPosition } from './store/queries/outbox.ts'
import type { Jobs } from './services/jobs.ts'
import type { SignInMail } from './realm/sign-in/sign-in-mail.ts'
import type { SignUpMail } from './realm/sign-up/sign-up-mail.ts'
import type { Sessions } from './sessions/sessions.ts'
import { migrations } from './store/migrations/migrations.ts'
import { firstCertificateEnd } from './store/queries/certificates.ts'
import type { Store } from './store/store.ts'
import { stateOfStep } from './tenants/certificates.ts'
import { timedMetrics } from './timed-metrics.ts'
import { waitingMetrics } from './waiting-metrics.ts'
import { noTracing, type Tracing } from './tracing/tracing.ts'
import type { Dispatcher } from './webhooks/dispatcher.ts'
import { countAllPending } from './webhooks/queue.ts'

interface MetricsWorld {
  readonly store: Pick<Store, 'read' | 'onCommit' | 'isBehind' | 'cannotWrite'>
  readonly sessions: Pick<Sessions, 'recorded'>
  readonly fleet: Pick<FleetHub, 'gateways'>
  readonly jobs: Pick<Jobs, 'doneAtMs'>
  readonly dispatcher: Pick<Dispatcher, 'counts'>
  readonly budgets: Pick<Budgets, 'today'>
  readonly analysis: Pick<Analysis, 'budget'>
  readonly tracing?: Pick<Tracing, 'onTimed' | 'dropped'>
  readonly clock?: Clock
  readonly signInMail: Pick<SignInMail, 'counts'>
  readonly signUpMail: Pick<SignUpMail, 'counts'>
  readonly connectorAuthority: Pick<Authority, 'status'>
}

type Metrics = ReturnType<typeof createMetrics>

/** Those that are replaced while the program runs. */
type ReplacedKeys = Readonly<Record<'operator' | 'fleet', LiveKey>>

export function createMetrics(world: MetricsWorld, keys?: ReplacedKeys) {
  const { store, dispatcher, budgets, analysis, sessions, fleet, jobs, signInMail, signUpMail } =
    world
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `control_plane_webhook_${name}`, help, registers })
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `control_plane_webhook_${name}`, help, labelNames, registers })

  const events = gauge('events_waiting', 'Events whose deliveries have not been created yet.')
  const waiting = gauge(
    'deliveries_waiting',
    'Deliveries that are not finished: the depth of the queue.',
  )
  const underWay = gauge('deliveries_under_way', 'Requests in flight to webhooks.')
  const over = counter('deliveries_total', 'Deliveries finished since the start.', ['result'])
  const failed = counter(
    'attempts_failed_total',
    'Attempts without a 2xx response since the start.',
  )
  const paused = counter('pauses_total', 'Webhooks paused after days of failures since the start.')

  const ofAnalyses = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `control_plane_ai_${name}`, help, labelNames, registers })
  const tokens = ofAnalyses('tokens_today', 'Tokens that analyses have used since midnight UTC.')
  const tokensMax = ofAnalyses('tokens_per_day_max', 'Tokens that analyses may use per day.')
  const analyses = ofAnalyses('analyses_today', 'Analyses since midnight UTC.', ['outcome'])

  const hostnames = new Gauge({
    name: 'control_plane_certificate_hostnames',
    help: 'Hostnames whose certificates are ordered; failing: the last attempt was in vain.',
    labelNames: ['state'],
    registers,
  })
  const unproven = new Gauge({
    name: 'control_plane_hostnames_unproven',
    help: 'Hostnames whose proof is gone; they are served for two weeks.',
    registers,
  })

  const domains = new Gauge({
    name: 'control_plane_email_domains_unproven',
    help: 'Email domains whose record is gone; lapsed: for two weeks, so they lead to no provider.',
    labelNames: ['state'],
    registers,
  })

  const general = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `control_plane_${name}`, help, labelNames, registers })
  general('build', 'Always 1.', ['version', 'migration']).set(
    { version: VERSION, migration: migrations.at(-1)?.name ?? '' },
    1,
  )
  const health = general('database', '1 while it is so.', ['state'])
  const gateways = general('gateways', 'Gateways that are known here.', ['state'])
  const jobsDone = general(
    'jobs_done_timestamp_seconds',
    'When a round of jobs was last over; they begin every minute.',
  )
  const certificateEnd = general(
    'certificate_expiry_timestamp_seconds',
    'When the next certificate of a hostname ends; NaN without any.',
  )
  const previousKeys = general(
    'previous_key',
    '1 while the key before still opens: take it out once nobody uses it.',
    ['key'],
  )
  const previousUses = new Counter({
    name: 'control_plane_previous_key_uses_total',
    help: 'How often the key before was used since the start.',
    labelNames: ['key'],
    registers,
  })
  const begun = new Counter({
    name: 'control_plane_sessions_begun_total',
    help: 'Sign-ins that came to their end since the start.',
    registers,
  })
  const emitted = new Counter({
    name: 'control_plane_events_total',
    help: 'Events since the start, refused sign-ins (signin.denied) among them.',
    labelNames: ['event'],
    registers,
  })
  const changes = new Histogram({
    name: 'control_plane_change_duration_seconds',
    help: 'From a change being asked for to its commit, waits in line and for locks included.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  })
  const changesWaited = new Histogram({
    name: 'control_plane_change_wait_seconds',
    help: 'Of that, until a change began: in line, and for locks.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  })
  const { tracing = noTracing(), clock = systemClock } = world
  const readTimed = timedMetrics(tracing, registry, () => clock.nowMs())
  const readWaiting = waitingMetrics(world, registry, clock)
  const signInMails = new Counter({
    name: 'control_plane_sign_in_mails_total',
    help: 'Sign-ins by email since the start, by what became of them.',
    labelNames: ['result'],
    registers,
  })
  const signUps = new Counter({
    name: 'control_plane_sign_ups_total',
    help: 'Accounts that people asked for themselves since the start, by what became of it.',
    labelNames: ['result'],
    registers,
  })
  emitted.inc({ event: 'signin.denied' }, 0)
  store.onCommit(({ events, tookMs, waitedMs, isFromLog }) => {
    if (isFromLog) return
    changes.observe(tookMs / SECOND_MS)
    changesWaited.observe(waitedMs / SECOND_MS)
    for (const event of events) emitted.inc({ event })
  })
  collectDefaultMetrics({ register: registry, prefix: 'control_plane_' })

  async function setGeneral() {
    const why = store.cannotWrite()
    health.set({ state: 'behind' }, Number(store.isBehind()))
    for (const state of ['full', 'read_only', 'failing'] as const)
      health.set({ state }, Number(why === state))
    const known = fleet.gateways()
    const connected = known.filter((gateway) => gateway.connected).length
    gateways.set({ state: 'connected' }, connected)
    gateways.set({ state: 'away' }, known.length - connected)
    jobsDone.set((jobs.doneAtMs ?? NaN) / SECOND_MS)
    certificateEnd.set(((await firstCertificateEnd(store.read)) ?? NaN) / SECOND_MS)
    previousUses.reset()
    for (const [key, live] of Object.entries(keys ?? {})) {
      previousKeys.set({ key }, Number(live.hasPrevious()))
      previousUses.inc({ key }, live.previousUses())
    }
    signInMails.reset()
    for (const [result, count] of Object.entries(signInMail.counts()))
      signInMails.inc({ result }, count)
    signUps.reset()
    for (const [result, count] of Object.entries(signUpMail.counts()))
      signUps.inc({ result }, count)
    begun.reset()
    begun.inc(sessions.recorded())
  }

  return {
    contentType: registry.contentType,
    async text(): Promise<string> {
      const counts = dispatcher.counts()
      events.set(Math.max(0, (await newestEvent(store.read)) - (await outboxPosition(store.read))))
      waiting.set(await countAllPending(store.read))
      underWay.set(counts.underWay)
      for (const one of [over, failed, paused]) one.reset() // the dispatcher does the counting
      over.inc({ result: 'delivered' }, counts.delivered)
      over.inc({ result: 'given_up' }, counts.givenUp)
      failed.inc(counts.failedAttempts)
      paused.inc(counts.paused)
      const today = await budgets.today()
      tokens.set(today.tokens)
      tokensMax.set(analysis.budget)
      analyses.reset()
      for (const { outcome, count } of today.outcomes) analyses.set({ outcome }, count)
      const orders = { issued: 0, in_progress: 0, waiting: 0, failing: 0 }
      for (const { step, count, failing } of await countAcmeOrders(store.read)) {
        orders[stateOfStep(step)] += Number(count) - Number(failing)
        orders.failing += Number(failing)
      }
      for (const [state, count] of Object.entries(orders)) hostnames.set({ state }, count)
      unproven.set(await countMissingProofs(store.read))
      for (const [state, count] of Object.entries(await countUnprovenDomains(store.read)))
        domains.set({ state }, count)
      await setGeneral()
      readTimed()
      await readWaiting()
      return registry.metrics()
    },
  }
}

/** Whatever else is asked of the fleet listener, there is nothing. */
export function answerMetrics(metrics: Metrics, fleetKey: LiveKey) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const key = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (request.method !== 'GET' || request.url !== '/metrics')
      return void response.writeHead(404).end()
    if (key === undefined || fleetKey.find(key) === undefined)
      return void response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end()
    metrics.text().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
      () => response.writeHead(503).end(),
    )
  }
}
