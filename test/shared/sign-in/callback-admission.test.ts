import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { createCallbackAdmission } from '../../../shared/sign-in/callback-admission.ts'
import { clockOf } from '../../support/clocks.ts'

function start(flowsMax?: number) {
  let nowMs = 1_800_000_000_000
  const admission = createCallbackAdmission(
    clockOf(() => nowMs),
    flowsMax,
  )
  return { ...admission, pass: (seconds: number) => (nowMs += seconds * 1000) }
}

t.test('a flow is used once for as long as its cookie is good', async (t) => {
  const { isUsed, use, pass } = start()
  t.equal(isUsed('a'), false)
  t.equal(use('a'), true)
  t.equal(isUsed('a'), true)
  t.equal(use('a'), false)
  t.equal(use('b'), true)
  pass(LIMITS.flowSecondsMax)
  t.equal(use('a'), false)
})

t.test('no more used flows are remembered than the limit says, and the oldest goes', async (t) => {
  t.equal(LIMITS.usedFlowsMax, 50_000)
  const { use } = start(3)
  for (const flow of ['a', 'b', 'c']) t.equal(use(flow), true)
  for (const flow of ['a', 'b', 'c']) t.equal(use(flow), false)
  t.equal(use('d'), true)
  t.equal(use('b'), false)
  t.equal(use('a'), true, 'it is forgotten')
})

t.test('a client is one address, or one site of IPv6', async (t) => {
  const { waitSeconds, pass } = start()
  const { burst, perSecond } = LIMITS.rateCallback
  const from = (address: string) =>
    Array.from({ length: burst + 1 }, () => waitSeconds(address)).filter(
      (wait) => wait === undefined,
    )
  t.equal(from('192.0.2.1').length, burst)
  t.equal(waitSeconds('192.0.2.1'), 1)
  t.equal(waitSeconds('192.0.2.2'), undefined)
  const { burst: few } = LIMITS.rateCallbackFew
  t.equal(from('2001:db8:1:2::1').length, burst + 1)
  for (let count = few; count > 1; count--) waitSeconds('2001:db8:1:2::1')
  t.equal(waitSeconds('2001:db8:1:2::1'), 1, 'with what its network has free')
  t.equal(from('2001:db8:1:3::1').length, few, 'a neighbour still has its own few, and no more')
  t.equal(waitSeconds('2001:db8:2:2::1'), undefined)
  const many = Array.from({ length: 2000 }, (_, at) => `2001:db8:3:${at.toString(16)}::1`)
  const admitted = many.filter((address) => waitSeconds(address) === undefined)
  t.equal(admitted.length, 2 * burst, 'a site with many networks has twice as much, and an end')
  t.equal(waitSeconds('2001:db8:4:1::1'), undefined)
  pass(1)
  for (let count = 0; count < perSecond; count++) t.equal(waitSeconds('192.0.2.1'), undefined)
  t.equal(waitSeconds('192.0.2.1'), 1)
})

t.test('where nobody knows addresses, nobody can use up what belongs to all', async (t) => {
  const { waitSeconds } = start()
  for (let count = 0; count <= LIMITS.rateCallback.burst; count++)
    for (const address of ['', 'unreadable']) t.equal(waitSeconds(address), undefined)
})
