/**
 * How long the first byte of every page of the console takes, where there are many tenants and much
 * is recorded. `npm run bench:console -- [tenants] [sign-ins] [decisions] [rounds]`
 *
 * The control plane is a process of its own with its database on disk, asked over real HTTP one
 * request after the other. Half of what is recorded is of the tenant that is looked at, so its pages
 * meet half a million rows. Lists are asked for their first page and, by following «Next page» with
 * 200 rows each, for the twentieth after it. It does not measure networks, TLS, or many at once.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { ServedConsole } from './programs/console.ts'

const [tenants = 10_000, signIns = 500_000, decisions = 500_000, rounds = 100] = process.argv
  .slice(2)
  .map(Number)
const WARM = 5
const GOAL_MS = 50
const PAGES_ON = 20

const program = fork(new URL('programs/console.ts', import.meta.url), [
  String(tenants),
  String(signIns),
  String(decisions),
])
program.once('exit', (code) => process.exit(code ?? 1)) // it has said why
const [served] = (await once(program, 'message')) as [ServedConsole]
const { port, cookie, pages, bytes } = served
const agent = new Agent({ keepAlive: true })
console.log(
  `${tenants} tenants, ${signIns} sign-ins, ${decisions} decisions; ${(bytes / 1e6).toFixed(0)} MB`,
)
console.log(
  `${rounds} requests for each page; milliseconds to its first byte, KB as they are sent\n`,
)
console.log(`${'p50'.padStart(7)}${'p99'.padStart(8)}${'KB'.padStart(7)}  status  page`)

/** The same pages, asked for what is found less easily. */
const SEARCHES = [
  '/console/search?q=bench-099',
  '/console/tenants?q=bench-0999',
  '/console/tenants?status=draft',
  '/console/figures?range=month',
  '/console/tenants/acme/overview?range=hour',
  '/console/tenants/acme/overview?range=week',
  '/console/tenants/acme/overview?range=month',
  '/console/tenants/acme/events?subject=user-4',
  '/console/tenants/acme/events?type=sealed&address=198.51.100.4',
  '/console/tenants/acme/events?type=refused',
  '/console/tenants/acme/events/told?type=signin.denied',
  '/console/tenants/acme/events/told?subject=nobody',
  '/console/tenants/acme/users?q=user-99',
  '/console/tenants/acme/users?q=nobody',
  '/console/tenants/acme/sessions?q=198.51.100.4',
]

const slow: string[] = []
for (const [index, { path, address }] of pages.entries()) {
  // an address of its own for each page: there is a limit to how often one may ask
  const from = `127.0.${1 + Math.floor(index / 200)}.${1 + (index % 200)}`
  await measure(path, address, from)
  const far = await later(address, from)
  if (far !== undefined) await measure(`${path} (20 pages on)`, far, from)
}
for (const [index, address] of SEARCHES.entries())
  await measure(address, address, `127.1.0.${1 + index}`)
const verdict =
  slow.length === 0
    ? `every page is below ${GOAL_MS} ms at p99`
    : `above ${GOAL_MS} ms: ${slow.join(', ')}`
console.log(`\n${verdict}`)
agent.destroy()
program.removeAllListeners('exit')
program.disconnect()
process.exitCode = slow.length === 0 ? 0 : 1

async function measure(path: string, address: string, from: string): Promise<void> {
  const times: number[] = []
  let last: Asked | undefined
  for (let round = -WARM; round < rounds; round++) {
    last = await ask(address, from)
    if (round >= 0) times.push(last.firstByteMs)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  const [p50, p99] = [at(0.5), at(0.99)]
  if (p99 > GOAL_MS) slow.push(path)
  const size = ((last?.text.length ?? 0) / 1000).toFixed(0)
  console.log(
    `${p50.toFixed(1).padStart(7)}${p99.toFixed(1).padStart(8)}${size.padStart(7)}  ${last?.status}     ${path}`,
  )
}

/** undefined: there are not so many pages. */
async function later(address: string, from: string): Promise<string | undefined> {
  let next: string | undefined = `${address}?limit=200`
  for (let turn = 0; turn < PAGES_ON && next !== undefined; turn++) {
    const { text } = await ask(next, from)
    next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  return next?.replace('limit=200', 'limit=50')
}

interface Asked {
  readonly status: number
  readonly firstByteMs: number
  readonly text: string
}

async function ask(path: string, localAddress: string): Promise<Asked> {
  const startMs = performance.now()
  const headers = { cookie, accept: 'text/html' }
  const request = get({ host: '127.0.0.1', port, path, headers, agent, localAddress })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.setEncoding('utf8')
  let [text, firstByteMs] = ['', 0]
  for await (const chunk of response) {
    firstByteMs ||= performance.now() - startMs
    text += String(chunk)
    if (response.headers['content-type']?.startsWith('text/event-stream')) break
  }
  return {
    status: response.statusCode ?? 0,
    firstByteMs: firstByteMs || performance.now() - startMs,
    text,
  }
}
