/** Two tenants with sessions, and what realms have written down of them. */
import { schema } from '../../control-plane/store/schema.ts'
import { HOUR_MS } from '../../shared/clock.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from './control-plane.ts'

export async function startAccounts(t: Parameters<typeof startServices>[0]) {
  const clock = movableClock()
  const services = await startServices(t, { clock })
  await services.tenants.create(tenantNamed('acme', { maxSessionSeconds: 3600 }), ACTOR)
  await services.tenants.create(tenantNamed('other'), ACTOR)
  const issue = (sid: string, userId = 'ada', tenantId = 'acme') =>
    services.sessions.record({
      tenantId,
      sid,
      userId,
      ip: '192.0.2.1',
      userAgent: 'test',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + HOUR_MS,
    })
  const record = (idHash: string, of: { accountId?: string; sid?: string; tenantId?: string }) =>
    services.store.change(({ queries }) =>
      queries.insert(schema.realmRecords).values({
        tenantId: of.tenantId ?? 'acme',
        model: 'Session',
        idHash,
        payloadSealed: '',
        accountId: of.accountId ?? null,
        sid: of.sid ?? null,
        expiresAt: clock.nowMs() + HOUR_MS,
      }),
    )
  const records = async () =>
    (await services.store.read.select().from(schema.realmRecords)).map(({ idHash }) => idHash)
  const alive = async (tenantId = 'acme') =>
    (await services.sessions.list(tenantId, { limit: 100 })).items
      .filter(({ endedAt }) => endedAt === null)
      .map(({ sid }) => sid)
      .sort()
  return { ...services, clock, issue, record, records, alive }
}
