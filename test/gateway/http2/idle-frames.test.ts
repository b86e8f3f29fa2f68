/** Frames that bring nothing: which of them are counted, and which have a reason. */
import t from 'tap'
import { FrameClient, requestFields } from '../../support/http2-frames.ts'
import {
  bytesOf,
  initialWindow,
  settle,
  startSpringWire,
  widen,
} from '../../support/http2-spring.ts'
import { HOST } from '../../support/secure-wire.ts'

const FEW = { http2IdleFrames: { burst: 100, perSecond: 0 } }

t.test(
  'whoever opens its windows for all that it takes may take as much as it likes',
  async (t) => {
    const { wire } = await startSpringWire(t, { limits: FEW })
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.send(initialWindow(1 << 20), widen(0, 1 << 20)).request(1, requestFields(HOST, '/giant'))
    // As Go does it: for each 4 KiB, for the stream and for the connection.
    let read = 0
    let answered = 0
    while (answered < 600 && !client.isClosed) {
      read += bytesOf(client, 1)
      client.frames.splice(0)
      for (; read >= 4096; read -= 4096, answered += 2) client.send(widen(1, 4096), widen(0, 4096))
      await client.settled()
    }
    t.equal(await client.settled(), 'open')
    t.same(wire.abuses, [])
  },
)

t.test('and whoever opens them for nothing is ended, whatever it has taken before', async (t) => {
  const { wire } = await startSpringWire(t, { limits: FEW })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  client.request(1, requestFields(HOST, '/page'))
  await settle(client)
  const taken = bytesOf(client, 1)
  t.ok(taken > 60_000 && taken < 66_000, `${taken} bytes`)
  const free = Math.floor(taken / 2048)
  const nothing = (count: number) =>
    client.send(...Array.from({ length: count }, () => widen(1, 1)))
  t.equal(await nothing(free + FEW.http2IdleFrames.burst).settled(), 'open')
  t.equal(await nothing(1 + Math.ceil((free + 100) / 2048)).settled(), 'closed')
  t.same(wire.abuses, ['control_frames'])
})
