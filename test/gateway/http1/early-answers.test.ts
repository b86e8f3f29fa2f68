/**
 * An answer that comes while the client is still sending its body arrives, whoever gives it: the rest
 * of the body is read and thrown away, for so many bytes and so long.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { Agent, fetch } from 'undici'
import { Deadlines } from '../../../gateway/wire/deadlines.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { temporaryFolder, until } from '../../support/fleet.ts'
import { HOST, startSecureWire } from '../../support/secure-wire.ts'
import {
  listening,
  RawClient,
  startRawOrigin,
  startWire,
  type WireOptions,
} from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const MIB = 1 << 20
const LARGE = Buffer.alloc(30 * MIB, ' ')
/** A minute in which nothing moves would be a minute of somebody who waits. */
const PATIENT = { headMs: 60_000, idleMs: 60_000, keepAliveMs: 60_000 }

/** Refuses what it has not read, and hangs up, as small servers do. */
const startRefuser = (t: Test) =>
  startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.pause()
      socket.write(
        'HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\ntoo much',
        () => socket.destroy(),
      )
    })
  })

const REFUSED = { status: 401, headerLines: [], body: 'who are you?' }

/** Ours where the path says so, else that of an application. */
async function startRefusing(t: Test, isSecure: boolean) {
  const origin = await startRefuser(t)
  if (isSecure) {
    const wire = await startSecureWire(t, origin.url, {
      decide: (exchange, wire) =>
        exchange.head.target === '/own'
          ? exchange.respond(REFUSED)
          : exchange.forward(wire.plan(exchange)),
    })
    return { origin: `https://${HOST}:${wire.port}`, port: wire.port, ca: wire.authority.caPem }
  }
  const wire = await startWire(t, origin.url, {
    decide: (exchange, wire) =>
      exchange.head.target === '/own'
        ? exchange.respond(REFUSED)
        : exchange.forward(wire.plan(exchange)),
  })
  return { origin: `http://${HOST}:${wire.port}`, port: wire.port, ca: '' }
}

const CASES = [
  ['/own', 401, 'who are you?'],
  ['/application', 413, 'too much'],
] as const

/** A name that only the tests know. */
const lookup = (
  _host: string,
  options: { all?: boolean },
  done: (error: null, found: unknown, family?: number) => void,
) =>
  options.all === true
    ? done(null, [{ address: '127.0.0.1', family: 4 }])
    : done(null, '127.0.0.1', 4)

/** Written in pieces, as by a client that has no length to tell. */
async function* pieces() {
  for (let at = 0; at < LARGE.length; at += MIB) yield LARGE.subarray(at, at + MIB)
}

for (const [name, isSecure, allowH2] of [
  ['HTTP/1.1', false, false],
  ['HTTP/1.1 over TLS', true, false],
  ['HTTP/2', true, true],
] as const)
  t.test(`${name}: fetch reads the answer to a body that it is still sending`, async (t) => {
    const { origin, ca } = await startRefusing(t, isSecure)
    // Over HTTP/2 undici resets what it has the answer to, and Node's client then never forgets what it
    // has not sent; with 10 MB of that it takes no answers any more. So a connection for each.
    const whole = allowH2 ? LARGE.subarray(0, 8 * MIB) : LARGE
    for (const [path, status, text] of CASES)
      for (const body of [whole, pieces()]) {
        const dispatcher = new Agent({ allowH2, connect: { ca, lookup: lookup as never } })
        t.teardown(() => dispatcher.destroy())
        const init = { method: 'POST', body, duplex: 'half', dispatcher } as const
        const answer = await fetch(origin + path, init)
        t.match([answer.status, await answer.text()], [status, text], path)
      }
  })

