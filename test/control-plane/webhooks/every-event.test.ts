/** Each event is sent by the operation that it tells of, and says what the contract says. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import t from 'tap'
import { upsertAddressBlock } from '../../../control-plane/store/queries/attempts.ts'
import { upsertUserDirectory } from '../../../control-plane/store/queries/user-directories.ts'
import { EVENT_NAMES, EVENTS, type EventName } from '../../../shared/events.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { ADA, PASSWORD, signIn, sidOf, startWorld, Browser } from '../realm/realm-world.ts'
import { begin, setPolicy } from '../realm/steps.ts'

const receivers = createReceivers()

/** What else is needed for these is in tests of their own. */
const ELSEWHERE: Partial<Record<EventName, string>> = {
  'alert.triggered': 'test/control-plane/monitoring/alerts.test.ts',
  'monitoring.digest': 'test/control-plane/monitoring/digests.test.ts',
}

type World = Awaited<ReturnType<typeof startWorld>>
type Tenant = Awaited<ReturnType<World['tenant']>>

const OPERATIONS: Record<
  Exclude<EventName, 'alert.triggered' | 'monitoring.digest'>,
  (world: World, acme: Tenant) => Promise<unknown>
> = {
  async 'credentials.updated'({ store, vault, directories }) {
    await store.change(({ queries, nowMs }) =>
      upsertUserDirectory(queries, {
        tenantId: 'acme',
        settings: {
          ...{ kind: 'postgres', host: 'db.example', port: 5432, database: 'app' },
          ...{ username: 'reader', tls: 'off', caPem: null, query: '', columns: {}, shapes: [] },
        },
        passwordSealed: vault.seal('the-database-password', 'test'),
        updatedAt: nowMs,
      }),
    )
    await directories.remove('acme', ACTOR)
  },
  async 'ip.block.lifted'({ store, addressBlocks }) {
    const address = '192.0.2.7'
    await store.change(({ queries, nowMs }) =>
      upsertAddressBlock(queries, {
        ...{ tenantId: 'acme', address, failures: 100 },
        ...{ createdAt: nowMs, blockedUntil: nowMs + 60_000 },
      }),
    )
    await addressBlocks.lift('acme', address, ACTOR)
  },
  'licence.changed': ({ tenants }) =>
    tenants.setLicence('acme', { state: 'grace', blocksSignin: false }, ACTOR),
  'policy.device.updated': (world) => setPolicy(world, 'device', { notify_new: false }),
  'policy.lockout.updated': (world) => setPolicy(world, 'lockout', { user_failures: 9 }),
  'policy.mfa.updated': (world) => setPolicy(world, 'mfa', { mode: 'optional' }),
  'policy.network.updated': (world) => setPolicy(world, 'network', { deny: ['192.0.2.0/24'] }),
  'policy.password.updated': (world) => setPolicy(world, 'password', { min_length: 12 }),
  'policy.session.updated': ({ tenants }) => tenants.patch('acme', { idleSeconds: 600 }, ACTOR),
  async 'session.revoked'(world, acme) {
    const { tokens } = await signIn(new Browser(world.baseUrl), acme)
    await world.revocations.revoke('acme', { sid: sidOf(tokens) }, ACTOR)
  },
  async 'session.terminated'(world, acme) {
    const { tokens } = await signIn(new Browser(world.baseUrl), acme)
    const event = { outcome: 'terminate', sid: sidOf(tokens), reason: 'binding_terminate' }
    await world.enforcement.receive('gateway-1', [{ tenant_id: 'acme', ...event }])
  },
  async 'signin.denied'(world, acme) {
    await setPolicy(world, 'network', { deny: ['127.0.0.0/8'] })
    await (await begin(world, acme)).send(ADA)
    await setPolicy(world, 'network', {})
  },
  async 'signin.step_up'(world, acme) {
    await setPolicy(world, 'mfa', { mode: 'required' })
    await (await begin(world, acme)).send(ADA)
  },
  'tenant.suspended': ({ tenants }) => tenants.suspend('acme', ACTOR),
  'tenant.activated': ({ tenants }) => tenants.activate('acme', ACTOR),
}

void t.test(
  'every event is sent by a real operation, and arrives as it is described',
  async (t) => {
    const world = await startWorld(t, { receivers: receivers.world })
    const acme = await world.tenant('acme', { plan: 'premium' })
    const receiver = await receivers.start(t)
    const wanted = { url: receiver.url, events: EVENT_NAMES, description: '' }
    const { secret } = await world.webhooks.create('acme', wanted, ACTOR)
    for (const [name, operate] of Object.entries(OPERATIONS)) {
      const before = receiver.received.length
      await operate(world, acme)
      await world.dispatcher.run()
      const sent = receiver.received.slice(before).filter(({ body }) => body.event === name)
      t.ok(sent.length > 0, name)
      for (const { body, raw } of sent) {
        const { data } = EVENTS[name as EventName]
        t.same(v.safeParse(data, body.data).issues ?? [], [], `${name}: its data`)
        const secrets = [PASSWORD, secret, acme.clientSecret, acme.analyzerKey, 'database-password']
        for (const kept of secrets) t.notOk(raw.includes(kept), `${name}: no secret`)
        t.notMatch(raw.toString(), /eyJ[A-Za-z0-9_-]{10,}\./, `${name}: no token`)
      }
    }
  },
)

void t.test('the list is whole: here, or where it is said', async (t) => {
  const named = [...Object.keys(OPERATIONS), ...Object.keys(ELSEWHERE)].sort()
  t.strictSame(named, [...EVENT_NAMES].sort())
  for (const [name, file] of Object.entries(ELSEWHERE)) {
    const path = join(import.meta.dirname, '../../..', file)
    t.ok(existsSync(path) && readFileSync(path, 'utf8').includes(name), `${name}: ${file}`)
  }
})
