import t from 'tap'
import { CASES } from '../../bench/cases.ts'
import { median, newMeasured, ratioOf } from '../../bench/measured.ts'
import { isThere } from '../../bench/processes.ts'
import { PROMISES } from '../../bench/verdict.ts'

t.test(
  'every promise is about a case that is measured, between peers that are in it',
  async (t) => {
    for (const { case: name, vs } of PROMISES) {
      const names = CASES.find((one) => one.name === name)?.peers.map((peer) => peer.name) ?? []
      t.match(names[0], /^gateway/, `${name} measures the gateway`)
      t.ok(names.slice(1).includes(vs), `${name} measures ${vs}`)
    }
  },
)

t.test('a ratio is that of peers in the same round', async (t) => {
  const [ours, theirs] = [newMeasured('gateway'), newMeasured('nginx')]
  ours.cpuUs.push(10, 40, 12) // the machine was busy in the second round, for both
  theirs.cpuUs.push(10, 40, 8)
  t.equal(ratioOf(ours, theirs), 1)
  t.equal(median([1, 2, 3, 10]), 2.5)
  t.same(ratioOf(newMeasured('gateway'), theirs), NaN)
})

t.test('what is not installed is seen before it is started', async (t) => {
  t.ok(isThere(undefined))
  t.ok(isThere({ program: 'sh', install: '' }))
  t.notOk(isThere({ program: 'no-such-proxy', install: '' }))
  t.ok(isThere({ packages: ['tap'], install: '' }))
  t.notOk(isThere({ packages: ['tap', 'no-such-package'], install: '' }))
})
