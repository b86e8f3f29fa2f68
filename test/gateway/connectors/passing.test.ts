/** A connection that is handed to another process is read by nobody here any more. */
import { EventEmitter, once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Worker } from 'node:cluster'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createPassing, passBetween } from '../../../gateway/connectors/passing.ts'

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

t.test('by the worker that has accepted it', async (t) => {
  const { socket, write } = await accepted(t)
  const sent: unknown[] = []
  const send = (...what: unknown[]) => sent.push(...what)
  const channel = { connected: true, send } as unknown as NodeJS.Process
  createPassing(channel).passOn(socket, 2, '127.0.0.1', Buffer.from('hello'))
  t.match(sent, [{ channel: 'connector', worker: 2 }, socket])
  const before = socket.bytesRead
  await write('for the other one')
  t.equal(socket.bytesRead, before)
})

t.test('by the primary, through whose hands it goes', async (t) => {
  const { socket, write } = await accepted(t)
  const sent: unknown[] = []
  const target = { isConnected: () => true, send: (...what: unknown[]) => sent.push(...what) }
  const from = new EventEmitter()
  passBetween(
    from as unknown as Worker,
    () => target as unknown as Worker,
    pino({ level: 'silent' }),
  )
  from.emit('message', { channel: 'connector', worker: 2 }, socket)
  t.equal(sent[1], socket)
  const before = socket.bytesRead
  await write('for the other one')
  t.equal(socket.bytesRead, before)
})
