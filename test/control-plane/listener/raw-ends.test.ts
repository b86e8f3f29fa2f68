/** Answers on a socket that Node has handed over, or given up: no end of it ends the process. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { acceptGateways } from '../../../control-plane/fleet/accept-gateways.ts'
import { answerAndEnd } from '../../../control-plane/listener/early-answers.ts'
import { startListener } from './served.ts'

type Scope = Parameters<typeof startListener>[0]

const UPGRADE = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
const TUNNEL = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'

/** A client that never ends its side by itself, and the server's end of it. */
async function openTo(t: Scope, server: Server, text: string) {
  const { port } = server.address() as { port: number }
  const taken = once(server, 'connection') as Promise<[Socket]>
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => client.destroy())
  client.on('error', () => undefined).write(text)
  const [socket] = await taken
  return { client, socket, closed: new Promise((resolve) => socket.once('close', resolve)) }
}

async function startFleet(t: Scope) {
  const server = createServer()
  const log = { error: () => undefined } as never
  const accepting = acceptGateways(
    async () => undefined,
    () => undefined,
    log,
  )
  accepting.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    accepting.close()
    server.close()
  })
  return server
}

for (const [name, text, status, isFleet] of [
  ['CONNECT', TUNNEL, 405, false],
  ['CONNECT with the first bytes of a tunnel', `${TUNNEL}hello`, 405, false],
  ['what is no request', 'x\r\n\r\n', 400, false],
  ['a head that is too large', `GET / HTTP/1.1\r\na: ${'x'.repeat(90_000)}`, 431, false],
  ['another path of the fleet', `GET /x HTTP/1.1\r\n${UPGRADE}\r\n`, 404, true],
  ['a fleet without a key', `GET /fleet HTTP/1.1\r\n${UPGRADE}\r\n`, 401, true],
] as const) {
  t.test(`${name}, reset after the answer, costs one connection`, async (t) => {
    const server = isFleet ? await startFleet(t) : (await startListener(t, () => undefined)).server
    const { client, closed } = await openTo(t, server, text)
    const [answer] = (await once(client, 'data')) as [Buffer]
    t.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `))
    client.resetAndDestroy()
    await closed
  })

  t.test(`${name}, reset at once, costs one connection`, async (t) => {
    const server = isFleet ? await startFleet(t) : (await startListener(t, () => undefined)).server
    const { client, closed } = await openTo(t, server, text)
    client.resetAndDestroy()
    await closed
  })
}

t.test('who closes after the answer is let go at once, who does not, after a while', async (t) => {
  const server = createServer()
  server.on('connect', (_request, socket) => answerAndEnd(socket, 'no', 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { client, closed } = await openTo(t, server, TUNNEL)
  t.equal(String((await once(client, 'data'))[0]), 'no')
  await closed

  const { server: listener } = await startListener(t, () => undefined)
  const leaving = await openTo(t, listener, TUNNEL)
  await once(leaving.client.resume(), 'end')
  leaving.client.end()
  await leaving.closed
})
