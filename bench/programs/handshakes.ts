/** TLS connections one after the other in each of a few rows, each from another address. */
import { connect } from 'node:tls'
import type { HandshakesOrder } from '../load/handshakes.ts'
import { summaryOf } from '../load/load.ts'

const ROWS = 16

process.once('message', (order: HandshakesOrder) => {
  void run(order).then((result) => process.send?.(result, () => process.exit()))
})

async function run({ port, host, userAgent, cookies, seconds, isResuming }: HandshakesOrder) {
  const untilMs = performance.now() + seconds * 1000
  const times: number[] = []
  let [errors, turn] = [0, 0]
  const row = async () => {
    let session: Buffer | undefined
    while (performance.now() < untilMs) {
      const startMs = performance.now()
      const before = session
      const answer = await ask(turn++, before, (next) => {
        if (isResuming) session = next
      })
      if (answer !== (before === undefined ? 'new' : 'resumed')) errors++
      times.push((performance.now() - startMs) * 1000)
    }
  }
  await Promise.all(Array.from({ length: ROWS }, row))
  return summaryOf(times, errors, seconds)

  function ask(number: number, known: Buffer | undefined, onSession: (session: Buffer) => void) {
    return new Promise<string>((resolve) => {
      const socket = connect({
        ...{ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (number % 250)}` },
        ...{ servername: host, rejectUnauthorized: false, minVersion: 'TLSv1.3' },
        ecdhCurve: 'X25519', // what every peer has; with ML-KEM beside it a handshake costs more

        ...(known !== undefined && { session: known }),
      })
      const cookie = cookies[number % cookies.length]!
      const head = `GET / HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${userAgent}\r\nSec-Fetch-Mode: cors\r\nCookie: ${cookie}\r\n`
      let [text, isResumed] = ['', false]
      socket.setEncoding('latin1').on('data', (part: string) => (text += part))
      socket.once('secureConnect', () => (isResumed = socket.isSessionReused()))
      socket.on('session', onSession)
      socket.once('error', (error) => (text = error.message))
      socket.once('close', () => {
        if (!text.startsWith('HTTP/1.1 200')) return resolve(text)
        resolve(isResumed ? 'resumed' : 'new')
      })
      socket.write(`${head}Connection: close\r\n\r\n`)
    })
  }
}