for (const [name, isSecure, more] of [
  ['HTTP/1.1', false, ['--http1.1']],
  ['HTTP/1.1 over TLS', true, ['--http1.1']],
  ['HTTP/2', true, ['--http2']],
] as const)
  t.test(`${name}: curl reads it, whether it waits for leave to send or not`, async (t) => {
    const { origin, port, ca } = await startRefusing(t, isSecure)
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'large'), LARGE)
    writeFileSync(join(folder, 'ca.pem'), ca)
    const place = ['--cacert', join(folder, 'ca.pem'), '--resolve', `${HOST}:${port}:127.0.0.1`]
    for (const [path, status, text] of CASES)
      for (const header of ['Expect:', 'Expect: 100-continue', 'Transfer-Encoding: chunked']) {
        if (more[0] === '--http2' && header.startsWith('Transfer')) continue
        const sent = ['--data-binary', `@${join(folder, 'large')}`, '-H', header]
        const args = ['-s', ...more, ...place, '-w', ' %{http_code}', '-m', '30', ...sent]
        const said = await new Promise<string>((resolve) =>
          execFile('curl', [...args, origin + path], (error, out) =>
            resolve(`${error?.code ?? 0} ${out}`),
          ),
        )
        t.equal(said, `0 ${text} ${status}`, `${path} ${header}`)
      }
  })

t.test('a client that writes all of it before it reads has its answer, too', async (t) => {
  for (const isSecure of [false, true])
    for (const [path, status] of CASES) {
      const { port, ca } = await startRefusing(t, isSecure)
      const socket: Socket = isSecure
        ? connectTls({ port, host: '127.0.0.1', servername: HOST, ca, ALPNProtocols: ['http/1.1'] })
        : connect(port, '127.0.0.1')
      t.teardown(() => socket.destroy())
      socket.pause()
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${LARGE.length}\r\n\r\n`,
      )
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.write(LARGE, () => resolve())
      })
      const [answer] = (await once(socket.resume(), 'data')) as [Buffer]
      t.match(answer.toString(), new RegExp(`^HTTP/1.1 ${status} `), `${path} TLS: ${isSecure}`)
    }
})

t.test('nor is the refusal of a head lost, whose body is on its way', async (t) => {
  const { port } = await startRefusing(t, false)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.socket.pause()
  client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nBad Name: 1\r\nContent-Length: 9\r\n\r\n`)
  await new Promise((resolve) => client.socket.write(LARGE, resolve))
  client.socket.resume()
  t.match(await client.answer('POST'), { status: 400, isWhole: true })
})

