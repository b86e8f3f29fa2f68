/** Sessions that were begun by a clock which was ahead, and then set right. */
import t from 'tap'
import { ACTOR } from '../../support/control-plane.ts'
import { startAccounts } from '../../support/session-accounts.ts'

void t.test(
  'a session that a clock which was ahead has begun is over like any other',
  async (t) => {
    const { revocations, issue, clock, alive } = await startAccounts(t)
    for (const [sid, subject] of [
      ['a1', 'ada'],
      ['a2', 'ada'],
      ['b1', 'bob'],
      ['c1', 'cid'],
    ] as const)
      await issue(sid, subject)
    const later = Math.floor(clock.nowMs() / 1000) + 1
    clock.advance(-600_000)
    const now = Math.floor(clock.nowMs() / 1000) + 1
    const revoked = () => revocations.revokedState('acme')

    await revocations.revoke('acme', { sid: 'a1' }, ACTOR)
    t.strictSame((await revoked()).sids, { a1: later })
    await revocations.revoke('acme', { subject: 'ada' }, ACTOR)
    t.strictSame(await revoked(), {
      all: 0,
      subjects: { ada: now },
      sids: { a1: later, a2: later },
    })
    await revocations.endEach('acme', ['b1'], ACTOR, 'surplus')
    t.equal((await revoked()).sids['b1'], later)
    await revocations.revoke('acme', { all: true }, ACTOR)
    t.strictSame(await revoked(), {
      all: now,
      subjects: { ada: now },
      sids: { a1: later, a2: later, b1: later, c1: later },
    })
    t.strictSame(await alive(), [])
    clock.advance(2000)
    await issue('a3')
    t.strictSame(await alive(), ['a3'], 'who signs in again is in')
  },
)
