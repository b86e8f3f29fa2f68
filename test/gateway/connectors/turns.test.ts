/** Connectors that come and leave all at once, one in a turn of the event loop. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { ControlConnection } from '../../../gateway/connectors/control-connection.ts'
import { Turns } from '../../../gateway/connectors/turns.ts'

t.test(
  'what is added at once is done one in a turn, in order, without what was given up',
  async (t) => {
    const turns = new Turns()
    const done: number[] = []
    const giveUp = Array.from({ length: 20 }, (_one, at) => turns.add(() => void done.push(at)))
    giveUp[3]!()
    turns.add(() => turns.add(() => void done.push(100)))
    let most = 0
    while (turns.size > 0) {
      const before = done.length
      await turn()
      most = Math.max(most, done.length - before)
    }
    t.equal(most, 1)
    t.same(done, [...Array.from({ length: 20 }, (_one, at) => at).filter((at) => at !== 3), 100])
  },
)

t.test('those that leave at the same moment are parted from in turn', async (t) => {
  const held: (() => void)[] = []
  const turns = { add: (part: () => void) => (held.push(part), () => undefined) }
  const sockets: Socket[] = []
  const ended: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    const control = new ControlConnection(socket as TLSSocket, () => 0, turns, {
      onWord: () => undefined,
      onEnded() {
        if (!ended.includes(socket)) ended.push(socket)
        control.end()
      },
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: 10 }, () => connect(port, '127.0.0.1'))
  await Promise.all(clients.map((client) => once(client, 'connect')))
  while (sockets.length < clients.length) await turn()
  for (const client of clients) client.end()
  while (held.length < clients.length && ended.length === 0) await turn()
  for (let count = 0; count < 10; count++) await turn()
  t.same([held.length, ended.length], [clients.length, 0], 'none before its turn')
  t.notOk(sockets.some(({ destroyed }) => destroyed))
  for (const [at, part] of held.entries()) {
    part()
    t.equal(ended.length, at + 1)
  }
  for (const client of clients) if (!client.closed) await once(client, 'close')
})