/** With a clock that the test holds, and the server's ends of its connections. */
async function startTimed(
  t: Test,
  limits: WireOptions['limits'] = {},
  announcedBytes: number = 1 << 30,
) {
  let nowMs = 1_000_000
  const clock = clockOf(() => nowMs)
  const deadlines = new Deadlines(clock, 3_600_000)
  const { server, outcomes } = await startWire(t, 'http://127.0.0.1:1', {
    clock,
    deadlines,
    timeouts: PATIENT,
    limits,
    decide: (exchange) => exchange.respond(REFUSED),
  })
  const accepted: Socket[] = []
  const front = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket)
    server.accept(socket)
  })
  const port = await listening(front)
  t.teardown(() => {
    front.close()
    deadlines.close()
  })
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.send(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: ${announcedBytes}\r\n\r\n`)
  t.match(await client.answer('POST'), { status: 401 })
  const [socket] = accepted
  return {
    server,
    outcomes,
    port,
    client,
    async sendByte() {
      const { bytesRead } = socket!
      client.send('x')
      await until(() => socket!.bytesRead > bytesRead)
    },
    pass(ms: number) {
      nowMs += ms
      deadlines.sweep()
    },
  }
}

t.test('whoever sends nothing more is waited for as long as nginx does', async (t) => {
  const { server, sendByte, pass } = await startTimed(t)
  pass(LIMITS.unwantedBodySilentMsMax - 1)
  t.equal(server.connections(), 1)
  await sendByte()
  pass(LIMITS.unwantedBodySilentMsMax - 1)
  t.equal(server.connections(), 1, 'a byte is a sign of life')
  pass(1)
  t.equal(server.connections(), 0)
  t.equal(LIMITS.unwantedBodySilentMsMax, 5000)
})

t.test('whoever goes on sending is read for so long', async (t) => {
  const { server, sendByte, pass } = await startTimed(t)
  for (let passedMs = 0; passedMs < LIMITS.unwantedBodyMsMax; passedMs += 1000) {
    t.equal(server.connections(), 1, `after ${passedMs} ms`)
    await sendByte()
    pass(1000)
  }
  t.equal(server.connections(), 0)
})

t.test('and for so many bytes', async (t) => {
  const { server, client } = await startTimed(t)
  let sent = 0
  const write = (): unknown =>
    client.socket.write(LARGE, (error) => {
      if (error) return
      sent += LARGE.length
      write()
    })
  write()
  await until(() => server.connections() === 0)
  t.ok(sent >= LIMITS.unwantedBodyBytesMax - LARGE.length, `${sent / MIB} MiB were taken`)
})

t.test('it counts among the connections of its address, and no stop waits for it', async (t) => {
  const { server, port, sendByte, pass } = await startTimed(t, { connectionsPerAddressMax: 1 })
  const another = new RawClient(port)
  another.send('GET / HTTP/1.1\r\n\r\n')
  t.equal(await another.answer(), undefined, 'there is no place for another one')
  t.equal(server.connections(), 1)
  const drained = server.drain(0)
  await sendByte()
  pass(LIMITS.lingerMsMax)
  await drained
  t.equal(server.connections(), 0)
})

/** The rest of it is read so that the connection can stay, and for nothing else. */
const startDraining = (t: Test) => startTimed(t, {}, LIMITS.drainedBodyBytesMax)

t.test('a body of which little is to come is waited for no longer than a large one', async (t) => {
  const { server, client, sendByte, pass } = await startDraining(t)
  const stepMs = LIMITS.unwantedBodySilentMsMax - 100
  let passedMs = 0
  for (; passedMs + stepMs < LIMITS.unwantedBodyMsMax; passedMs += stepMs) {
    await sendByte()
    pass(stepMs)
  }
  t.notOk(client.isClosed, `after ${passedMs} ms`)
  await sendByte()
  pass(LIMITS.unwantedBodyMsMax - passedMs)
  await client.closed
  await sendByte()
  pass(LIMITS.lingerMsMax)
  t.equal(server.connections(), 0, 'and nobody reads it for another twenty seconds')
  t.equal(LIMITS.unwantedBodyMsMax, 20_000)
})

t.test('nor in silence', async (t) => {
  const { client, pass } = await startDraining(t)
  pass(LIMITS.unwantedBodySilentMsMax - 1)
  t.notOk(client.isClosed)
  pass(1)
  await client.closed
})

t.test('its answer is told when it is given, and no stop waits for it', async (t) => {
  const { server, outcomes, client, sendByte, pass } = await startDraining(t)
  t.match(outcomes, [{ status: 401, isCut: false }])
  const drained = server.drain(30_000)
  await client.closed
  await sendByte()
  pass(LIMITS.lingerMsMax)
  await drained
  t.equal(outcomes.length, 1, 'once')
})

t.test('and who sends it in time has its next request answered', async (t) => {
  const { client, outcomes, pass } = await startDraining(t)
  pass(LIMITS.unwantedBodySilentMsMax - 1)
  client.send('x'.repeat(LIMITS.drainedBodyBytesMax))
  client.send(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
  t.match(await client.answer(), { status: 401 })
  pass(LIMITS.unwantedBodyMsMax)
  t.notOk(client.isClosed, 'an idle connection stays as any other does')
  t.equal(outcomes.length, 2)
})

t.test('who ends in the middle of it has its answer', async (t) => {
  const { client, outcomes } = await startDraining(t)
  client.socket.end('x')
  await client.closed
  t.match(outcomes, [{ status: 401, isCut: false }])
})
