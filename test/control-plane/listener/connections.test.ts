/** Connections of the public listener: how many one address has, and who reads too slowly. */
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { REALM, startListener } from './served.ts'

const GET = `GET ${REALM} HTTP/1.1\r\nHost: a\r\n\r\n`
const MEGABYTE = Buffer.alloc(1024 * 1024, 'x')

type Scope = Parameters<typeof startListener>[0]

/** Open, and with as many answers read as are asked for. */
async function open(t: Scope, port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

const closed = (socket: Socket) => (socket.destroyed ? undefined : once(socket.resume(), 'close'))

/** Handlers that answer when they are told to. */
function held() {
  const waiting: (() => void)[] = []
  let told: (() => void) | undefined
  return {
    handle: (_request: unknown, response: { end(body: string): unknown }) => {
      waiting.push(() => response.end('done'))
      told?.()
    },
    async count(most: number) {
      while (waiting.length < most) await new Promise<void>((resolve) => void (told = resolve))
    },
    release: () => waiting.forEach((answer) => answer()),
  }
}

t.test('N requests of an address run at once, the next connection is closed', async (t) => {
  const { handle, count, release } = held()
  const { port, lines } = await startListener(t, handle, { connectionLimits: { perAddressMax: 3 } })
  const busy = await Promise.all([1, 2, 3].map(() => open(t, port, GET)))
  await count(3)
  await closed(await open(t, port))
  t.equal(lines.filter(({ msg }) => String(msg).includes('as many connections')).length, 1)
  await closed(await open(t, port))
  t.equal(lines.length, 1, 'which is said once a minute')
  release()
  for (const socket of busy) t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /)
})

t.test('a kept connection that waits makes room for a new one', async (t) => {
  const { port } = await startListener(t, (_request, response) => void response.end('done'), {
    connectionLimits: { perAddressMax: 3 },
  })
  const kept = await open(t, port, GET)
  await once(kept, 'data')
  const silent = [await open(t, port), await open(t, port)]
  const last = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
  t.match(await rawRequest(port, last), / 200 /)
  await closed(kept)
  t.match(await rawRequest(port, last), / 200 /)
  for (const socket of silent) t.equal(socket.destroyed, false, 'and only one for each')
  t.equal(LIMITS.publicConnectionsPerAddressMax, 512)
})

t.test('the connections of a trusted proxy are many clients', async (t) => {
  const { handle, count, release } = held()
  const { port } = await startListener(t, handle, {
    trustedProxies: ['127.0.0.1'],
    connectionLimits: { perAddressMax: 1 },
  })
  const busy = await Promise.all([1, 2, 3].map(() => open(t, port, GET)))
  await count(3)
  release()
  for (const socket of busy) t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /)
})

t.test('behind a PROXY header the clients are counted and not the balancer', async (t) => {
  const { handle, count, release } = held()
  const { port } = await startListener(t, handle, {
    trustedProxies: ['127.0.0.1'],
    proxyProtocol: true,
    connectionLimits: { perAddressMax: 1 },
  })
  const from = (address: string) => `PROXY TCP6 ${address} ::1 1 2\r\n${GET}`
  const first = await open(t, port, from('2001:db8::1'))
  await count(1)
  await closed(await open(t, port, from('2001:db8::2')))
  const other = await open(t, port, from('2001:db8:0:1::1'))
  await count(2)
  release()
  for (const socket of [first, other])
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /)
})

/** From these addresses, as a balancer says; each has its request under way, or has had its answer. */
const fromIpv6 = (address: string) => `PROXY TCP6 ${address} ::1 1 2\r\n${GET}`
const BALANCED = { trustedProxies: ['127.0.0.1'], proxyProtocol: true }

t.test('one site with all of its networks leaves the others their connections', async (t) => {
  const { handle, count, release } = held()
  const { port } = await startListener(t, handle, {
    ...BALANCED,
    connectionLimits: { perAddressMax: 2, maxOfAll: 8 },
  })
  const busy: Socket[] = []
  for (const network of [1, 2, 3, 4])
    busy.push(await open(t, port, fromIpv6(`2001:db8:0:${network}::1`)))
  await count(4)
  await closed(await open(t, port, fromIpv6('2001:db8:0:5::1')))
  for (const site of [1, 2, 3]) busy.push(await open(t, port, fromIpv6(`2001:db8:${site}::1`)))
  await count(7)
  busy.push(await open(t, port, fromIpv6('2001:db8:1:1::1')))
  await count(8)
  release()
  for (const socket of busy) t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /)
  t.ok(LIMITS.publicConnectionsMaxOfAll >= 32 * LIMITS.publicConnectionsPerAddressMax)
})

