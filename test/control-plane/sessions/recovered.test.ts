/** Revocations that the database has lost, and gateways have not. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { startAccounts } from '../../support/session-accounts.ts'

void t.test('what a gateway holds and the database has lost is revoked again, once', async (t) => {
  const { revocations, store, issue, record, records, alive, clock } = await startAccounts(t)
  for (const [sid, userId] of [
    ['a1', 'ada'],
    ['b1', 'bob'],
    ['c1', '__proto__'],
    ['d1', 'dan'],
  ] as const)
    await issue(sid, userId)
  await record('of-a1', { accountId: 'ada', sid: 'a1' })
  await revocations.revoke('acme', { sid: 'd1' }, ACTOR)
  const before = await revocations.revokedState('acme')
  const entries = async () => (await store.read.select().from(schema.audit)).length
  const count = await entries()
  const second = Math.floor(clock.nowMs() / 1000)
  const gateway = { name: 'gateway edge-1', requestId: '' }

  await revocations.recover('acme', before, gateway)
  t.strictSame(await revocations.revokedState('acme'), before, 'what is known changes nothing')
  t.equal(await entries(), count)

  const subjects = Object.fromEntries([['__proto__', second - 50]])
  const held = { all: 0, subjects, sids: { a1: second - 100, d1: second - 100 } }
  await revocations.recover('acme', held, gateway)
  t.strictSame(await alive(), ['b1'])
  t.strictSame(await records(), [])
  const after = await revocations.revokedState('acme')
  t.equal(after.sids['a1'], second + 1, 'up to now')
  t.equal(new Map(Object.entries(after.subjects)).get('__proto__'), second + 1)
  t.equal(after.sids['d1'], before.sids['d1'])
  t.equal(await entries(), count + 2)
  await revocations.recover('acme', held, { ...gateway, name: 'gateway edge-2' })
  t.equal(await entries(), count + 2)

  await revocations.recover('acme', { ...held, all: second - 10 }, gateway)
  t.strictSame(await alive(), [])
  t.equal((await revocations.revokedState('acme')).all, second + 1)
  await revocations.recover('nobody', { ...held, all: second }, gateway)
})
