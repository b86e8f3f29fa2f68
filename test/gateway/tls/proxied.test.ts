/** Behind a balancer that passes TLS through: its PROXY header stands before the handshake. */
import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { HOST } from '../../support/edge-world.ts'
import { startSecureEdge } from '../../support/secure-edge.ts'
import { ask } from '../../support/secure-wire.ts'
import { RawClient, startOrigin, type SeenRequest } from '../../support/wire.ts'

const VERSION_1 = 'PROXY TCP4 192.0.2.7 192.0.2.8 56324 443\r\n'
const VERSION_1_IPV6 = 'PROXY TCP6 2001:db8::7 2001:db8::8 56324 443\r\n'
const VERSION_2 = Buffer.concat([
  Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c', 'latin1'),
  Buffer.from([192, 0, 2, 9, 192, 0, 2, 8, 0xdc, 4, 1, 0xbb]),
])
/** A balancer's health check, which speaks for itself. */
const LOCAL = Buffer.from('\r\n\r\n\0\r\nQUIT\n\x20\0\0\0', 'latin1')

function told({ rawHeaders }: SeenRequest): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (let at = 0; at < rawHeaders.length; at += 2)
    (found[rawHeaders[at]!.toLowerCase()] ??= []).push(rawHeaders[at + 1]!)
  return found
}

async function askHttp1(socket: TLSSocket): Promise<string> {
  socket.write(
    `GET /health HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n\r\n`,
  )
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return chunk.toString('latin1')
}

t.test(
  'the client of a PROXY header before TLS is the one that the application is told of',
  async (t) => {
    const origin = await startOrigin(t)
    const edge = await startSecureEdge(t, origin.url, { balancers: ['127.0.0.1'] })
    for (const [header, address, node] of [
      [VERSION_1, '192.0.2.7', '192.0.2.7'],
      [VERSION_1_IPV6, '2001:db8::7', '"[2001:db8::7]"'],
      [VERSION_2, '192.0.2.9', '192.0.2.9'],
      [LOCAL, '127.0.0.1', '127.0.0.1'],
    ] as const)
      for (const [protocol, how] of [
        ['http/1.1', 'together'],
        ['http/1.1', 'apart'],
        ['h2', 'together'],
        ['h2', 'apart'],
        ['h2', 'byte by byte'],
      ] as const) {
        const before = origin.seen.length
        if (protocol === 'h2') {
          const headers = { ':path': '/health', ':authority': HOST, 'x-forwarded-for': '6.6.6.6' }
          t.match(await ask(await edge.http2({ header, how }), headers), { status: 200 })
        } else
          t.match(await askHttp1(await edge.tls(protocol, { header, how })), /^HTTP\/1\.1 200 /)
        t.match(
          told(origin.seen[before]!),
          {
            'x-forwarded-for': [address],
            'x-forwarded-proto': ['https'],
            forwarded: [`for=${node};host="${HOST}";proto=https`],
          },
          `${protocol} ${address} ${how}`,
        )
        t.equal(edge.lines.at(-1)?.['client'], address, 'and the log')
      }
  },
)

/** No client: what it carries is somebody's whom the balancer does not know, or its own. */
const NOBODY = [
  LOCAL,
  'PROXY UNKNOWN\r\n',
  'PROXY UNKNOWN 192.0.2.7 192.0.2.8 1 2\r\n',
  Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\0\0\0', 'latin1'),
] as const

t.test('where a balancer names nobody, nothing that is forwarded is believed', async (t) => {
  const origin = await startOrigin(t)
  const balancers = ['127.0.0.1']
  const edge = await startSecureEdge(t, origin.url, { balancers, trustedProxies: balancers })
  const forwarded = { 'x-forwarded-for': '6.6.6.6', 'x-request-id': 'made-up-elsewhere' }
  const isOwn = () => {
    const head = told(origin.seen.at(-1)!)
    t.match(head, { 'x-forwarded-for': ['127.0.0.1'], 'x-forwarded-proto': ['https'] })
    t.notMatch(head, { 'x-request-id': ['made-up-elsewhere'] })
    t.equal(edge.lines.at(-1)?.['client'], '127.0.0.1')
  }
  for (const header of NOBODY) {
    const proxied = { header, how: 'together' } as const
    t.match(await askHttp1(await edge.tls('http/1.1', proxied)), /^HTTP\/1\.1 200 /)
    isOwn()
    const request = { ':path': '/health', ':authority': HOST, ...forwarded }
    t.match(await ask(await edge.http2(proxied), request), { status: 200 })
    isOwn()
  }
  const named = { header: 'PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n', how: 'together' } as const
  t.match(await askHttp1(await edge.tls('http/1.1', named)), /^HTTP\/1\.1 200 /)
  t.match(told(origin.seen.at(-1)!), { 'x-forwarded-for': ['6.6.6.6, 127.0.0.1'] }, 'a proxy is')
})

t.test('the same in the clear, where it would say that TLS has been', async (t) => {
  const origin = await startOrigin(t)
  const balancers = ['127.0.0.1']
  const edge = await startSecureEdge(t, origin.url, { balancers, trustedProxies: balancers })
  for (const header of [...NOBODY, 'PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n']) {
    const client = new RawClient(edge.plainPort)
    t.teardown(() => client.close())
    client.send(Buffer.from(header as string, 'latin1'))
    client.send(
      `GET /health HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n\r\n`,
    )
    const isNamed = !NOBODY.includes(header as never)
    t.match(await client.answer(), { status: 200 })
    t.match(told(origin.seen.at(-1)!), {
      'x-forwarded-for': [isNamed ? '6.6.6.6, 127.0.0.1' : '127.0.0.1'],
      'x-forwarded-proto': [isNamed ? 'https' : 'http'],
    })
  }
})

t.test(
  'a handshake without its PROXY header, or behind a wrong one, does not come about',
  async (t) => {
    const origin = await startOrigin(t)
    const edge = await startSecureEdge(t, origin.url, { balancers: ['127.0.0.1'] })
    for (const header of [undefined, 'PROXY TCP4 nonsense\r\n', VERSION_1 + VERSION_1]) {
      const socket = await edge.tls(
        'h2',
        header === undefined ? undefined : { header, how: 'together' },
      )
      t.notOk(socket.authorized, String(header))
    }
    t.equal(edge.gateway.server.connections(), 0)
  },
)

t.test('who is no balancer cannot say who it is', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startSecureEdge(t, origin.url, { balancers: ['10.0.0.0/8'] })
  t.notOk((await edge.tls('http/1.1', { header: VERSION_1, how: 'apart' })).authorized)
  t.match(await askHttp1(await edge.tls('http/1.1')), /^HTTP\/1\.1 200 /)
  t.match(told(origin.seen[0]!), { 'x-forwarded-for': ['127.0.0.1'] })
})
