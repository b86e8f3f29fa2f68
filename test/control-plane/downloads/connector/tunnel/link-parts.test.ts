/** What a link to a gateway's worker knows of the way to its application, part by part. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { LinkChecks } from '../../../../../control-plane/downloads/connector/tunnel/link-checks.ts'
import { Reachability } from '../../../../../control-plane/downloads/connector/tunnel/reachability.ts'

t.test(
  'a gateway that answers no check is asked three times, and again once it answers',
  async (t) => {
    const checks = new LinkChecks()
    const asked = [10, 20, 30, 40].map((nowMs) => checks.ask(nowMs))
    t.same(asked, [
      { say: 'check', id: 1 },
      { say: 'check', id: 2 },
      { say: 'check', id: 3 },
      undefined,
    ])
    checks.note({ say: 'checked', id: 2, is_reached: true }, 50)
    t.same(checks.last, { reachedMs: 50, problem: '', roundTripMs: 30 })
    t.same(checks.ask(60), { say: 'check', id: 4 })
    t.equal(checks.ask(61), undefined)
    checks.note({ say: 'checked', id: 4, is_reached: false, reason: 'refused' }, 70)
    t.same(checks.last, { reachedMs: 50, problem: 'refused', roundTripMs: 30 }, 'when it was there')
    checks.forget()
    t.same(checks.last, { reachedMs: undefined, problem: '', roundTripMs: undefined })
    t.same(
      [1, 2, 3].map((nowMs) => checks.ask(nowMs)?.say),
      ['check', 'check', 'check'],
      'nobody owes another connection an answer',
    )
  },
)

t.test(
  'an application that is away is looked for, and its gateway told once it is there',
  async (t) => {
    const server = createServer((socket) => void socket.destroy())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const told: boolean[] = []
    const { promise: isBack, resolve } = Promise.withResolvers<void>()
    const application = { isSecure: false, host: '127.0.0.1', port }
    const reachability = new Reachability({ application, applicationMs: 1000 }, (isReached) => {
      told.push(isReached)
      if (isReached) resolve()
    })
    t.teardown(() => {
      reachability.close()
      server.close()
    })
    reachability.note(true)
    t.same(told, [], 'what is as it was is not told')
    reachability.note(false, 'refused')
    await isBack
    t.same(told, [false, true])
  },
)
