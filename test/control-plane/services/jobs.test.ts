import t from 'tap'
import { pino } from 'pino'
import { systemClock } from '../../../shared/clock.ts'
import { createJobs } from '../../../control-plane/services/jobs.ts'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const HOUR_MS = 3_600_000

void t.test('what has expired goes, however much it is, and nothing else', async (t) => {
  const clock = movableClock()
  const services = await startServices(t, { clock })
  await services.tenants.create(tenantNamed('acme', { maxSessionSeconds: 3600 }), ACTOR)
  const expiresAt = (index: number) => clock.nowMs() + (index === 0 ? 100 * HOUR_MS : HOUR_MS)
  await services.store.change(async ({ queries }) => {
    for (let index = 0; index < 1300; index++) {
      await queries.insert(schema.realmRecords).values({
        tenantId: 'acme',
        model: index % 2 === 0 ? 'Session' : 'Grant',
        idHash: `id${index}`,
        payloadSealed: '',
        expiresAt: expiresAt(index),
      })
    }
  })
  for (const [index, sid] of ['long', 'short'].entries())
    await services.sessions.record({
      tenantId: 'acme',
      sid,
      userId: 'ada',
      ip: '',
      userAgent: '',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: expiresAt(index),
    })
  for (const sid of ['short', 'long']) await services.revocations.revoke('acme', { sid }, ACTOR)

  const { jobs } = services
  const left = async () => ({
    records: (await services.store.read.select().from(schema.realmRecords)).length,
    sessions: (await services.sessions.list('acme', { limit: 10 })).items.map(({ sid }) => sid),
  })
  await jobs.run()
  t.strictSame(await left(), { records: 1300, sessions: ['short', 'long'] })
  clock.advance(HOUR_MS + LIMITS.endedSessionKeptMs + 2000)
  await Promise.all([jobs.run(), jobs.run()])
  t.strictSame(await left(), { records: 1, sessions: ['long'] })
  t.strictSame(
    Object.keys((await services.revocations.revokedState('acme')).sids),
    ['long'],
    'each for as long as what it has ended could be shown',
  )
  clock.advance(100 * HOUR_MS)
  await jobs.run()
  t.strictSame((await services.revocations.revokedState('acme')).sids, {})
})

void t.test('licences go on, weeks are told of and alerts are looked at', async (t) => {
  const clock = movableClock(Date.parse('2026-03-05T12:00:00Z'))
  const services = await startServices(t, { clock })
  const { tenants, alerts, store } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  await tenants.publish('acme', ACTOR)
  const expiresAt = clock.nowMs() + HOUR_MS
  await tenants.setLicence('acme', { state: 'active', blocksSignin: false, expiresAt }, ACTOR)
  const rule = { threshold: 1, windowSeconds: 60, coolDownSeconds: 0, isEnabled: true }
  await alerts.create('acme', { metric: 'sealed_hits', ...rule }, ACTOR)
  const { jobs } = services
  await jobs.run()
  clock.advance(7 * 24 * HOUR_MS)
  await store.change(({ queries, nowMs }) =>
    addFigures(
      queries,
      'edge',
      nowMs,
      new Map([['acme', [{ outcome: 'sealed', reason: '', count: 1 }]]]),
    ),
  )
  for (let again = 0; again < 3; again++) await jobs.run()
  const events = (await store.read.select().from(schema.outbox)).map(({ event }) => event)
  t.strictSame(events.sort(), ['alert.triggered', 'licence.changed', 'monitoring.digest'])
})

void t.test('a job that fails is logged, and the others run', async (t) => {
  const ran: string[] = []
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const jobs = createJobs(log, systemClock)
  const prune = (name: string) => async () => {
    ran.push(name)
    if (name === 'sessions') throw new Error('disk full')
    return 0
  }
  jobs.begins(async () => void ran.push('mails'))
  for (const name of ['devices', 'sessions', 'tickets']) jobs.tidies(name, prune(name))
  jobs.follows(async () => {
    ran.push('digests')
    throw new Error('nobody to send it to')
  }, 'digests wait for the next round')
  jobs.follows(async () => void ran.push('alerts'), 'looking at alerts failed')
  await jobs.run()
  await jobs.close()
  t.strictSame(ran, ['mails', 'devices', 'sessions', 'tickets', 'digests', 'alerts'])
  t.match(lines[1], /digests wait for the next round/)
  t.throws(() => jobs.tidies('tickets', prune('tickets')), /two jobs are called tickets/)
  t.match(lines, [/"job":"sessions".*tidying up failed/])
})

void t.test('whoever can tidy up is asked to', async (t) => {
  const services = await startServices(t)
  const able = Object.entries(services)
    .filter(([, service]) => typeof (service as { prune?: unknown } | null)?.prune === 'function')
    .map(([name]) => (name === 'budgets' ? 'analyses' : name))
  t.ok(able.length > 12)
  t.strictSame(
    able.filter((name) => !services.jobs.tidying.includes(name)),
    [],
  )
  const others = [
    'endedDeliveries',
    'largestDeliveries',
    'events',
    'keylessGateways',
    'licences',
    'pastAttributes',
    'rates',
    'realmRecords',
    'removedTenants',
    'samlAnswers',
    'samlClaims',
    'secretOverlaps',
    'serviceAssertions',
    'serviceIdentities',
    'serviceSecretEnds',
  ]
  t.strictSame([...services.jobs.tidying].sort(), [...able, ...others].sort())
})
