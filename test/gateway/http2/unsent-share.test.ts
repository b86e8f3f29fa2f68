/** What all connections of a site have of answers that nobody takes, beside what all others have. */
import t from 'tap'
import type { Http2Exchange } from '../../../gateway/http2/http2-exchange.ts'
import { StreamShare } from '../../../gateway/http2/stream-share.ts'
import { createAddressCounts } from '../../../gateway/wire/address-counts.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { requestFields } from '../../support/http2-frames.ts'
import { connect, inFlight, startSpringWire, tick, widen } from '../../support/http2-spring.ts'
import { HOST, type SecureWire } from '../../support/secure-wire.ts'

const MIB = 1 << 20
const LITTLE = 16_384

t.test('a site has half of what the others leave, and each connection its first', async (t) => {
  const counts = createAddressCounts({ connectionsMax: 512 })
  const held = { streams: 0, headBytes: 0, unsentBytes: 0 }
  const limits = { ...LIMITS, http2UnsentBytesMaxOfAll: 8 * MIB }
  const share = (address: string, isExempt = false) => {
    counts.enter(address)
    return new StreamShare(limits, held, counts.useOf(address), () => isExempt)
  }
  const networks = Array.from({ length: 5 }, (_, at) => share(`2001:db8:1:${at}::1`))
  const allowed = networks.map((one) => {
    const bytes = one.unsentMax(MIB, LITTLE, 0)
    one.holdUnsent(bytes)
    return bytes
  })
  t.same(allowed, [MIB, MIB, MIB, MIB, LITTLE])
  t.equal(
    networks[0]!.unsentMax(MIB, LITTLE, MIB),
    MIB - LITTLE,
    'who has it goes on with nearly as much',
  )
  t.equal(share('192.0.2.1').unsentMax(MIB, LITTLE, 0), MIB, 'others have what they had')
  const balancer = share('192.0.2.2', true)
  balancer.holdUnsent(100 * MIB)
  t.equal(balancer.unsentMax(MIB, LITTLE, 0), MIB, 'a balancer is many people')
  networks[1]!.holdUnsent(-MIB)
  t.equal(networks[4]!.unsentMax(MIB, LITTLE, LITTLE), MIB, 'what is taken makes room')
})

function unsentOf(wire: SecureWire): number {
  let sum = 0
  wire.http2.eachInFlight((exchange) => (sum += (exchange as Http2Exchange).unsentBytes))
  return sum
}

/** Nothing has come or gone for long. */
async function rest(wire: SecureWire) {
  let before = -1
  for (let same = 0; same < 500; same++) {
    const now = unsentOf(wire)
    if (now !== before) same = 0
    before = now
    await tick()
  }
}

/** Each has taken so much before that it may have as much unsent. */
async function connectTaking(wire: SecureWire) {
  const client = connect(wire, 65_535).send(widen(0, 2 ** 30))
  for (let stream = 1; stream < 2 * 24; stream += 2) {
    client.request(stream, requestFields(HOST, '/page')).send(widen(stream, MIB))
    await client.until((found) => found.stream === stream && (found.flags & 1) === 1)
  }
  return client
}

t.test('so it is on connections that have taken much before', async (t) => {
  const { wire } = await startSpringWire(t, {
    limits: { http2UnsentBytesMaxOfAll: MIB },
  })
  const clients = [await connectTaking(wire), await connectTaking(wire), await connectTaking(wire)]
  for (const client of clients)
    for (let at = 0; at < 16; at++) client.request(101 + 2 * at, requestFields(HOST, '/giant'))
  while (inFlight(wire) < 48) await tick()
  await rest(wire)
  const unsent = unsentOf(wire)
  // each has its first ones, and of each what one read has brought comes on top
  t.ok(unsent < 2 * MIB, `${(unsent / MIB).toFixed(2)} MiB`)
  t.same(wire.abuses, [])
  const { held } = wire.addresses.useOf('127.0.0.1').site
  t.ok(held.unsentBytes >= unsent, 'all of it is counted')
  for (const { socket } of clients) socket.destroy()
  while (wire.http2.connections() > 0) await tick()
  t.equal(held.unsentBytes, 0, 'whoever leaves gives back what it had')
})
