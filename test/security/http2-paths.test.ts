/** The samples of paths and headers that try to get round the decision, over HTTP/2, whole gateway. */
import { readFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import type { OutgoingHttpHeaders } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { HOST, startEdge } from '../support/edge-world.ts'
import { FrameClient, requestFields, TYPE } from '../support/http2-frames.ts'
import { answerOf } from '../support/secure-wire.ts'
import { createTestAuthority } from '../support/test-certificates.ts'
import { listening, startOrigin } from '../support/wire.ts'
import { rawListener } from '../support/raw-listener.ts'

interface PathCase {
  readonly id: string
  readonly target: string
  readonly require: string
  readonly allow: readonly string[]
  readonly why: string
  readonly headers?: Record<string, string>
  readonly forwarded_target_if_public?: string
}

const path = new URL('../fixtures/path-bypass-cases.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly PathCase[] }

async function start(t: Test) {
  const origin = await startOrigin(t)
  const authority = createTestAuthority(t)
  const edge = await startEdge(t, origin.url, {
    protection: 'on',
    edge_urls: { [HOST]: `https://${HOST}` },
    certificates: [authority.issue(HOST)],
  })
  const listener = rawListener(edge.gateway.server.acceptTls)
  const port = await listening(listener)
  t.teardown(() => listener.close())
  const tls = () => {
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      servername: HOST,
      ca: authority.caPem,
      ALPNProtocols: ['h2'],
    })
    socket.on('error', () => undefined)
    t.teardown(() => socket.destroy())
    return socket
  }
  return { origin, edge, port, tls }
}

const judged = (status: number, wasForwarded: boolean): string => {
  if (wasForwarded) return 'public'
  if (status === 404) return 'sealed-404'
  if (status === 400) return 'reject-400'
  return status === 302 || status === 401 ? 'session' : `${status}`
}

