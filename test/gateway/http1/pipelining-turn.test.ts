import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { RawClient, startWire } from '../../support/wire.ts'

t.test('a read full of requests is answered in several turns of the event loop', async (t) => {
  const REQUESTS = 3 * LIMITS.requestsPerTurnMax
  let handled = 0
  let mostInOneTurn = 0
  const { port } = await startWire(t, 'http://127.0.0.1:1', {
    decide(exchange) {
      handled++
      exchange.respond({ status: 204, headerLines: [], body: '' })
    },
  })
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(REQUESTS))
  for (let before = 0; before < REQUESTS;) {
    await turn()
    mostInOneTurn = Math.max(mostInOneTurn, handled - before)
    before = handled
  }
  t.ok(mostInOneTurn <= 2 * LIMITS.requestsPerTurnMax, `${mostInOneTurn} in one turn`)
  for (let at = 0; at < REQUESTS; at++) t.equal((await client.answer('GET'))?.status, 204)
})
