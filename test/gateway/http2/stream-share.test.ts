/** What a site of many networks may hold of streams and of their heads, beside what all others hold. */
import t, { type Test } from 'tap'
import { StreamShare } from '../../../gateway/http2/stream-share.ts'
import { createAddressCounts } from '../../../gateway/wire/address-counts.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { FrameClient, requestFields } from '../../support/http2-frames.ts'
import { HOST, NGHTTP2_REFUSED_STREAM, startSecureWire } from '../../support/secure-wire.ts'
import { listening, startRawOrigin } from '../../support/wire.ts'
import { rawListener } from '../../support/raw-listener.ts'

/** Shares of addresses that have entered, at one worker. */
function worker(isExempt = false) {
  const counts = createAddressCounts({ connectionsMax: 512 })
  const held = { streams: 0, headBytes: 0, unsentBytes: 0 }
  return (address: string) => {
    counts.enter(address)
    return new StreamShare(LIMITS, held, counts.useOf(address), () => isExempt)
  }
}

/** Of each network as much as it gets. */
function fill(share: StreamShare, headBytes: number): number {
  let begun = 0
  for (; share.hasRoom && share.hasRoomForHead(headBytes); begun++) share.begin(headBytes)
  return begun
}

t.test('an address alone has all that an address may have', async (t) => {
  const share = worker()
  t.equal(fill(share('192.0.2.1'), 0), LIMITS.http2StreamsPerAddressMax)
  const heads = LIMITS.http2HeadBytesPerAddressMax / LIMITS.headBytesMax
  t.equal(fill(share('192.0.2.2'), LIMITS.headBytesMax), heads)
})

t.test('a site of many networks has half of all, and each network a few', async (t) => {
  const share = worker()
  const networks = Array.from({ length: 200 }, (_, at) => `2001:db8:1:${at.toString(16)}::1`)
  const begun = networks.map((address) => fill(share(address), LIMITS.headBytesMax))
  const bytes = begun.reduce((sum, count) => sum + count, 0) * LIMITS.headBytesMax
  t.ok(bytes <= LIMITS.http2HeadBytesMaxOfAll / 2 + 200 * LIMITS.http2HeadBytesFew, `${bytes}`)
  t.equal(begun.at(-1), LIMITS.http2HeadBytesFew / LIMITS.headBytesMax, 'the last one has a few')
  const heads = LIMITS.http2HeadBytesPerAddressMax / LIMITS.headBytesMax
  t.equal(fill(share('192.0.2.1'), LIMITS.headBytesMax), heads, 'others have what they had')
})

t.test('the same of streams, and whoever ends makes room', async (t) => {
  const share = worker()
  const networks = Array.from({ length: 40 }, (_, at) => share(`2001:db8:1:${at.toString(16)}::1`))
  const begun = networks.map((one) => fill(one, 0))
  t.equal(begun[0], LIMITS.http2StreamsPerAddressMax)
  t.equal(begun.at(-1), LIMITS.http2StreamsFew)
  t.ok(networks.at(-1)!.isScarce)
  t.notOk(share('192.0.2.1').isScarce)
  for (let left = begun[0]!; left > 0; left--) networks[0]!.end()
  t.ok(networks.at(-1)!.hasRoom)
})

t.test('a balancer is many people', async (t) => {
  const share = worker(true)
  const one = share('192.0.2.1')
  for (let count = 0; count < 2 * LIMITS.http2StreamsPerAddressMax; count++) one.begin(1 << 20)
  t.ok(one.hasRoom && one.hasRoomForHead(1 << 20) && !one.isScarce)
})

/** A listener whose connections come from the networks of one site, one after the other. */
async function startSite(t: Test) {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url, {
    limits: { http2HeadBytesMaxOfAll: 40_000, http2HeadBytesFew: 5000 },
  })
  let network = 0
  const listener = rawListener((socket) =>
    wire.front.accept(socket, { peerAddress: `2001:db8:1:${(network++).toString(16)}::1` }),
  )
  const port = await listening(listener)
  t.teardown(() => listener.close())
  return () => new FrameClient(wire.tls({ port, ALPNProtocols: ['h2'] }))
}

t.test('so it is on connections from many networks', async (t) => {
  const connect = await startSite(t)
  const block = requestFields(HOST, '/', [['x-a', 'a'.repeat(4000)]])
  const refused: number[] = []
  for (let network = 0; network < 5; network++) {
    const client = connect()
    for (const stream of [1, 3, 5]) client.request(stream, block)
    await client.settled()
    refused.push([1, 3, 5].filter((id) => client.resetCode(id) === NGHTTP2_REFUSED_STREAM).length)
  }
  t.same(refused, [0, 2, 2, 2, 2], 'four of the site, then one of each network')
})