t.test('a kept connection of a site makes room for another network of it', async (t) => {
  const { port } = await startListener(t, (_request, response) => void response.end('done'), {
    ...BALANCED,
    connectionLimits: { perAddressMax: 2, maxOfAll: 4 },
  })
  const answered = async (address: string) => {
    const socket = await open(t, port, fromIpv6(address))
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /, address)
    return socket
  }
  const kept = [await answered('2001:db8:0:1::1'), await answered('2001:db8:0:2::1')]
  const last = [await answered('2001:db8:0:3::1'), await answered('2001:db8:0:4::1')]
  for (const socket of kept) await closed(socket)
  t.same(
    last.map(({ destroyed }) => destroyed),
    [false, false],
  )
  const other = await answered('2001:db8:9:1::1')
  t.equal(other.destroyed, false)
})

t.test('who reads nothing of an answer is cut', async (t) => {
  const { port, lines } = await startListener(
    t,
    (_request, response) => void response.end(Buffer.alloc(16 * MEGABYTE.length, 'x')),
    { connectionLimits: { stalledMs: 50 } },
  )
  const socket = await open(t, port, GET)
  socket.pause()
  while (lines.length === 0) await new Promise(setImmediate)
  t.match(lines, [{ msg: 'request', status: 200, cut: true }])
  t.ok(LIMITS.answerStalledMsMax <= 30_000)
})

t.test('who reads nothing of an answer that the system has taken whole is cut, too', async (t) => {
  const answer = Buffer.alloc(4 * LIMITS.lingeringAnswerBytesMin, 'x')
  const { port, server } = await startListener(
    t,
    (_request, response) => void response.writeHead(200, { Connection: 'close' }).end(answer),
    { connectionLimits: { stalledMs: 500 } },
  )
  const served = once(server, 'connection') as Promise<[Socket]>
  const socket = await open(t, port, GET)
  socket.pause()
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.once('error', resolve))
  const [accepted] = await served
  await once(accepted, 'close')
  socket.resume()
  t.match(await failed, { code: 'ECONNRESET' }, 'so nothing of it is offered for ever')
})

t.test('nothing is begun behind the last answer of a connection', async (t) => {
  const paths: string[] = []
  const given = Promise.withResolvers<void>()
  const { port } = await startListener(t, (request, response) => {
    paths.push(request.url ?? '')
    response.once('finish', given.resolve)
    response.writeHead(200, { Connection: 'close' }).end(MEGABYTE)
  })
  const socket = await open(t, port, GET)
  socket.resume()
  await given.promise
  socket.write(GET)
  await closed(socket)
  t.equal(paths.length, 1)
})

t.test('what is asked without waiting is begun one after the other', async (t) => {
  const paths: string[] = []
  const answers: (() => void)[] = []
  const { port } = await startListener(t, (request, response) => {
    paths.push(request.url ?? '')
    answers.push(() => response.end(request.url))
  })
  const asked = ['a', 'b', 'c'].map((name) => GET.replace(REALM, `${REALM}/${name}`)).join('')
  const socket = await open(t, port, asked)
  let text = ''
  socket.on('data', (bytes: Buffer) => void (text += bytes.toString('latin1')))
  for (const count of [1, 2, 3]) {
    while (answers.length < count) await new Promise(setImmediate)
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    t.equal(answers.length, count, 'and no other before its answer')
    answers[count - 1]?.()
  }
  while (!text.endsWith('/c')) await new Promise(setImmediate)
  t.same(paths, [`${REALM}/a`, `${REALM}/b`, `${REALM}/c`])
  t.equal(text.match(/HTTP\/1.1 200 /g)?.length, 3)
})

t.test('N requests without an answer are taken, one more is the last', async (t) => {
  let handled = 0
  const { port } = await startListener(t, (_request, response) => {
    handled++
    setImmediate(() => response.end('done'))
  })
  const most = LIMITS.pipelinedRequestsMax
  let text = ''
  const ask = async (count: number) => {
    handled = 0
    text = ''
    const last = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    const socket = await open(t, port, GET.repeat(count - 1) + last)
    socket.on('data', (bytes: Buffer) => void (text += bytes.toString('latin1')))
    await new Promise((resolve) => socket.once('close', resolve))
  }
  await ask(most)
  t.equal(text.match(/HTTP\/1.1 200 /g)?.length, most)
  await ask(most + 2)
  t.equal(handled, most, 'what is beyond is not worked on')
  t.equal(text.match(/HTTP\/1.1 200 /g)?.length, most)
  t.match(text, /HTTP\/1.1 503 [^]*retry-after: 10[^]*"unavailable"[^]*$/i)
  await ask(100)
  t.ok(handled <= 1, 'and who sends many is no client')
  t.equal(text, '')
  t.equal(most, 8)
})

