/**
 * Strangers who ask for one address without pause: `flood.ts PORT CONNECTIONS PATH [cookie|bearer]`,
 * each time with another cookie or key of their own making.
 */
import { randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'

const [port = '', connections = '', path = '', shown = ''] = process.argv.slice(2)
const ADDRESSES = 200
const count = Number(connections)
const statuses: Record<string, number> = {}
let answers = 0
let answered = 0
let startMs = performance.now()

for (let index = 0; index < count; index++) void flood(index)

process.on('message', () => {
  const perSecond = answers / ((performance.now() - startMs) / 1000)
  process.send?.({ perSecond, statuses }, () => process.exit(0))
})

async function flood(index: number) {
  const localAddress = `127.0.1.${1 + (index % ADDRESSES)}`
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let isFirst = true; ; isFirst = false) {
    const status = await ask(agent, localAddress)
    statuses[status] = (statuses[status] ?? 0) + 1
    answers++
    if (isFirst && ++answered === count) {
      ;[answers, startMs] = [0, performance.now()]
      process.send?.('ready')
    }
  }
}

function ask(agent: Agent, localAddress: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = forged()
    const to = { port: Number(port), host: '127.0.0.1', path }
    const request = get({ ...to, agent, localAddress, headers })
    request.once('response', (response) => {
      response.once('end', () => resolve(String(response.statusCode))).resume()
    })
    request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
  })
}

function forged(): Record<string, string> {
  if (shown === '') return {}
  const made = randomBytes(32).toString('base64url')
  return shown === 'cookie'
    ? { cookie: `service_console=${made}` }
    : { authorization: `Bearer ${made}` }
}
