/** What one client may cost: cancelled streams, heads by reference, and connections that lie idle. */
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Spending } from '../../../gateway/wire/budget.ts'
import { ConnectionCosts } from '../../../gateway/http2/connection-costs.ts'
import type { AddressTurn } from '../../../gateway/wire/address-turn.ts'
import { SiteUse } from '../../../gateway/wire/site-use.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  fields,
  frame,
  FrameClient,
  requestFields,
  TYPE,
  uint32,
} from '../../support/http2-frames.ts'
import { initialWindow } from '../../support/http2-spring.ts'
import {
  HOST,
  NGHTTP2_REFUSED_STREAM,
  OTHER_HOST,
  startSecureWire,
} from '../../support/secure-wire.ts'
import type { SecureWire } from '../../support/secure-wire.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const raw = (wire: SecureWire) => new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
const clock = clockOf(() => 1_800_000_000_000)

t.test('whoever cancels hundreds of tiles of a map keeps its upload', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url, { clock })
  const client = raw(wire)
  const upload = fields([
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', HOST],
    [':path', '/'],
  ])
  client.request(1, upload, 4)
  for (let zoom = 0, stream = 3; zoom < 5; zoom++) {
    const tiles = Array.from({ length: 60 }, () => (stream += 2))
    for (const tile of tiles) client.request(tile, requestFields(HOST))
    await client.settled()
    for (const tile of tiles) client.send(frame(TYPE.reset, 0, tile, uint32(8)))
    t.equal(await client.settled(), 'open', `zoom ${zoom}`)
  }
  t.equal(client.resetCode(1), undefined)
  t.same(wire.abuses, [])
})

t.test('resets for any other reason have the smaller budget', async (t) => {
  const budget = { burst: 20, perSecond: 1 }
  const origin = await startRawOrigin(t, () => undefined)
  const options = { clock, limits: { http2Resets: budget } }
  const wire = await startSecureWire(t, origin.url, options)
  const client = raw(wire)
  for (let at = 0; at <= budget.burst; at++) {
    client.request(1 + at * 2, requestFields(HOST))
    t.equal(await client.settled(), 'open')
    client.send(frame(TYPE.reset, 0, 1 + at * 2, uint32(1)))
  }
  t.equal(await client.settled(), 'closed')
  t.same(wire.abuses, ['resets'])
})

t.test(
  'who has an application asked and then breaks the request off is counted likewise',
  async (t) => {
    const budget = { burst: 20, perSecond: 1 }
    const origin = await startRawOrigin(t, () => undefined)
    const options = { clock, limits: { http2Resets: budget } }
    const wire = await startSecureWire(t, origin.url, options)
    const client = raw(wire)
    const tooMany = fields(Array.from({ length: LIMITS.headerCountMax + 1 }, () => ['a', 'b']))
    for (let at = 0; at <= budget.burst; at++) {
      client.request(1 + at * 2, requestFields(HOST), 4)
      t.equal(await client.settled(), 'open')
      client.request(1 + at * 2, tooMany)
    }
    t.equal(await client.settled(), 'closed')
    t.same(wire.abuses, ['resets'])
    t.equal(wire.outcomes[0]?.status, 400, 'it has had its answer')
  },
)

t.test('an answer that is reset for no reason is cut as well', async (t) => {
  const body = 'x'.repeat(5000)
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) => exchange.respond({ status: 200, headerLines: [], body }),
  })
  const client = raw(wire)
  client.send(initialWindow(1000)).request(1, requestFields(HOST))
  await client.until(({ type }) => type === TYPE.data)
  await client.send(frame(TYPE.reset, 0, 1, uint32(0))).settled()
  t.match(wire.outcomes, [{ status: 200, isCut: true }])
})

t.test('a new connection does not begin anew, but for the first few of each', async (t) => {
  const http2CostsPerSite = {
    ...LIMITS.http2CostsPerSite,
    controlFrames: { burst: 20, perSecond: 0 },
  }
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { clock, limits: { http2CostsPerSite } })
  /** With SETTINGS before and one more behind. */
  const ping = async (times: number) => {
    const client = raw(wire)
    const mark = Buffer.alloc(8)
    for (; times > 0; times--) client.send(frame(TYPE.ping, 0, 0, mark))
    const found = await client.settled()
    client.socket.destroy()
    while (wire.addresses.of('127.0.0.1') > 0) await turn()
    return found
  }
  const beyond = 6
  const pings = LIMITS.http2CostsFree.burst + beyond - 2
  for (let count = 0; count < 3; count++) t.equal(await ping(pings), 'open')
  t.equal(await ping(pings), 'closed', 'the site has spent what it had')
  t.same(wire.abuses, ['control_frames'])
  t.equal(
    await ping(LIMITS.http2CostsFree.burst - 2),
    'open',
    'who does nothing of the kind comes in',
  )
})

