import { createServer, type Socket } from 'node:net'
import t from 'tap'
import { createAddressReader } from '../../shared/client-address.ts'
import { networkList } from '../../shared/networks.ts'
import { createListeners } from '../../gateway/listen/listeners.ts'
import { crc32c, parseProxyHeader } from '../../shared/proxy-header.ts'
import { createProxyProtocol, type Proxied } from '../../shared/proxy-protocol.ts'
import { systemClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createTestLog } from '../support/fleet.ts'
import { listening, RawClient, startOrigin, startWire } from '../support/wire.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const parse = (text: string) => parseProxyHeader(latin1(text))

t.test('version 1 names the client', async (t) => {
  for (const [line, peerAddress] of [
    ['PROXY TCP4 192.0.2.7 192.0.2.8 56324 443', '192.0.2.7'],
    ['PROXY TCP6 2001:DB8::7 2001:db8::8 0 65535', '2001:db8::7'],
    ['PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2', '192.0.2.7'],
  ] as const)
    t.match(parse(`${line}\r\nGET`), { peerAddress, bytes: line.length + 2 }, line)
  t.same(parse('PROXY UNKNOWN\r\n'), { namesNobody: true, bytes: 15 })
  t.same(parse('PROXY UNKNOWN ffff:f 1 2 whatever\r\n'), { namesNobody: true, bytes: 35 })
})

t.test('version 1 that is not exactly right closes', async (t) => {
  for (const line of [
    'PROXY TCP4 192.0.2.7 192.0.2.8 56324 443\n',
    'PROXY  TCP4 192.0.2.7 192.0.2.8 56324 443\r\n',
    'proxy TCP4 192.0.2.7 192.0.2.8 56324 443\r\n',
    'PROXY tcp4 192.0.2.7 192.0.2.8 56324 443\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.8 56324 443 \r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.8 056324 443\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.8 65536 443\r\n',
    'PROXY TCP4 192.0.2.07 192.0.2.8 1 443\r\n',
    'PROXY TCP4 192.0.2.256 192.0.2.8 1 443\r\n',
    'PROXY TCP4 2001:db8::7 2001:db8::8 1 443\r\n',
    'PROXY TCP6 192.0.2.7 192.0.2.8 1 443\r\n',
    'PROXY TCP6 fe80::1%eth0 ::1 1 443\r\n',
    'PROXY UDP4 192.0.2.7 192.0.2.8 1 443\r\n',
    'PROXY TCP4 192.0.2.7\r\n',
    'GET / HTTP/1.1\r\n',
    'PROXX ',
    'X',
    `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`,
  ])
    t.equal(parse(line + 'x'.repeat(LIMITS.headBytesMax)), 'malformed', line)
  t.match(parse(`PROXY UNKNOWN ${'x'.repeat(91)}\r\n`), { bytes: 107 }, 'the longest line')
  t.equal(parse(`PROXY UNKNOWN ${'x'.repeat(91)}\r`), 'incomplete')
})

const SIGNATURE = latin1('\r\n\r\n\0\r\nQUIT\n')

function version2(options: {
  command?: number
  family?: number
  addresses?: Buffer
  items?: Buffer
  length?: number
}) {
  const { command = 0x21, family = 0x11, items = Buffer.alloc(0) } = options
  const addresses = options.addresses ?? Buffer.from([192, 0, 2, 7, 192, 0, 2, 8, 0xdc, 4, 1, 0xbb])
  const body = Buffer.concat([addresses, items])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(options.length ?? body.length)
  return Buffer.concat([SIGNATURE, Buffer.from([command, family]), length, body])
}

function item(type: number, value: Buffer, length = value.length) {
  return Buffer.concat([Buffer.from([type, length >> 8, length & 255]), value])
}

const IPV6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000007', 'hex'),
  Buffer.from('20010db8000000000000000000000008', 'hex'),
  Buffer.from([0, 1, 0, 2]),
])

