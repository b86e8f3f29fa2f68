/** An application that is slow to hear of ended sessions holds up nobody else's notices. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import {
  nextDueLogoutNotice,
  tenantsWithDueLogoutNotices,
} from '../../../control-plane/store/queries/logout-notices.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'
import { certificateFor } from '../../support/certificate.ts'
import { until } from '../../support/fleet.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
type Scope = Parameters<typeof startServices>[0]

/** One server for all: the first of the path says which tenant it is. */
async function start(t: Scope) {
  const held = new Map<string, ServerResponse[]>()
  const heard: string[] = []
  let open = 0
  let openMost = 0
  const hear: RequestListener = (request, response) => {
    const tenantId = (request.url ?? '').slice(1)
    heard.push(tenantId)
    openMost = Math.max(openMost, ++open)
    response.on('close', () => open--)
    request.resume().on('end', () => {
      const waiting = held.get(tenantId)
      if (waiting === undefined) response.end()
      else waiting.push(response)
    })
  }
  const certificate = certificateFor('clients.test')
  const servers = [createServer(hear), createSecureServer(certificate, hear)]
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  const [port, securePort] = servers.map((server) => (server.address() as AddressInfo).port)
  const clock = movableClock(Date.now())
  const receivers = {
    allowPrivate: ['127.0.0.0/8'],
    egressProxy: null,
    resolve: async () => ['127.0.0.1'],
    ca: certificate.cert,
  }
  const services = await startServices(t, { clock, receivers })
  const { store, tenants, logoutNotices } = services
  const origin = `http://127.0.0.1:${port}`
  for (const tenantId of ['acme', 'bolt']) {
    await tenants.create(tenantNamed(tenantId, { origin }), ACTOR)
    await tenants.publish(tenantId, ACTOR)
    await tenants.patch(tenantId, { backchannelLogoutUri: `${origin}/${tenantId}` }, ACTOR)
  }
  let count = 0
  return {
    clock,
    store,
    tenants,
    send: () => logoutNotices.send(),
    note: (tenantId: string, notices: number, clientId: string | null = null) =>
      store.change(async ({ queries, nowMs }) => {
        for (let at = 0; at < notices; at++)
          await queries.insert(schema.logoutNotices).values({
            noticeId: `n${count++}`,
            tenantId,
            userId: 'ada',
            sid: null,
            attempts: 0,
            createdAt: nowMs,
            nextAt: nowMs,
            writtenAt: nowMs,
            clientId,
          })
      }),
    /** Another application of acme; held and heard of as `path`. */
    client: (path: string) =>
      services.realmClients.create(
        'acme',
        {
          ...{ name: path, redirectUris: [], postLogoutRedirectUris: [], isToldGroups: false },
          backchannelLogoutUri: `https://clients.test:${securePort}/${path}`,
        },
        ACTOR,
      ),
    left: () => store.read.select().from(schema.logoutNotices),
    heardOf: (tenantId: string) => heard.filter((one) => one === tenantId).length,
    hold: (tenantId: string) => void held.set(tenantId, []),
    letGo(tenantId: string, status = 200) {
      const waiting = held.get(tenantId) ?? []
      held.delete(tenantId)
      openMost = 0
      for (const response of waiting) response.writeHead(status).end()
    },
    openMost: () => openMost,
  }
}

void t.test('one tenant has a few under way, and all others have theirs meanwhile', async (t) => {
  const { clock, send, note, left, heardOf, hold, letGo } = await start(t)
  hold('acme')
  await note('acme', 2 * LIMITS.logoutNoticesSentMax)
  clock.advance(1)
  const sent = send()
  await until(() => heardOf('acme') === LIMITS.logoutNoticesPerTenantMax)
  for (let count = 1; count <= 3; count++) {
    await note('bolt', 1)
    void send()
    await until(() => heardOf('bolt') === count)
  }
  t.equal(heardOf('acme'), LIMITS.logoutNoticesPerTenantMax)
  letGo('acme')
  await sent
  t.same(await left(), [])
})

