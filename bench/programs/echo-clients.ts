/** WebSockets that each send a message as soon as they have the one before back. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { EchoesOrder } from '../load/echoes.ts'
import { summaryOf } from '../load/load.ts'

const CONNECTIONS = 32
const MESSAGE = 'm'.repeat(64)

process.once('message', (order: EchoesOrder) => {
  void run(order).then((result) => process.send?.(result, () => process.exit()))
})

async function run({ port, asks, userAgent, seconds }: EchoesOrder) {
  const times: number[] = []
  let errors = 0
  const open = async (_item: unknown, index: number) => {
    const { host, cookie } = asks[index % asks.length]!
    const headers = { host, cookie, 'user-agent': userAgent, origin: `http://${host}` }
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers, perMessageDeflate: false })
    await once(socket, 'open')
    return socket
  }
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, open))
  const untilMs = performance.now() + seconds * 1000
  const talk = async (socket: WebSocket) => {
    while (performance.now() < untilMs) {
      const startMs = performance.now()
      const answered = once(socket, 'message')
      socket.send(MESSAGE)
      const [message] = (await answered) as [Buffer]
      if (message.length !== MESSAGE.length) errors++
      times.push((performance.now() - startMs) * 1000)
    }
    socket.terminate()
  }
  await Promise.all(sockets.map(talk))
  return summaryOf(times, errors, seconds)
}
