/** What is said of addresses holds on each wire of a listener. */
import t from 'tap'
import { createProtocols } from '../../../gateway/listen/protocols.ts'
import { systemClock } from '../../../shared/clock.ts'
import { rawListener } from '../../support/raw-listener.ts'
import { listening, RawClient } from '../../support/wire.ts'

void t.test('a balancer without PROXY headers is many people, over HTTP/1 too', async (t) => {
  const asked: string[] = []
  const protocols = createProtocols({
    clock: systemClock,
    fleetKey: 'k'.repeat(32),
    contextFor: () => undefined,
    timeouts: { headMs: 60_000, idleMs: 60_000, keepAliveMs: 60_000 },
    handle: (exchange) => exchange.respond({ status: 200, headerLines: [], body: 'ok' }),
    isExempt: (address) => asked.push(address) > 0,
  })
  const listener = rawListener(protocols.accept)
  const port = await listening(listener)
  const client = new RawClient(port)
  t.teardown(() => {
    client.close()
    listener.close()
    protocols.close()
  })
  client.send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  t.equal((await client.answer())?.status, 200)
  t.same([...new Set(asked)], ['127.0.0.1'], 'asked before its requests share a turn')
})
