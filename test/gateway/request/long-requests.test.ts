/** What a request takes until it is forwarded or answered is paid for by its site. */
import t from 'tap'
import { handleRequest } from '../../../gateway/request.ts'
import { LIMITS } from '../../../shared/limits.ts'

function spend(ms: number): void {
  for (const beganMs = performance.now(); performance.now() - beganMs < ms;);
}

function chargedFor(tookMs: number) {
  const charged: number[] = []
  const answered: number[] = []
  const head = { host: 'app.test', method: 'GET', target: '/', accept: '', keptLines: '' }
  const exchange = {
    head: { ...head, secFetchMode: '', requestedWith: '', isUpgrade: false },
    charge: (requests: number) => void charged.push(requests),
    respond: ({ status }: { status: number }) => void answered.push(status),
  }
  const edge = {
    byHost() {
      spend(tookMs)
      return { kind: 'unknown' }
    },
    nextRequestId: () => 'r-1',
  }
  handleRequest(exchange as never, edge as never)
  return { charged, answered }
}

// A path of 400 characters, which nobody had to be signed in for, took two milliseconds, and with the
// access rules of a large tenant more: 64 of them in a packet were begun in one turn.
t.test('one that takes as long as many counts as many', (t) => {
  const { charged, answered } = chargedFor(20 * LIMITS.requestMs)
  t.same(answered, [404])
  t.equal(charged.length, 1)
  t.ok(charged[0]! >= 20)
  t.end()
})
