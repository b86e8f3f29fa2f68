import t from 'tap'
import { pino } from 'pino'
import { startJobs } from '../../control-plane/jobs.ts'
import { addFigures } from '../../control-plane/store/queries/figures.ts'
import { schema } from '../../control-plane/store/schema.ts'
import { LIMITS } from '../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../support/control-plane.ts'

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

  const jobs = startJobs(services, pino({ level: 'silent' }))
  t.teardown(() => jobs.close())
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
  const jobs = startJobs(services, pino({ level: 'silent' }))
  t.teardown(() => jobs.close())
  await jobs.run()
  clock.advance(7 * 24 * HOUR_MS)
  await store.change(({ queries, nowMs }) =>
    addFigures(queries, 'acme', 'edge', nowMs, [{ outcome: 'sealed', reason: '', count: 1 }]),
  )
  for (let again = 0; again < 3; again++) await jobs.run()
  const events = (await store.read.select().from(schema.outbox)).map(({ event }) => event)
  t.strictSame(events.sort(), ['alert.triggered', 'licence.changed', 'monitoring.digest'])
})

void t.test('a job that fails is logged, and the others run', async (t) => {
  const ran: string[] = []
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const prunable = (name: string) => ({
    prune: () => {
      ran.push(name)
      return name === 'sessions' ? Promise.reject(new Error('disk full')) : Promise.resolve(0)
    },
  })
  const jobs = startJobs(
    {
      realmRecords: prunable('realmRecords'),
      sessions: prunable('sessions') as never,
      revocations: prunable('revocations') as never,
      attempts: prunable('attempts') as never,
      addressBlocks: prunable('addressBlocks') as never,
      devices: prunable('devices') as never,
      tickets: prunable('tickets') as never,
      trialPeople: prunable('trialPeople') as never,
      instances: { write: () => Promise.resolve(), ...prunable('instances') } as never,
      enforcement: prunable('enforcement') as never,
      deliveries: {
        ...prunable('deliveries'),
        pruneEvents: prunable('events').prune,
      } as never,
      auditTrail: prunable('auditTrail') as never,
      consoleAccess: prunable('consoleAccess') as never,
      dispatcher: { run: () => Promise.resolve() } as never,
      tenants: {
        endSecretOverlaps: prunable('secretOverlaps').prune,
        advanceLicences: prunable('licences').prune,
      } as never,
      figures: prunable('figures') as never,
      budgets: prunable('analyses') as never,
      alerts: { evaluate: () => Promise.resolve() } as never,
      digests: { send: () => Promise.resolve(), ...prunable('digests') },
      logoutNotices: { send: () => Promise.resolve() } as never,
      mails: { deliver: () => Promise.resolve(void ran.push('mails')) } as never,
    },
    log,
  )
  await jobs.run()
  await jobs.close()
  t.strictSame(ran, [
    'mails',
    'realmRecords',
    'sessions',
    'revocations',
    'attempts',
    'addressBlocks',
    'devices',
    'tickets',
    'trialPeople',
    'instances',
    'enforcement',
    'deliveries',
    'events',
    'auditTrail',
    'consoleAccess',
    'figures',
    'digests',
    'analyses',
    'licences',
    'secretOverlaps',
  ])
  t.match(lines, [/"job":"sessions".*tidying up failed/])
})
