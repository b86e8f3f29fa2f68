/** A connection that is handed to another process is read by nobody here any more. */
import { EventEmitter, once } from 'node:events'
import { connect, createServer, Socket, type AddressInfo } from 'node:net'
import type { Worker } from 'node:cluster'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createPassing, passBetween } from '../../../gateway/connectors/passing.ts'
import { LIMITS } from '../../../shared/limits.ts'

/** The accepted end of a connection, and what its client does. */
async function accepted(t: Test) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dial = async (): Promise<[Socket, Socket]> => {
    const client = connect(port, '127.0.0.1')
    const [socket] = (await once(server, 'connection')) as [Socket]
    t.teardown(() => [client, socket].forEach((end) => end.destroy()))
    return [client, socket]
  }
  t.teardown(() => server.close())
  const [client, socket] = await dial()
  client.write('hello')
  await once(socket, 'data')
  return {
    socket,
    /** Settles when whoever reads here has read it. */
    async write(text: string): Promise<void> {
      client.write(text)
      const [other, ours] = await dial()
      other.write('behind it')
      await once(ours, 'data')
    },
  }
}

const FROM = { peerAddress: '127.0.0.1', isKnown: true }

t.test('by the worker that has accepted it', async (t) => {
  const { socket, write } = await accepted(t)
  const sent: unknown[] = []
  const send = (...what: unknown[]) => sent.push(...what)
  const channel = { connected: true, send } as unknown as NodeJS.Process
  createPassing(channel).passOn(socket, 2, FROM, Buffer.from('hello'))
  t.match(sent, [{ channel: 'connector', worker: 2, ...FROM }, socket])
  const before = socket.bytesRead
  await write('for the other one')
  t.equal(socket.bytesRead, before)
})

/** A worker that takes what it is sent when the test says so. */
function startTarget() {
  const sent: { socket: Socket; done: (error: Error | null) => void }[] = []
  const send = (_message: unknown, socket: Socket, _options: unknown, done: () => void) =>
    void sent.push({ socket, done })
  const target = Object.assign(new EventEmitter(), { isConnected: () => true, send })
  const from = new EventEmitter()
  const log = pino({ level: 'silent' })
  passBetween(() => target as unknown as Worker, log)(from as unknown as Worker)
  const pass = (socket: Socket, peerAddress: string, isKnown = false) => {
    const message = { channel: 'connector', worker: 2, peerAddress, isKnown, start: '' }
    return from.emit('message', message, socket)
  }
  return { target, sent, pass }
}

t.test('by the primary, through whose hands it goes', async (t) => {
  const { socket, write } = await accepted(t)
  const { sent, pass } = startTarget()
  pass(socket, '127.0.0.1')
  t.equal(sent[0]?.socket, socket)
  const before = socket.bytesRead
  await write('for the other one')
  t.equal(socket.bytesRead, before)
})

t.test('one at a time goes to a worker, for a revocation waits behind them', async (t) => {
  const { sent, pass } = startTarget()
  const sockets = Array.from({ length: 4 }, () => new Socket())
  for (const socket of sockets) pass(socket, '127.0.0.1')
  for (const [at, socket] of sockets.entries()) {
    t.equal(sent.length, at + 1)
    t.equal(sent[at]!.socket, socket)
    sent[at]!.done(null)
  }
})

t.test('of too many that wait it is one of whoever has brought the most', async (t) => {
  const { target, sent, pass } = startTarget()
  const crowd = Array.from({ length: LIMITS.connectorsPassedWaitingMax + 2 }, () => new Socket())
  for (const socket of crowd) pass(socket, '192.0.2.1')
  t.same(
    crowd.filter((socket) => socket.destroyed),
    crowd.slice(-1),
    'one is under way, and so many wait',
  )
  const honest = new Socket()
  pass(honest, '192.0.2.2')
  t.notOk(honest.destroyed)
  t.ok(crowd.at(-2)!.destroyed)
  sent[0]!.done(null)
  sent[1]!.done(null)
  t.equal(sent[2]!.socket, honest, 'and it waits for one of them')
  target.emit('exit')
  t.ok(
    crowd.slice(3).every((socket) => socket.destroyed),
    'of a worker that is gone nothing is kept',
  )
})

t.test(
  'strangers, however many sites they are, crowd out nobody who was here before',
  async (t) => {
    const { sent, pass } = startTarget()
    const sockets = (count: number) => Array.from({ length: count }, () => new Socket())
    const max = LIMITS.connectorsPassedWaitingMax
    const strangers = sockets(max + 1)
    for (const [at, socket] of strangers.entries()) pass(socket, `192.0.2.${at}`)
    t.equal(strangers.filter((socket) => socket.destroyed).length, 0, 'one is under way')
    const known = sockets(max)
    for (const [at, socket] of known.entries()) pass(socket, `198.51.100.${at}`, true)
    t.equal(known.filter((socket) => socket.destroyed).length, max / 4, 'they leave a quarter')
    t.equal(strangers.filter((socket) => !socket.destroyed).length, 1 + max / 4)
    for (let turn = 0; turn < 8; turn++) sent[turn]!.done(null)
    const turns = sent
      .slice(1, 9)
      .map(({ socket }) => (known.includes(socket) ? 'known' : 'stranger'))
    t.same(turns.filter((who) => who === 'stranger').length, 2, 'and a turn of four')
  },
)
