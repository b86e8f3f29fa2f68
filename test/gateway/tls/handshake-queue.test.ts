import t from 'tap'
import { HandshakeQueue } from '../../../gateway/tls/handshake-queue.ts'
import { SiteUse } from '../../../gateway/wire/site-use.ts'
import { LIMITS } from '../../../shared/limits.ts'

const { burst, perSecond } = LIMITS.shortConnections
const GAP_MS = 1000 / perSecond

function waiting(site: SiteUse, count: number) {
  const queue = new HandshakeQueue<{ client: string; site: SiteUse }>()
  const add = (its: SiteUse) => queue.add({ client: 'a', site: its })
  for (let at = 0; at < count; at++) add(site)
  const begun = (nowMs: number, count = 0): number =>
    queue.next(nowMs) === undefined ? count : begun(nowMs, count + 1)
  return { queue, add, begun }
}

const visit = (site: SiteUse, times: number, tookMs = 0) => {
  for (let at = 0; at < times; at++) site.noteEnded(tookMs, 0)
}

t.test('whose connections are short and many begins one at a time, and nobody else waits', (t) => {
  const [hurried, calm] = [new SiteUse(), new SiteUse()]
  visit(hurried, burst / 2)
  const { begun } = waiting(hurried, 3)
  t.equal(begun(0), 3, 'half of what it may have costs it nothing')
  visit(hurried, 1)
  const next = waiting(hurried, 8)
  t.equal(next.begun(0), 0, 'its last has only just begun')
  next.add(calm)
  next.add(calm)
  t.equal(next.begun(0), 2, 'of others all')
  visit(hurried, 8)
  t.equal(next.begun(GAP_MS - 1), 0)
  t.same([next.begun(GAP_MS), next.begun(GAP_MS)], [1, 0])
  t.equal(next.begun(2 * GAP_MS), 1)
  t.equal(next.begun(2 * GAP_MS - 10_000), 1, 'a clock that was set back has nobody wait')
  t.equal(next.begun(60_000), 5, 'and it is forgotten')
  t.end()
})

t.test('who stays a while is no short connection', (t) => {
  const site = new SiteUse()
  visit(site, burst, LIMITS.shortConnectionMsMax)
  t.equal(site.shortConnections, undefined)
  t.notOk(site.owes(0))
  visit(site, 2 * burst, LIMITS.shortConnectionMsMax - 1)
  t.ok(site.owes(0), 'it is not forgotten with its last connection')
  t.equal(waiting(site, 2).begun(0), 1)
  t.end()
})
