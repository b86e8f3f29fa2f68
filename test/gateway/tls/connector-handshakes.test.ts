/** Connectors that come back all at once: their pace, and who has the next turn. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { deriveCertificate } from '../../../gateway/connectors/own-certificate.ts'
import { ConnectorHandshakes } from '../../../gateway/tls/connector-handshakes.ts'
import { SiteUse } from '../../../gateway/wire/site-use.ts'
import { alpnFor, CONNECTOR_ALPN, dialledFor } from '../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startSecureWire } from '../../support/secure-wire.ts'
import { listening } from '../../support/wire.ts'

const { connectorHandshakes: pace, connectorHandshakeWaitMsMax: waitingMsMax } = LIMITS
const newcomer = (name: string) => ({ client: name, site: new SiteUse() })

t.test('what a connection is dialled for is said in its ClientHello', async (t) => {
  for (const use of [undefined, 'asked', 'spare'] as const)
    for (const worker of [undefined, 1, 256])
      t.same(dialledFor(alpnFor({ worker, use })), { worker, use })
  t.same(alpnFor({ worker: 2, use: 'spare' }), [
    CONNECTOR_ALPN,
    `${CONNECTOR_ALPN}/worker-2`,
    `${CONNECTOR_ALPN}/spare`,
  ])
  t.equal(dialledFor(['h2', `${CONNECTOR_ALPN}/asked`]), undefined)
  t.same(dialledFor([CONNECTOR_ALPN, `${CONNECTOR_ALPN}/worker-0`, `${CONNECTOR_ALPN}/later`]), {
    worker: undefined,
    use: undefined,
  })
})

t.test(
  'a few at once, then so many a second; who would wait for too long is refused',
  async (t) => {
    const queue = new ConnectorHandshakes({ pace, waitingMsMax, nowMs: 0 })
    const most = pace.burst + (pace.perSecond * waitingMsMax) / 1000
    for (let count = 0; count < most; count++) t.ok(queue.add(newcomer(`${count}`), false))
    t.notOk(queue.add(newcomer('late'), false), 'it comes again')
    const begun = (nowMs: number) => {
      let count = 0
      while (queue.next(nowMs) !== undefined) count++
      return count
    }
    t.equal(begun(0), pace.burst)
    t.equal(begun(500), Math.min(pace.burst, pace.perSecond / 2), 'no more at once after a pause')
    for (let ms = 510; ms <= 1500; ms += 10) begun(ms)
    t.equal(queue.size, most - 2 * pace.burst - pace.perSecond)
    t.ok(queue.add(newcomer('later'), false))
    t.ok(most / pace.perSecond < 10, 'a connector gives up its dial after ten seconds')
  },
)

t.test('connections ahead of demand come after those without which nobody is served', async (t) => {
  const queue = new ConnectorHandshakes({
    pace: { burst: 9, perSecond: 1 },
    waitingMsMax,
    nowMs: 0,
  })
  const [spare, gone, first] = [newcomer('spare'), newcomer('gone'), newcomer('first')]
  queue.add(spare, true)
  queue.add(gone, false)
  queue.add(first, false)
  queue.delete(gone)
  t.same([queue.next(0), queue.next(0), queue.next(0)], [first, spare, undefined])
  t.equal(queue.size, 0)
})

t.test('connectors wait behind visitors, and what a request waits for does not', async (t) => {
  let nowMs = 0
  const own = deriveCertificate('a fleet key that is only good for tests')
  const judged: (() => void)[] = []
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    clock: { nowMs: () => nowMs },
    front: {
      connectorHandshakes: { burst: 1, perSecond: 1 },
      connectors: {
        worker: 1,
        ...own,
        accept: (_socket, onJudged) => void judged.push(onJudged),
        passOn: (socket) => void socket.destroy(),
      },
    },
  })
  const accepted: Socket[] = []
  const holder = createServer((socket) => void accepted.push(socket))
  const port = await listening(holder)
  t.teardown(() => holder.close())
  /** Its ClientHello is there, and nobody has looked at it. */
  const arrive = async (client: TLSSocket) => {
    const at = accepted.length
    client.on('error', () => undefined)
    t.teardown(() => client.destroy())
    while ((accepted[at]?.readableLength ?? 0) === 0) await turn()
    return { client, begin: () => wire.front.accept(accepted[at]!, `192.0.2.${at}`) }
  }
  const connector = (use?: 'asked' | 'spare') =>
    arrive(
      connect({
        port,
        host: '127.0.0.1',
        ALPNProtocols: alpnFor({ worker: 1, use }),
        rejectUnauthorized: false,
      }),
    )
  const [control, other] = [await connector(), await connector()]
  control.begin()
  await once(control.client, 'secureConnect')
  other.begin()
  const [asked, visitor] = [await connector('asked'), await arrive(wire.tls({ port }))]
  const secure = [asked, visitor].map(({ client }) => once(client, 'secureConnect'))
  asked.begin()
  visitor.begin()
  await Promise.all(secure)
  while (wire.front.handshakes() > 1) await turn()
  t.equal(wire.front.handshakes(), 1, 'the second one waits')
  nowMs += 1000
  while (wire.front.handshakes() > 0) await turn()
  t.equal(judged.length, 3)
  // The wire has 5 s for a handshake: half of it may be waited for.
  const crowd = []
  for (let count = 0; count < 4; count++) crowd.push(await connector())
  const closed = crowd.map(({ client }) => new Promise((resolve) => client.once('close', resolve)))
  for (const { begin } of crowd) begin()
  await Promise.race(closed)
  t.same(wire.failures, ['too_many_connectors'], 'before anything was computed for it')
  while (wire.front.handshakes() > 3) await turn()
  t.equal(wire.front.handshakes(), 3)
})