t.test('version 2 names the client, and whether it spoke TLS', async (t) => {
  const plain = version2({})
  t.same(parseProxyHeader(plain), { peerAddress: '192.0.2.7', isSecure: false, bytes: 28 })
  t.match(parseProxyHeader(version2({ family: 0x21, addresses: IPV6 })), {
    peerAddress: '2001:db8::7',
  })
  const mapped = Buffer.from(IPV6)
  Buffer.from('00000000000000000000ffffc0000207', 'hex').copy(mapped)
  t.match(parseProxyHeader(version2({ family: 0x21, addresses: mapped })), {
    peerAddress: '192.0.2.7',
  })
  const tls = item(0x20, Buffer.from([1, 0, 0, 0, 0]))
  t.match(parseProxyHeader(version2({ items: tls })), { isSecure: true })
  const noTls = item(0x20, Buffer.from([0, 0, 0, 0, 0]))
  t.match(parseProxyHeader(version2({ items: noTls })), { isSecure: false })
  const own = { namesNobody: true }
  t.same(parseProxyHeader(version2({ command: 0x20 })), { ...own, bytes: 28 }, 'a health check')
  t.same(parseProxyHeader(version2({ command: 0x20, addresses: Buffer.alloc(0), family: 0 })), {
    ...own,
    bytes: 16,
  })
  for (let length = 1; length < plain.length; length++)
    if (parseProxyHeader(plain.subarray(0, length)) !== 'incomplete') t.fail(`at ${length}`)
})

t.test('version 2 that is not exactly right closes', async (t) => {
  const cases = {
    version: version2({ command: 0x11 }),
    command: version2({ command: 0x22 }),
    datagram: version2({ family: 0x12 }),
    unix: version2({ family: 0x31, addresses: Buffer.alloc(216) }),
    short: version2({ addresses: Buffer.alloc(11) }),
    'short for version 6': version2({ family: 0x21 }),
    'an item that has no length': version2({ items: Buffer.from([4, 0]) }),
    'an item that is too long': version2({ items: item(4, Buffer.alloc(3), 4) }),
    'a TLS item without its head': version2({ items: item(0x20, Buffer.alloc(4)) }),
    'a checksum of three bytes': version2({ items: item(3, Buffer.alloc(3)) }),
    'a wrong checksum': version2({ items: item(3, Buffer.from([1, 2, 3, 4])) }),
    signature: Buffer.concat([SIGNATURE.subarray(0, 11), latin1('x')]),
  }
  for (const [name, bytes] of Object.entries(cases))
    t.equal(parseProxyHeader(bytes), 'malformed', name)
})

t.test('a checksum is checked', async (t) => {
  t.equal(crc32c(latin1('123456789')), 0xe3069283, "the polynomial's own example")
  const header = version2({ items: item(3, Buffer.alloc(4)) })
  header.writeUInt32BE(crc32c(header), header.length - 4)
  t.match(parseProxyHeader(header), { peerAddress: '192.0.2.7' })
  header[17]! ^= 1
  t.equal(parseProxyHeader(header), 'malformed')
})

t.test('a header may be as long as its limit, and not a byte longer', async (t) => {
  const room = LIMITS.proxyHeaderBytesMax - 28 - 3
  t.match(parseProxyHeader(version2({ items: item(4, Buffer.alloc(room)) })), {
    bytes: LIMITS.proxyHeaderBytesMax,
  })
  t.equal(parseProxyHeader(version2({ items: item(4, Buffer.alloc(room + 1)) })), 'malformed')
})

const TIMEOUTS = { head: 200, idle: 5000, keep_alive: 5000, connect: 1000, first_byte: 1000 }