void t.test('one that is slow to take it gets one at a time for a while, and all', async (t) => {
  const { clock, send, note, left, heardOf, hold, letGo, openMost } = await start(t)
  hold('acme')
  await note('acme', 12)
  const sent = send()
  await until(() => heardOf('acme') === LIMITS.logoutNoticesPerTenantMax)
  clock.advance(SECOND_MS + 1)
  letGo('acme')
  await sent
  t.equal(openMost(), 1)
  t.equal(heardOf('acme'), 12)
  t.same(await left(), [])
})

void t.test('one that is slow for nothing gets none for a while, and loses none', async (t) => {
  const { clock, send, note, left, heardOf, hold, letGo } = await start(t)
  hold('acme')
  await note('acme', 12)
  const sent = send()
  await until(() => heardOf('acme') === LIMITS.logoutNoticesPerTenantMax)
  clock.advance(SECOND_MS + 1)
  letGo('acme', 500)
  await sent
  await send()
  t.equal(heardOf('acme'), LIMITS.logoutNoticesPerTenantMax)
  const triedBefore = (await left()).map(({ attempts }) => attempts).filter((count) => count > 0)
  t.equal(triedBefore.length, LIMITS.logoutNoticesPerTenantMax, 'no try of the others is lost')
  clock.advance(MINUTE_MS)
  await send()
  t.same(await left(), [])
})

void t.test('what an application was too slow for is given up after a day', async (t) => {
  const { clock, store, send, note, left, heardOf } = await start(t)
  await note('acme', 2)
  clock.advance(LIMITS.logoutNoticeKeptMs - 1)
  await note('bolt', 1)
  clock.advance(1)
  await send()
  t.equal(heardOf('acme'), 0)
  t.equal(heardOf('bolt'), 1)
  t.same(await left(), [])
  t.equal(await nextDueLogoutNotice(store.read, 'acme', 'own', clock.nowMs()), undefined)
})

void t.test('another application that never answers holds up nothing of the own one', async (t) => {
  const { clock, send, note, left, heardOf, hold, letGo, client } = await start(t)
  const { clientId } = await client('wiki')
  hold('wiki')
  await note('acme', 3 * LIMITS.logoutNoticesPerTenantMax, clientId)
  clock.advance(1)
  await note('acme', LIMITS.logoutNoticesPerTenantMax)
  clock.advance(1)
  const sent = send()
  await until(() => heardOf('wiki') === LIMITS.logoutNoticesPerTenantMax)
  await until(() => heardOf('acme') === LIMITS.logoutNoticesPerTenantMax)
  clock.advance(SECOND_MS + 1)
  letGo('wiki', 500)
  await sent
  await note('acme', 1)
  await send()
  t.equal(heardOf('acme'), LIMITS.logoutNoticesPerTenantMax + 1, 'nor while that one has none')
  t.equal(heardOf('wiki'), LIMITS.logoutNoticesPerTenantMax)
  t.equal((await left()).length, 3 * LIMITS.logoutNoticesPerTenantMax)
})

void t.test('very many notices of one tenant hide those of no other', async (t) => {
  const { clock, store, note } = await start(t)
  await note('bolt', 1_200)
  clock.advance(1)
  await note('acme', 1)
  t.same(await tenantsWithDueLogoutNotices(store.read, clock.nowMs()), ['acme', 'bolt'])
  t.same(await tenantsWithDueLogoutNotices(store.read, clock.nowMs() - 1), ['bolt'])
})

void t.test('of a session that ends in a tenant that is gone nobody is told', async (t) => {
  const { tenants, send, note, left, heardOf } = await start(t)
  await tenants.remove('acme', ACTOR)
  await note('acme', 1)
  await send()
  t.equal(heardOf('acme'), 0)
  t.same(await left(), [])
})