const priority = frame(TYPE.priority, 0, 1, Buffer.alloc(5))
const twoLengths = requestFields(HOST, '/', [
  ['content-length', '0'],
  ['content-length', '0'],
])

for (const [name, cost, free, send] of [
  [
    'frames that bring nothing',
    'idleFrames',
    LIMITS.http2IdleFramesFree.burst,
    (client: FrameClient) => client.send(priority),
  ],
  [
    'streams that are none',
    'cancels',
    LIMITS.http2CostsFree.burst - 2,
    (client: FrameClient, at: number) => client.request(1 + 2 * at, twoLengths),
  ],
] as const)
  t.test(`a site has one budget for ${name}, over all its connections`, async (t) => {
    const http2CostsPerSite = {
      ...LIMITS.http2CostsPerSite,
      [cost]: { burst: 20, perSecond: 0 },
    }
    const origin = await startOrigin(t)
    const wire = await startSecureWire(t, origin.url, { clock, limits: { http2CostsPerSite } })
    const sendMany = async (times: number) => {
      const client = raw(wire)
      for (let at = 0; at < times; at++) send(client, at)
      return client.settled()
    }
    for (let count = 0; count < 2; count++) t.equal(await sendMany(free + 10), 'open')
    t.equal(await sendMany(free + 10), 'closed', 'the site has spent what it had')
    t.equal(await sendMany(free - 2), 'open', 'who sends a few comes in')
  })

t.test('who leaves a page now and then does not go by what its neighbours have spent', (t) => {
  const site = new SiteUse()
  const costs = new ConnectionCosts(LIMITS, site, 0)
  site.cancels = new Spending({ burst: 0, perSecond: 0 }, 0)
  let nowMs = 0
  for (let count = 0; count < 5 * LIMITS.http2CostsFree.burst; count++) {
    nowMs += 1000
    t.ok(costs.spend('cancels', nowMs), `${nowMs / 1000} s`)
  }
  for (let left = LIMITS.http2CostsFree.burst; left > 1; left--) t.ok(costs.spend('cancels', nowMs))
  t.notOk(costs.spend('cancels', nowMs), 'but not all at once')
  t.end()
})

t.test('a site has room for many connections that do as much as one may', (t) => {
  const { cancels, resets, controlFrames, idleFrames } = LIMITS.http2CostsPerSite
  t.ok(cancels.burst >= 10 * LIMITS.http2Cancels.burst)
  t.ok(cancels.perSecond >= 30 * LIMITS.http2Cancels.perSecond)
  t.ok(resets.burst >= 10 * LIMITS.http2Resets.burst)
  t.ok(resets.perSecond >= 10 * LIMITS.http2Resets.perSecond)
  t.ok(controlFrames.perSecond >= LIMITS.connectionsPerAddressMax, 'a PING a second from each')
  t.ok(idleFrames.burst >= 10 * LIMITS.http2IdleFrames.burst)
  t.ok(idleFrames.perSecond >= 10 * LIMITS.http2IdleFrames.perSecond)
  const site = new SiteUse()
  const limits = { ...LIMITS, http2CostsPerSite: LIMITS.http2CostsPerSite }
  for (let count = 0; count < 10; count++) {
    const costs = new ConnectionCosts(limits, site, 0)
    for (let left = LIMITS.http2Cancels.burst; left > 0; left--)
      if (!costs.spend('cancels', 0)) t.fail('an honest connection is ended')
    t.notOk(costs.spend('cancels', 0), 'its own is spent')
  }
  t.end()
})

t.test('heads that are repeated by reference are counted as what they become', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const limits = { http2HeadBytesPerAddressMax: 10_000 }
  const wire = await startSecureWire(t, origin.url, { limits })
  const client = raw(wire)
  const block = requestFields(HOST, '/', [['x-a', 'a'.repeat(4000)]])
  for (const stream of [1, 3, 5]) client.request(stream, block)
  await client.settled()
  t.equal(client.resetCode(3), undefined)
  t.equal(client.resetCode(5), NGHTTP2_REFUSED_STREAM)
  client.send(frame(TYPE.reset, 0, 1, uint32(8)))
  await client.settled()
  client.request(7, block)
  await client.settled()
  t.equal(client.resetCode(7), undefined, 'what is over counts no more')
})

t.test('a request that its client leaves before its turn waits for none', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url)
  const first = raw(wire)
  await first.settled()
  let isOpen = false
  let takes = 0
  let proceed = () => undefined as void
  const turnOfSite = {
    take(next: () => void) {
      takes++
      proceed = next
      return isOpen
    },
    charge: () => undefined,
  }
  wire.addresses.siteOf('127.0.0.1').requests = turnOfSite as unknown as AddressTurn
  const client = raw(wire)
  for (let id = 1; id < 100; id += 2)
    client.request(id, requestFields(HOST)).send(frame(TYPE.reset, 0, id, uint32(8)))
  client.request(101, requestFields(HOST))
  do await client.settled()
  while (wire.addresses.useOf('127.0.0.1').streams > 1)
  isOpen = true
  takes = 0
  proceed()
  t.equal(takes, 1, 'the one that is left')
})

