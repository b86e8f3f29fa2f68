/** Opens connections, asks once on each, and keeps them; run by load/idle.ts. */
import { connect, type Socket } from 'node:net'
import type { IdleOrder } from '../load/idle.ts'
import { USER_AGENT, type Ask } from '../sessions.ts'

/** The sessions know their client by its /24, and no address of ours may have too many. */
const CONNECTIONS_PER_ADDRESS = 200
const AT_ONCE = 32

const open = new Set<Socket>()

function openOne(order: IdleOrder, index: number): Promise<void> {
  const { host, cookie }: Ask = order.asks[index % order.asks.length]!
  const localAddress = `127.0.0.${2 + Math.floor(index / CONNECTIONS_PER_ADDRESS)}`
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: order.port, localAddress })
    let answer = ''
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      answer += text
      const bodyAt = answer.indexOf('\r\n\r\n') + 4
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1])
      if (bodyAt === 3 || answer.length < bodyAt + length) return
      if (!answer.startsWith('HTTP/1.1 200 ')) reject(new Error(answer.slice(0, bodyAt)))
      answer = ''
      open.add(socket)
      resolve()
    })
    socket.on('error', reject)
    socket.on('close', () => open.delete(socket))
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${USER_AGENT}\r\nCookie: ${cookie}\r\n\r\n`,
    )
  })
}

async function openAll(order: IdleOrder): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < order.connections) await openOne(order, next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  process.send!(open.size)
}

process.on('message', (message: IdleOrder | 'count') => {
  if (message === 'count') process.send!(open.size)
  else void openAll(message)
})
process.on('disconnect', () => process.exit(0))