async function startBehindProxy(
  t: Parameters<typeof startWire>[0],
  trustedProxies: readonly string[] = ['127.0.0.1'],
) {
  const origin = await startOrigin(t)
  const peers: { peerAddress: string; isSecure: boolean }[] = []
  const wire = await startWire(t, origin.url, {
    decide: (exchange, wire) => {
      peers.push({ peerAddress: exchange.peerAddress, isSecure: exchange.isSecure })
      exchange.forward(wire.plan(exchange))
    },
  })
  const { log, lines } = createTestLog()
  const listeners = createListeners({
    settings: { proxyProtocol: true, trustedProxies, timeouts: TIMEOUTS },
    protocols: { accept: wire.server.accept, acceptTls: () => t },
    log,
    clock: systemClock,
  })
  const port = await listening(listeners.plain)
  t.teardown(() => listeners.stop())
  return { port, peers, listeners, lines, origin }
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n'

t.test('however the header is cut, the request behind it is whole', async (t) => {
  const { port, peers } = await startBehindProxy(t)
  const bytes = Buffer.concat([version2({}), latin1(REQUEST)])
  for (const cutAt of [0, 1, 12, 16, 27, 28, 29, 40, bytes.length - 1]) {
    const client = new RawClient(port)
    client.send(bytes.subarray(0, cutAt))
    await new Promise((resolve) => setImmediate(resolve))
    client.send(bytes.subarray(cutAt))
    t.match(await client.answer(), { status: 200 }, `cut at ${cutAt}`)
    client.send(REQUEST)
    t.match(await client.answer(), { status: 200 }, 'and the connection goes on')
    client.close()
  }
  for (const peer of peers) t.same(peer, { peerAddress: '192.0.2.7', isSecure: false })
})

t.test('a body behind header and head arrives whole', async (t) => {
  const { port, origin } = await startBehindProxy(t)
  const body = 'x'.repeat(200_000)
  const client = new RawClient(port)
  client.send(
    `PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  t.match(await client.answer(), { status: 200 })
  client.close()
  t.equal(origin.seen[0]?.body.toString(), body)
})

t.test(
  'a balancer that sends no header, or a wrong one, is closed without an answer',
  async (t) => {
    const { port, peers, lines } = await startBehindProxy(t)
    for (const text of [REQUEST, 'PROXY nonsense\r\n' + REQUEST, '\r\n\r\n\0\r\nQUIX\n']) {
      const client = new RawClient(port)
      client.send(text)
      t.equal(await client.answer(), undefined, JSON.stringify(text))
      client.close()
    }
    t.same(peers, [])
    t.equal(lines.filter(({ msg }) => msg.includes('PROXY')).length, 1, 'said once a minute')
  },
)

t.test('a header that does not come is not waited for', async (t) => {
  const { port, listeners } = await startBehindProxy(t)
  const client = new RawClient(port)
  client.send('PROXY TCP4 192.0.2.7')
  t.equal(await client.answer(), undefined)
  client.close()
  await listeners.settled()
})

t.test('nobody but a balancer is believed', async (t) => {
  const { port, peers } = await startBehindProxy(t, ['10.0.0.0/8'])
  const forger = new RawClient(port)
  forger.send('PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n' + REQUEST)
  t.match(await forger.answer(), { status: 400 })
  forger.close()
  const honest = new RawClient(port)
  honest.send(REQUEST)
  t.match(await honest.answer(), { status: 200 })
  honest.close()
  t.same(peers, [{ peerAddress: '127.0.0.1', isSecure: false }])
})

t.test('what waits for its header is told of when it has settled', async (t) => {
  const protocol = createProxyProtocol({ headMs: 60_000 })
  const handed: Proxied[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    protocol.read(socket, '127.0.0.1', (proxied) => handed.push(proxied))
  })
  const port = await listening(server)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await protocol.settled()
  const client = new RawClient(port)
  const connected = new Promise((resolve) => server.once('connection', resolve))
  await connected
  const settled = protocol.settled()
  client.send('PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n')
  await settled
  t.match(handed, [{ peerAddress: '192.0.2.7' }])
  client.close()
})

t.test('the client is the first from the right that is no proxy of ours', async (t) => {
  const read = createAddressReader(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'])
  for (const [peer, forwardedFor, address, chain] of [
    ['203.0.113.5', '1.2.3.4', '203.0.113.5', ''],
    ['10.0.0.1', '1.2.3.4', '1.2.3.4', '1.2.3.4, 10.0.0.1'],
    ['10.0.0.1', '6.6.6.6, 1.2.3.4', '1.2.3.4', '1.2.3.4, 10.0.0.1'],
    ['10.0.0.1', '1.2.3.4, 10.9.9.9', '1.2.3.4', '1.2.3.4, 10.9.9.9, 10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', 'unknown', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '1.2.3.4, nonsense', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2', '10.0.0.2, 10.0.0.3, 10.0.0.1'],
    ['10.0.0.1', '1.2.3.4:80', '1.2.3.4', '1.2.3.4, 10.0.0.1'],
    ['10.0.0.1', '6.6.6.6, [2a00::7]:443', '2a00::7', '2a00::7, 10.0.0.1'],
    ['10.0.0.1', '[2a00::7]', '2a00::7', '2a00::7, 10.0.0.1'],
    ['10.0.0.1', '1.2.3.4:', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '[1.2.3.4', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '2a00::7:x', '10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '::ffff:1.2.3.4', '1.2.3.4', '1.2.3.4, 10.0.0.1'],
    ['2001:db8::1', '2a00::7', '2a00::7', '2a00::7, 2001:db8::1'],
    ['192.0.2.2', '1.2.3.4', '192.0.2.2', ''],
    ['nonsense', '1.2.3.4', 'nonsense', ''],
  ] as const) {
    const client = read(peer, forwardedFor)
    t.match(client, { address, chain, isPeerTrusted: chain !== '' }, `${peer} ← ${forwardedFor}`)
    const isUnread = address === '10.0.0.1' && forwardedFor !== ''
    t.equal(client.isUnread, isUnread, `${peer} ← ${forwardedFor}`)
  }
  t.same(createAddressReader([])('10.0.0.1', '1.2.3.4').address, '10.0.0.1')
  t.notOk(networkList(['0.0.0.0/0'])('nonsense'))
})