t.test('an idle connection gives way to a new one of its address, and is told', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { connectionsMax: 1 })
  const first = raw(wire)
  first.request(1, requestFields(HOST))
  await first.until(({ type, flags }) => type === TYPE.data && (flags & 1) === 1)
  await first.settled()
  const second = raw(wire)
  second.request(1, requestFields(HOST))
  t.ok(await second.until(({ type, flags }) => type === TYPE.data && (flags & 1) === 1))
  await first.closed
  t.equal(first.goawayCode(), 0)
  t.equal(wire.http2.connections(), 1)
})

const lines = (count: number, value: string) =>
  Array.from({ length: count }, () => ['x-a', value] as const)

for (const [name, block, most] of [
  ['a turn together', requestFields(HOST), LIMITS.requestsPerTurnMax],
  [
    'it with few long targets',
    requestFields(HOST, `/${'a'.repeat(4000)}`),
    Math.ceil(LIMITS.requestsPerTurnMax / 9),
  ],
  [
    'it with few long heads',
    requestFields(HOST, '/', lines(3, 'a'.repeat(4200))),
    Math.ceil(LIMITS.requestsPerTurnMax / 4),
  ],
  [
    'it with few heads of many lines',
    requestFields(HOST, '/', lines(90, 'a')),
    Math.ceil(LIMITS.requestsPerTurnMax / 2),
  ],
  ['it with what is refused', requestFields(OTHER_HOST), LIMITS.requestsPerTurnMax],
] as const)
  t.test(`all connections of an address have ${name}, over HTTP/2 as well`, async (t) => {
    const CONNECTIONS = 6
    const STREAMS = 60
    let handled = 0
    let mostInOneTurn = 0
    let isWatching = true
    t.teardown(() => void (isWatching = false))
    const many = { burst: CONNECTIONS * STREAMS, perSecond: 0 }
    const http2CostsPerSite = { ...LIMITS.http2CostsPerSite, resets: many }
    const answer = () => {
      handled++
      return { status: 204, headerLines: [], body: '' }
    }
    const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
      decide: (exchange) => exchange.respond(answer()),
      refusalAnswer: answer,
      limits: { http2Resets: many, http2CostsPerSite, http2HeadBytesPerAddressMax: 2 ** 30 },
    })
    const clients = Array.from({ length: CONNECTIONS }, () => raw(wire))
    for (const client of clients) await client.settled()
    let before = 0
    const watch = () => {
      mostInOneTurn = Math.max(mostInOneTurn, handled - before)
      before = handled
      if (isWatching) setImmediate(watch)
    }
    watch()
    for (const client of clients) {
      client.socket.cork()
      for (let at = 0; at < STREAMS; at++) client.request(1 + 2 * at, block)
      client.socket.uncork()
    }
    for (const client of clients) await client.settled()
    while (handled < CONNECTIONS * STREAMS) await turn()
    t.ok(mostInOneTurn <= 2 * most, `${mostInOneTurn} in one turn`)
    for (const client of clients) t.equal(await client.settled(), 'open')
  })

t.test('streams that an address may not have are turned away, and not without end', async (t) => {
  const budget = { burst: 5, perSecond: 0 }
  const origin = await startRawOrigin(t, () => undefined)
  const limits = { http2StreamsPerAddressMax: 1, http2Resets: budget }
  const wire = await startSecureWire(t, origin.url, { limits })
  const client = raw(wire)
  for (let at = 0; at <= budget.burst; at++) client.request(1 + 2 * at, requestFields(HOST))
  t.equal(await client.settled(), 'open')
  client.request(99, requestFields(HOST))
  t.equal(await client.settled(), 'closed')
  t.same(wire.abuses, ['resets'])
})

t.test('a large upload is no flood of tiny frames, however TLS cuts it', async (t) => {
  const origin = await startOrigin(t)
  const budget = { burst: 50, perSecond: 0 }
  const wire = await startSecureWire(t, origin.url, { limits: { http2SmallDataFrames: budget } })
  const session = wire.http2Client()
  const size = 16_384 * 400
  const stream = session.request({ ':method': 'POST', ':path': '/', 'content-length': size })
  stream.end(Buffer.alloc(size, 'u'))
  const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
  t.equal(headers[':status'], 200)
  t.equal(origin.seen[0]?.body.length, size)
  t.same(wire.abuses, [])
})
