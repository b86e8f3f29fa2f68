/** How a connector gets to a gateway: by a name with several addresses, and by a proxy that speaks TLS. */
import dns from 'node:dns'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { ask, dialIn, newConnectorKeys, openDoor } from '../../../../support/dialled-in.ts'
import { createTestAuthority } from '../../../../support/test-certificates.ts'
import { startOrigin } from '../../../../support/wire.ts'

/** What the resolver says of a name; not every machine has one with an address of IPv6. */
function resolve(t: Test, name: string, addresses: readonly dns.LookupAddress[]): void {
  const real = dns.lookup
  t.teardown(() => (dns.lookup = real))
  dns.lookup = ((host: string, options: dns.LookupAllOptions, done: Done) =>
    host === name
      ? process.nextTick(done, null, [...addresses])
      : real(host, options, done)) as typeof dns.lookup
}
type Done = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void

t.test('a name of which the first address refuses, and the other one is of IPv6', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const came: string[] = []
  const sockets = new Set<Socket>()
  const relay = createServer((near) => {
    came.push(near.localAddress ?? '')
    const far = connect(door.port, '127.0.0.1')
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined))
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) =>
    relay.listen({ port: 0, host: '::1', ipv6Only: true }, resolve),
  )
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    relay.close()
  })
  resolve(t, 'gateway.test', [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  const address = `gateway.test:${(relay.address() as AddressInfo).port}`
  await dialIn(t, { ...door, address }, keys, { origin: origin.url }).until('connected')
  t.match(await ask(door.upstream), { status: 200 })
  t.same(new Set(came), new Set(['::1']))
})

t.test('a proxy that is itself reached over TLS', async (t) => {
  const authority = createTestAuthority(t)
  const before = getCACertificates('default')
  t.teardown(() => setDefaultCACertificates(before))
  const { certificate_pem: cert, private_key_pem: key } = authority.issue('localhost')
  const sockets = new Set<Socket>()
  const seen: (string | undefined)[] = []
  const proxy = createSecureServer({ cert, key })
  proxy.on('connect', ({ url = '', headers }, socket: Socket) => {
    seen.push(headers['proxy-authorization'])
    const onward = connect({ host: '127.0.0.1', port: Number(url.split(':')[1]) }, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    for (const one of [socket, onward]) sockets.add(one.on('error', () => undefined))
  })
  proxy.on('connection', (socket: Socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const url = new URL(`https://me:secret@localhost:${(proxy.address() as AddressInfo).port}`)
  const options = {
    origin: origin.url,
    world: { dialling: { timeoutMs: 60_000, proxies: () => url } },
  }
  const stranger = dialIn(t, door, keys, options)
  t.match(await stranger.until('lost'), { reason: /the proxy localhost:\d+ cannot be reached/ })
  t.same(seen, [], 'its name and password are for a proxy that is trusted')
  stranger.tunnel.close()
  setDefaultCACertificates([...before, authority.caPem])
  await dialIn(t, door, keys, options).until('connected')
  t.match(await ask(door.upstream, { method: 'POST', body: 'x'.repeat(1000) }), { status: 200 })
  t.equal(seen[0], `Basic ${Buffer.from('me:secret').toString('base64')}`)
})