t.test('heads that wait are held as well', async (t) => {
  const { handle, count, release } = held()
  const { port } = await startListener(t, handle, {
    connectionLimits: { unsentBytesPerAddressMax: 3 * LIMITS.headBytesMax },
  })
  await open(t, port, GET.repeat(1 + 4))
  await count(1)
  const other = await open(t, port, GET)
  t.match(String((await once(other, 'data'))[0]), /^HTTP\/1.1 503 /)
  release()
})

t.test('what all addresses hold together is bounded: the largest holder is cut', async (t) => {
  const sizes: Record<string, number> = { large: 16, small: 3 }
  const { port, server } = await startListener(
    t,
    (request, response) =>
      void response.end(Buffer.alloc((sizes[request.url?.slice(-5) ?? ''] ?? 3) * 1024 * 1024)),
    {
      trustedProxies: ['127.0.0.1'],
      proxyProtocol: true,
      connectionLimits: { unsentBytesMax: 15 * MEGABYTE.length, unsentLookedAtMs: 1 },
    },
  )
  const ended: string[] = []
  const ask = async (address: string, path: string) => {
    const taken = once(server, 'connection') as Promise<[Socket]>
    const client = await open(
      t,
      port,
      `PROXY TCP6 ${address} ::1 1 2\r\n${GET.replace(REALM, `${REALM}/${path}`)}`,
    )
    client.pause()
    const [socket] = await taken
    socket.once('close', () => ended.push(path))
    return socket
  }
  const small = await ask('2001:db8::1', 'small')
  const large = await ask('2001:db8:0:1::1', 'large')
  await once(large, 'close')
  t.same(ended, ['large'])
  t.equal(small.destroyed, false)
  t.equal(LIMITS.unsentBytesMax, 256 * MEGABYTE.length)
  t.ok(LIMITS.unsentLookedAtMs <= 1000)
})

t.test('the networks of one site are one holder', async (t) => {
  const sizes: Record<string, number> = { ofOne: 7, other: 9 }
  const { port, server } = await startListener(
    t,
    (request, response) =>
      void response.end(Buffer.alloc((sizes[request.url?.slice(-5) ?? ''] ?? 0) * MEGABYTE.length)),
    {
      ...BALANCED,
      connectionLimits: { unsentBytesMax: 18 * MEGABYTE.length, unsentLookedAtMs: 1 },
    },
  )
  const ask = async (address: string, path: string) => {
    const taken = once(server, 'connection') as Promise<[Socket]>
    const text = fromIpv6(address).replace(REALM, `${REALM}/${path}`)
    const client = await open(t, port, text)
    client.pause()
    return (await taken)[0]
  }
  const other = await ask('2001:db8:9:1::1', 'other')
  const ofOne = [await ask('2001:db8:1:1::1', 'ofOne'), await ask('2001:db8:1:2::1', 'ofOne')]
  await Promise.any([...ofOne, other].map((socket) => once(socket, 'close')))
  t.equal(other.destroyed, false)
})

t.test('who reads a little now and then is cut as well', async (t) => {
  const { port, lines } = await startListener(
    t,
    (_request, response) => void response.end(Buffer.alloc(16 * MEGABYTE.length, 'x')),
    { connectionLimits: { unsentMs: 20 } },
  )
  const socket = await open(t, port, GET)
  socket.on('readable', () => void socket.read(1000))
  while (lines.length === 0) {
    socket.read(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.match(lines, [{ msg: 'request', cut: true }])
  t.equal(LIMITS.answerUnsentMsMax, 120_000)
})

t.test('an answer that takes its time is waited for, and so is its reader', async (t) => {
  let answer = (): void => undefined
  const { port, server } = await startListener(
    t,
    (_request, response) => void (answer = () => void response.end('done')),
    { connectionLimits: { stalledMs: 100 } },
  )
  const stalled = once(server, 'timeout')
  const socket = await open(t, port, GET)
  await stalled
  answer()
  t.match(String((await once(socket, 'data'))[0]), /done/)
})

t.test('an address that leaves too much unread is asked to come back', async (t) => {
  const bytes = 8 * MEGABYTE.length
  const { port } = await startListener(
    t,
    (_request, response) => void response.end(Buffer.alloc(bytes, 'x')),
    { connectionLimits: { unsentBytesPerAddressMax: bytes } },
  )
  const readers: Socket[] = []
  let refused = ''
  while (refused === '' && readers.length < 10) {
    const socket = await open(t, port, GET)
    readers.push(socket)
    const [head] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    if (!head.toString('latin1').startsWith('HTTP/1.1 200 ')) refused = head.toString()
  }
  t.match(refused, /^HTTP\/1.1 503 [^]*retry-after: 10[^]*"unavailable"/i)
  t.ok(readers.length <= 4, `${readers.length} were served before`)
  for (const reader of readers) reader.destroy()
  t.equal(LIMITS.unsentBytesPerAddressMax, 32 * MEGABYTE.length)
})
