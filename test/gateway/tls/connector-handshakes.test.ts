/** Connectors that come back all at once: their pace, and who has the next turn. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { deriveCertificate } from '../../../shared/self-signed.ts'
import { ConnectorHandshakes } from '../../../gateway/tls/connector-handshakes.ts'
import { SiteUse } from '../../../gateway/wire/site-use.ts'
import { alpnFor, CONNECTOR_ALPN, dialledFor } from '../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startSecureWire } from '../../support/secure-wire.ts'
import { listening } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

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

t.test('a few at once, then so many a second; who would wait too long is refused', async (t) => {
  const queue = new ConnectorHandshakes({ pace, waitingMsMax, nowMs: 0 })
  const most = pace.burst + (pace.perSecond * waitingMsMax) / 1000
  for (let count = 0; count < most; count++)
    t.equal(queue.add(newcomer(`${count}`), false), undefined)
  const late = newcomer('late')
  t.equal(queue.add(late, false), late, 'it comes again')
  const begun = (nowMs: number) => {
    let count = 0
    while (queue.next(nowMs) !== undefined) count++
    return count
  }
  t.equal(begun(0), pace.burst)
  t.equal(begun(500), Math.min(pace.burst, pace.perSecond / 2), 'no more at once after a pause')
  for (let ms = 510; ms <= 1500; ms += 10) begun(ms)
  t.equal(queue.size, most - 2 * pace.burst - pace.perSecond)
  t.equal(queue.add(newcomer('later'), false), undefined)
  t.ok(most / pace.perSecond < 10, 'a connector gives up its dial after ten seconds')
})

t.test('a flood from a few addresses keeps nobody else out', (t) => {
  const queue = new ConnectorHandshakes({ pace, waitingMsMax, nowMs: 0 })
  const most = pace.burst + (pace.perSecond * waitingMsMax) / 1000
  // three addresses, and a site of IPv6 with a network for each of its connections
  const flooding = [1, 2, 3].map((at) => newcomer(`flood ${at}`))
  const site = new SiteUse()
  const refused: string[] = []
  const flood = (times: number) => {
    for (let count = 0; count < times; count++)
      for (const one of [...flooding, { client: `2001:db8:0:${count}::/64`, site }]) {
        const out = queue.add({ ...one }, count % 3 === 0)
        if (out !== undefined) refused.push(out.client)
      }
  }
  flood(400)
  t.equal(queue.size, most, 'they have all places')
  const real = Array.from({ length: 100 }, (_, at) => newcomer(`real ${at}`))
  refused.length = 0
  for (const one of real) {
    queue.add(one, false)
    flood(1)
  }
  const begun = new Set<unknown>()
  let nowMs = 0
  for (; nowMs <= waitingMsMax; nowMs += 10) {
    for (let next = queue.next(nowMs); next !== undefined; next = queue.next(nowMs)) begun.add(next)
    flood(1)
  }
  t.notOk(
    refused.some((client) => client.startsWith('real')),
    'whoever has few places keeps them',
  )
  t.ok(
    real.every((one) => begun.has(one)),
    'and has its turn',
  )
  t.equal(queue.size, most)
  t.end()
})

t.test(
  'who was a connector here before goes before strangers, from however many addresses',
  (t) => {
    const queue = new ConnectorHandshakes({ pace, waitingMsMax, nowMs: 0 })
    const most = pace.burst + (pace.perSecond * waitingMsMax) / 1000
    const strange = () => newcomer(`stranger ${Math.random()}`)
    for (let count = 0; count < most; count++) queue.add(strange(), false)
    const known = Array.from({ length: most }, (_, at) => newcomer(`${at}`))
    for (const { client } of known) queue.know(client, client)
    const out = known.map((one) => queue.add(one, false))
    const hadPlace = out.filter((gone, at) => gone !== known[at]).length
    t.equal(hadPlace, (most * 3) / 4, 'strangers keep a quarter of the places')
    const stranger = strange()
    t.equal(queue.add(stranger, false), stranger, 'and no more')
    const turns = Array.from({ length: pace.burst }, () => queue.next(0)!.client)
    t.equal(turns.filter((client) => client.startsWith('stranger')).length, pace.burst / 4)
    t.equal(queue.add(known.at(-1)!, true), undefined)
    t.end()
  },
)

t.test('so many addresses are remembered, those of the latest', (t) => {
  const queue = new ConnectorHandshakes({
    pace: { burst: 4, perSecond: 1 },
    waitingMsMax,
    nowMs: 0,
  })
  for (let at = 0; at <= LIMITS.connectorClientsKnownMax; at++) {
    queue.know(`${at}`, `${at}`)
    queue.know('1', '1')
  }
  const [forgotten, kept, stranger] = [newcomer('0'), newcomer('1'), newcomer('a')]
  for (const one of [stranger, forgotten, kept]) queue.add(one, false)
  t.same([queue.next(0), queue.next(0), queue.next(0)], [kept, stranger, forgotten])
  t.end()
})

t.test('a connector with a whole site of networks has nobody else forgotten', async (t) => {
  t.equal(LIMITS.connectorClientsKnownOfSiteMax, 250)
  const queue = new ConnectorHandshakes({
    pace: { burst: 4, perSecond: 1 },
    waitingMsMax,
    nowMs: 0,
  })
  queue.know('192.0.2.1', '192.0.2.1')
  for (let at = 0; at <= LIMITS.connectorClientsKnownMax; at++)
    queue.know(`2001:db8:1:${at}::/64`, '2001:db8:1::/48')
  const [known, stranger] = [newcomer('192.0.2.1'), newcomer('192.0.2.2')]
  const ofSite = (at: number) => newcomer(`2001:db8:1:${LIMITS.connectorClientsKnownMax - at}::/64`)
  const [last, forgotten] = [ofSite(249), ofSite(250)]
  for (const one of [forgotten, stranger, last, known]) queue.add(one, false)
  const turns = [queue.next(0), queue.next(0), queue.next(0), queue.next(0)]
  t.same(turns, [last, known, forgotten, stranger])
})

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
  const judged: ((isAdmitted: boolean) => void)[] = []
  const crowded: string[] = []
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    clock: clockOf(() => nowMs),
    timeouts: { headMs: 5000 },
    front: {
      connectorHandshakes: { burst: 1, perSecond: 1 },
      connectors: {
        worker: 1,
        workers: 2,
        ...own,
        accept: (_socket, _peerAddress, onJudged) => void judged.push(onJudged),
        onCrowded: (peerAddress) => void crowded.push(peerAddress),
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
    const begin = (from = `192.0.2.${at}`) =>
      wire.front.accept(accepted[at]!, { peerAddress: from })
    return { client, begin }
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
  // 5 s for a handshake: half of it may be waited for, which are three.
  const crowd = []
  for (let count = 0; count < 3; count++) crowd.push(await connector())
  const closeOf = ({ client }: { client: TLSSocket }) =>
    new Promise((resolve) => client.once('close', resolve))
  const flood = crowd.map(closeOf)
  for (const { begin } of crowd) begin('192.0.2.200')
  const fourth = await connector()
  const someoneGone = Promise.race([...flood, closeOf(fourth)])
  fourth.begin('192.0.2.200')
  await someoneGone
  t.same(crowded, ['192.0.2.200'], 'before anything was computed for it')
  const real = await connector()
  const isSecure = once(real.client, 'secureConnect')
  real.begin('192.0.2.201')
  while (crowded.length < 2) await turn()
  t.same(crowded, ['192.0.2.200', '192.0.2.200'], 'its last makes room for another address')
  for (let count = 0; count < 2; count++) {
    nowMs += 1000
    const before = judged.length
    while (judged.length === before) await turn()
  }
  await isSecure
  t.equal(wire.front.handshakes(), 1)
})

t.test('who only says to be a connector has had a short connection', async (t) => {
  const own = deriveCertificate('a fleet key that is only good for tests')
  const judged: ((isAdmitted: boolean) => void)[] = []
  const [known, stranger, balancer] = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    clock: clockOf(() => 0),
    front: {
      isExempt: (address) => address === balancer,
      connectors: {
        worker: 1,
        workers: 2,
        ...own,
        accept: (_socket, _peerAddress, onJudged) => void judged.push(onJudged),
        onCrowded: () => undefined,
        passOn: (socket) => void socket.destroy(),
      },
    },
  })
  const holder = createServer()
  const port = await listening(holder)
  t.teardown(() => holder.close())
  const { burst } = LIMITS.shortConnections
  const counted = (address: string) =>
    burst - (wire.addresses.siteOf(address).shortConnections?.leftAt(0) ?? burst)
  for (const [address, isAdmitted] of [
    [known, true],
    [stranger, false],
    [balancer, false],
  ] as const) {
    const client = connect({
      port,
      host: '127.0.0.1',
      ALPNProtocols: alpnFor({ worker: 1, use: 'asked' }),
      rejectUnauthorized: false,
    })
    client.on('error', () => undefined)
    t.teardown(() => client.destroy())
    const [accepted] = (await once(holder, 'connection')) as [Socket]
    wire.front.accept(accepted, { peerAddress: address })
    await once(client, 'secureConnect')
    while (judged.length === 0) await turn()
    const onJudged = judged.pop()!
    onJudged(isAdmitted)
    onJudged(false) // it has left
  }
  t.same([known, stranger, balancer].map(counted), [0, 1, 0])
})

t.test('who wants a worker that there is not is passed on to nobody', async (t) => {
  const own = deriveCertificate('a fleet key that is only good for tests')
  const accepted: string[] = []
  const passed: number[] = []
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    front: {
      connectors: {
        worker: 1,
        workers: 2,
        ...own,
        accept(socket, peerAddress, onJudged) {
          accepted.push(peerAddress)
          onJudged(true)
          socket.destroy()
        },
        onCrowded: () => undefined,
        passOn(socket, worker) {
          passed.push(worker)
          socket.destroy()
        },
      },
    },
  })
  const holder = createServer()
  const port = await listening(holder)
  t.teardown(() => holder.close())
  for (const worker of [1, 2, 3, 256]) {
    const ALPNProtocols = alpnFor({ worker, use: 'asked' })
    const client = connect({ port, host: '127.0.0.1', ALPNProtocols, rejectUnauthorized: false })
    const gone = new Promise((resolve) => client.once('close', resolve))
    client.on('error', () => undefined).resume()
    const [socket] = (await once(holder, 'connection')) as [Socket]
    wire.front.accept(socket, { peerAddress: `192.0.2.${worker}` })
    await gone
  }
  t.same(accepted, ['192.0.2.1', '192.0.2.3', '192.0.2.256'])
  t.same(passed, [2])
})
