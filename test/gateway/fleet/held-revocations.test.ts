import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { HeldRevocations } from '../../../gateway/fleet/held-revocations.ts'
import {
  FLEET_FORMAT,
  mergeRevoked,
  type DownMessage,
  type Revoked,
  type UpMessage,
} from '../../../shared/fleet/snapshot.ts'
import { canonicalJson, snapshotHash } from '../../../shared/fleet/digest.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { nothingRevoked, snapshotOf } from '../../support/fleet-source.ts'
import { fillDisk, restart } from '../../support/kept-files.ts'

type Held = UpMessage & { type: 'held' }

function start(all: readonly (readonly [string, Revoked])[]) {
  const sent: Held[] = []
  const held = new HeldRevocations({
    all: () => all,
    send: (message) => void sent.push(message as Held),
    onHanded: () => {},
  })
  return { held, sent }
}

const sids = (count: number, prefix = 's') => ({
  ...nothingRevoked(),
  sids: Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 1 + at])),
})

t.test('nothing is handed up while the epoch is the one that was known', async (t) => {
  const { held, sent } = start([['ada', sids(1)]])
  held.onSynced('one') // a gateway that is new has nothing from before
  held.onSynced('one')
  t.same(sent, [])
  held.onWelcome()
  held.onSynced('two')
  t.match(sent, [{ type: 'held', batch: 1, tenants: [{ tenant_id: 'ada' }] }])
})

t.test('a message at a time, whole, and once', async (t) => {
  const most = LIMITS.revokedEntriesPerMessageMax
  const many = Array.from(
    { length: LIMITS.heldTenantsSentMax + 1 },
    (_, at) => [`t${at}`, sids(1)] as const,
  )
  const all = [
    ...many,
    ['ada', { ...sids(2 * most + 1), all: 7 }] as const,
    ['bob', sids(most)] as const,
  ]
  const { held, sent } = start(all)
  held.restore('one')
  held.onSynced('two')
  for (let count = 1; sent.length === count; count++) {
    held.onReceived(sent.at(-1)!.batch - 1)
    held.onSynced('two')
    t.equal(sent.length, count, 'the next only when this one is received')
    held.onReceived(sent.at(-1)!.batch)
  }
  held.onSynced('two')
  const whole = new Map<string, Revoked>()
  for (const { tenants } of sent) {
    t.ok(tenants.length <= LIMITS.heldTenantsSentMax)
    const entries = tenants.map(({ revoked }) => Object.keys(revoked.sids).length)
    t.ok(entries.reduce((sum, count) => sum + count, 0) <= most)
    for (const { tenant_id, revoked } of tenants)
      whole.set(tenant_id, mergeRevoked(whole.get(tenant_id) ?? nothingRevoked(), revoked))
  }
  t.same(whole, new Map(all))
})

t.test('what was on its way when the link broke comes again, all of it', async (t) => {
  const { held, sent } = start([['ada', sids(1)]])
  held.restore('one')
  held.onSynced('two')
  held.onWelcome()
  held.onReceived(1) // of the link before
  held.onSynced('two')
  t.equal(sent.length, 2)
  held.onReceived(1)
  held.onWelcome()
  held.onSynced('two')
  t.equal(sent.length, 2, 'and no more once it is there')
})

t.test('a gateway that starts anew hands up what it had not handed up whole', async (t) => {
  const folder = t.testdir()
  const ada = { ...nothingRevoked(), sids: { s0: Math.floor(Date.now() / 1000) } }
  const snapshot = snapshotOf('ada', {})
  const hash = snapshotHash(canonicalJson(snapshot))
  await fillDisk(folder, { tenants: [{ tenant_id: 'ada' }], revoked: { ada } })
  const revision = snapshot.revision
  const run = async (...messages: DownMessage[]) => {
    const gateway = await restart(folder)
    for (const message of messages) gateway.replica.receive(message)
    await gateway.replica.settled()
    await gateway.close()
    return gateway.sent.filter(({ type }) => type === 'held')
  }
  const [epoch, format] = ['two', FLEET_FORMAT]
  const begun = [
    { type: 'welcome', format, epoch, revision, is_full: true },
    { type: 'tenant', tenant_id: 'ada', revision, hash, snapshot },
  ] as const
  const again = { type: 'welcome', format, epoch, revision, is_full: false } as const
  const synced = { type: 'synced', epoch, revision } as const
  const held = [{ type: 'held', batch: 1, tenants: [{ tenant_id: 'ada', revoked: ada }] }]

  t.same(await run(...begun), [], 'it ends in the middle of a full synchronisation')
  t.match(await run(...begun, synced), held, 'and again before it is told that all has come')
  t.match(await run(again, synced, { type: 'held_received', batch: 1 }), held)
  t.same(await run(again, synced), [], 'then no more')
  rmSync(join(folder, 'position'))
  t.match(await run(...begun, synced), held, 'nobody knows any more what it had handed up')
})