/** How an application that is generous in what it accepts may read a path. */
function generous(target: string): string {
  let read = target.split(/[?#]/)[0]!
  for (let round = 0; round < 2; round++)
    read = read.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  read = read
    .replace(/\\/g, '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/+/g, '/')
    .toLowerCase()
  return new URL(read, 'http://x').pathname
}

t.test('no sample gets round the decision over HTTP/2, with or without a session', async (t) => {
  const { origin, edge, tls } = await start(t)
  const session = connectHttp2(`https://${HOST}`, { createConnection: tls })
  session.on('error', () => undefined)
  t.teardown(() => session.destroy())
  for (const given of cases)
    for (const cookie of ['', edge.session()]) {
      const before = origin.begun()
      const headers: OutgoingHttpHeaders = {
        ':authority': HOST,
        ':path': given.target,
        accept: 'text/html',
      }
      for (const [name, value] of Object.entries(given.headers ?? {}))
        if (!/^(?:host|connection|upgrade)$/i.test(name)) headers[name] = value
      if (cookie !== '') headers['cookie'] = cookie
      const { status, rstCode } = await answerOf(session.request(headers))
      const wasForwarded = origin.begun() > before
      const what = status === 0 ? `reset ${rstCode}` : judged(status, wasForwarded)
      const name = `${given.id} ${given.target} (${given.why})`
      if (wasForwarded) {
        const seen = origin.seen.at(-1)!
        t.equal(seen.target, given.target, `${name}: what was decided on is forwarded`)
        t.notOk(/^\/admin(?:\/|$)/.test(generous(seen.target)), `${name}: not the sealed path`)
        if (cookie === '')
          t.ok(generous(seen.target).startsWith('/health'), `${name}: not without a session`)
      }
      if (cookie === '')
        t.ok(
          given.allow.includes(what) || (what.startsWith('reset') && !wasForwarded),
          `${name}: ${what}, allowed ${given.allow.join()}`,
        )
      else if (given.require === 'sealed-404')
        t.notOk(wasForwarded, `${name}: sealed with a session`)
    }
})

t.test('malformed requests reach nobody, and the connection or its stream ends', async (t) => {
  const { origin, tls } = await start(t)
  const get = (more: readonly (readonly [string, string])[], path = '/health') =>
    requestFields(HOST, path, more)
  const attacks: Record<string, Buffer> = {
    'an upper-case name': get([['X-Upper', 'x']]),
    'connection-specific': get([['connection', 'close']]),
    'transfer-encoding': get([['transfer-encoding', 'chunked']]),
    upgrade: get([['upgrade', 'websocket']]),
    'te gzip': get([['te', 'gzip']]),
    'a second path': get([[':path', '/admin']]),
    'a pseudo-header behind a header': get([
      ['x', 'y'],
      [':method', 'GET'],
    ]),
    'an unknown pseudo-header': get([[':path2', '/admin']]),
    'CR LF in the path': get([], '/health HTTP/1.1\r\nHost: evil\r\n\r\nGET /admin'),
    'a space in the path': get([], '/health /admin'),
    'an absolute path': get([], `https://${HOST}/admin`),
    'no slash': get([], 'admin'),
    'an empty path': get([], ''),
    'a length for nothing': get([['content-length', '5']]),
    'two lengths': get([
      ['content-length', '0'],
      ['content-length', '1'],
    ]),
    'another host': get([['host', 'evil.test']]),
    'garbage for HPACK': Buffer.from('ffffffffffffffffffff', 'hex'),
    'an index beyond the table': Buffer.from([0xff, 0x80, 0x01]),
    'a cut field': get([['x', 'y']]).subarray(0, -1),
    nothing: Buffer.alloc(0),
  }
  for (const [name, block] of Object.entries(attacks)) {
    const client = new FrameClient(tls())
    client.request(1, block)
    await client.settled()
    const head = client.frames.find(({ type, stream }) => type === TYPE.headers && stream === 1)
    const isRefused = client.isClosed || client.resetCode(1) !== undefined || head !== undefined
    t.ok(isRefused, name)
    t.equal(origin.begun(), 0, `${name}: nothing arrived`)
    client.socket.destroy()
  }
})

t.test(
  'a field that is none is left out by nghttp2: the rest arrives, and only that',
  async (t) => {
    const { origin, tls } = await start(t)
    for (const [name, value] of [
      ['x', 'evil\r\nx-service-user: root'],
      ['x', 'evil\nz'],
      ['x', 'evil\rz'],
      ['x', 'evil\0z'],
      ['x\r\nevil', 'z'],
      ['x\0evil', 'z'],
      ['x:evil', 'z'],
      ['x evil', 'z'],
      ['', 'evil'],
      ['cookie', 'evil=1\r\nx: y'],
    ] as const) {
      const client = new FrameClient(tls())
      client.request(
        1,
        requestFields(HOST, '/health', [
          ['x-good', 'yes'],
          [name, value],
        ]),
      )
      await client.until(
        ({ type, stream }) => stream === 1 && (type === TYPE.data || type === TYPE.reset),
      )
      client.socket.destroy()
      for (const { rawHeaders, target, body } of origin.seen) {
        t.equal(target, '/health')
        t.equal(body.length, 0)
        t.notMatch(rawHeaders.join('|'), /evil|root/, JSON.stringify([name, value]))
        t.ok(rawHeaders.includes('x-good'))
      }
    }
  },
)

t.test('frames of any shape crash nothing', async (t) => {
  const { origin, tls } = await start(t)
  let seed = 42
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  for (let round = 0; round < 60; round++) {
    const client = new FrameClient(tls())
    for (let count = 0; count < 8; count++) {
      const length = random(4) === 0 ? random(70_000) : random(40)
      const bytes = Buffer.alloc(9 + length, random(256))
      bytes.writeUIntBE(random(5) === 0 ? random(2 ** 24) : length, 0, 3)
      bytes[3] = random(12)
      bytes[4] = random(256)
      bytes.writeUInt32BE(random(4) === 0 ? random(2 ** 31) : random(8), 5)
      client.send(bytes)
    }
    client.socket.end()
    await client.closed
  }
  const client = new FrameClient(tls())
  client.request(1, requestFields(HOST, '/health'))
  t.ok(await client.until(({ type, stream }) => type === TYPE.headers && stream === 1))
  t.ok(origin.seen.every(({ target }) => target === '/health'))
})
