/** What a client may say of a stream that we are not done with, or have not taken. */
import t from 'tap'
import {
  END_HEADERS,
  END_STREAM,
  fields,
  FrameClient,
  TYPE,
} from '../../../support/http2-frames.ts'
import { initialWindow, widen } from '../../../support/http2-spring.ts'
import { HOST, startSecureWire } from '../../../support/secure-wire.ts'
import { startRawOrigin } from '../../../support/wire.ts'

const HEAD = fields([
  [':method', 'HEAD'],
  [':scheme', 'https'],
  [':authority', HOST],
  [':path', '/'],
])

for (const [name, said] of [
  ['opens its window', widen(1, 1000)],
  ['changes the windows of all', initialWindow(100_000)],
] as const)
  t.test(`an answer to HEAD begins with its head, whoever ${name} before`, async (t) => {
    const origin = await startRawOrigin(t, (socket) =>
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')),
    )
    const wire = await startSecureWire(t, origin.url)
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.request(1, HEAD).send(said)
    const first = await client.until(({ stream }) => stream === 1)
    t.equal(first?.type, TYPE.headers)
    t.equal(first?.flags, END_HEADERS | END_STREAM)
    await client.settled()
    t.equal(wire.outcomes[0]?.isCut, false)
  })
