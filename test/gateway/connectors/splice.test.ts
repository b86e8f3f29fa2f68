/** Bytes between edge and application: none is lost at an end, and no cut looks like an end. */
import { connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import t, { type Test } from 'tap'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import { applicationAddress } from '../../../control-plane/downloads/connector/tunnel/splice.ts'
import { certificateFor } from '../../support/certificate.ts'
import { askEveryCut, startCutOrigin } from '../../support/cut-answers.ts'
import { ask, dialIn, newConnectorKeys, openDoor } from '../../support/dialled-in.ts'
import { listening, RawClient, startRawOrigin, startWire } from '../../support/wire.ts'

async function startTunnelled(t: Test, origin: string) {
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const connector = dialIn(t, door, keys, { origin })
  await connector.until('connected')
  const way = door.connectors.wayTo('acme')
  const wire = await startWire(t, 'http://application.internal', { upstreamOptions: { way } })
  const client = () => {
    const one = new RawClient(wire.port)
    t.teardown(() => one.close())
    return one
  }
  return { door, connector, wire, client }
}

const UPLOAD = 'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n'
const answerOf = (text: string, lines = `Content-Length: ${text.length}\r\n`) =>
  `HTTP/1.1 413 Too Large\r\nConnection: close\r\n${lines}\r\n${text}`

t.test('who answers an upload and hangs up while it is written is heard', async (t) => {
  const long = 'too much '.repeat(20_000)
  const cases: [string, (socket: Socket) => void, string][] = [
    ['with a reset', (socket) => socket.end(answerOf('no'), () => socket.destroy()), 'no'],
    ['in good order', (socket) => socket.end(answerOf(long)).resume(), long],
    ['until the end', (socket) => socket.end(answerOf(long, '')).resume(), long],
  ]
  for (const [name, hangUp, body] of cases)
    await t.test(name, async (t) => {
      const origin = await startRawOrigin(t, (socket) => socket.once('data', () => hangUp(socket)))
      const { client, connector } = await startTunnelled(t, origin.url)
      for (let round = 0; round < 5; round++) {
        const one = client().send(UPLOAD)
        for (let piece = 0; piece < 50; piece++) one.send(Buffer.alloc(100_000))
        const answer = await one.answer()
        t.match(answer, { status: 413, isWhole: true })
        t.ok(answer?.body.toString() === body)
        one.close()
      }
      while (connector.tunnel.status()[0]!.inUse > 0) await new Promise((next) => setTimeout(next))
    })
})

t.test('an answer that breaks off is a 502 or a cut, and the tunnel goes on', async (t) => {
  const origin = await startCutOrigin(t)
  const { client } = await startTunnelled(t, origin.url)
  let one = client()
  const askOnce = async (path: string) => {
    one.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    const answer = await one.answer()
    if (answer?.isWhole === true) return answer
    one.close()
    one = client()
    return answer
  }
  // A prime: of each place within a line there is one.
  const counts = await askEveryCut(origin, askOnce, 7)
  t.same(counts.wrong, [])
  t.ok(counts.refused > 0 && counts.cut > 0)
})

t.test('an answer that lasts until the end, and is cut off instead', async (t) => {
  const origin = await startRawOrigin(t, (socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 200 OK\r\n\r\nhalf of it', () =>
        setImmediate(() => socket.resetAndDestroy()),
      ),
    ),
  )
  const { door } = await startTunnelled(t, origin.url)
  for (let round = 0; round < 5; round++)
    t.match(await ask(door.upstream), { failure: 'upstream_reset' })
})

t.test('a reader that pauses gets the last byte, however it ended behind it', async (t) => {
  const bytes = 60_000
  for (const ending of ['end', 'resetAndDestroy'] as const) {
    const origin = await startRawOrigin(t, (socket) =>
      socket.once('data', () =>
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`,
          () => setTimeout(() => socket[ending](), 20),
        ),
      ),
    )
    const { door } = await startTunnelled(t, origin.url)
    const answer = await paused(door.upstream)
    t.same(answer, { received: bytes, failure: '' }, ending)
  }
})

/** Takes what one read brings, and then nothing for a while. */
function paused(upstream: ReturnType<typeof createUpstream>) {
  return new Promise<{ received: number; failure: string }>((resolve) => {
    let received = 0
    const call = upstream.request(
      {
        method: 'GET',
        target: '/',
        lines: 'Host: a\r\n',
        bodyLength: 0,
        hasLength: false,
        firstBody: '',
        isBodyWhole: true,
        isRawChunked: false,
      },
      {
        wantsRawChunks: false,
        onInformational: () => undefined,
        onHead: () => undefined,
        onText: (text) => (received += text.length),
        onReadEnd: () => undefined,
        onData(_buffer, from, to) {
          received += to - from
          call.pause()
          setTimeout(() => call.resume(), 50)
        },
        onEnd: () => resolve({ received, failure: '' }),
        onError: ({ code }) => resolve({ received, failure: code }),
        onDrain: () => undefined,
      },
    )
  })
}

t.test('what has come before a failed write is read of a socket that was given', async (t) => {
  const origin = await startRawOrigin(t, (socket) =>
    socket.once('data', () => {
      socket.end(answerOf('too much'), () => socket.destroy())
      socket.once('close', () => gone.resolve())
    }),
  )
  const gone = Promise.withResolvers<void>()
  const upstream = createUpstream({
    origin: 'http://application.internal',
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    way: {
      isCrowded: () => false,
      hasRoomFor: () => true,
      roomNow: () => () => true,
      open(opening) {
        const socket = connect({ port: origin.port, host: '127.0.0.1' }, () =>
          opening.onOpened(socket),
        )
      },
    },
  })
  t.teardown(() => upstream.close())
  const over = Promise.withResolvers<string>()
  let body = ''
  const call = upstream.request(
    {
      method: 'POST',
      target: '/',
      lines: 'Host: a\r\n',
      bodyLength: 1000,
      hasLength: true,
      firstBody: 'x',
      isBodyWhole: false,
      isRawChunked: false,
    },
    {
      wantsRawChunks: false,
      onInformational: () => undefined,
      onHead: ({ status }) => (body += `${status} `),
      onText: (text) => (body += text),
      onData: (buffer, from, to) => (body += buffer.toString('latin1', from, to)),
      onReadEnd: () => undefined,
      onEnd: () => over.resolve(body),
      onError: ({ code }) => over.resolve(`${body}${code}`),
      onDrain: () => undefined,
    },
  )
  await gone.promise
  call.pause()
  for (let piece = 0; piece < 3; piece++) {
    call.write(Buffer.from('resets'))
    await new Promise(setImmediate)
  }
  call.resume()
  t.equal(await over.promise, '413 too much')
})

t.test('an application that speaks TLS, with an authority of its own', async (t) => {
  const { key, cert } = certificateFor('localhost')
  const server = createServer({ key, cert }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  const port = await listening(server)
  t.teardown(() => server.close())
  const door = await openDoor(t)
  const [knows, doesNot] = [newConnectorKeys(), newConnectorKeys()]
  door.allow({ con_1: knows, con_2: doesNot })
  const origin = `https://localhost:${port}`
  const stranger = dialIn(t, door, doesNot, { origin, connectorId: 'con_2' })
  await stranger.until('connected')
  t.match(await ask(door.upstream), { status: 502, failure: 'upstream_tls_failed' })
  stranger.tunnel.close()
  const application = applicationAddress(origin, cert)
  const connector = dialIn(t, door, knows, { origin, world: { application } })
  await connector.until('connected')
  t.match(await ask(door.upstream), { status: 200, body: 'ok' })
})
