/**
 * What the Node middleware adds to a request with a cached session: `npm run bench:sdk -- [rounds] [seconds]`,
 * and what it leaves behind: `npm run bench:sdk -- leak [requests]`. Both take frameworks behind their
 * numbers: `npm run bench:sdk -- 7 3 express hono`.
 *
 * Each framework answers 1 KiB three times: bare, behind verifyClaims(), behind enforce(), each in a
 * process of its own. wrk asks over 32 kept-alive connections with 64 sessions in turn; all three get
 * the same requests, with cookies, claims and a browser's headers. CPU is user and kernel time of the
 * server's process by the requests that wrk counted. Rounds are interleaved; what is added is the
 * median over the rounds of one round's difference. It does not measure first sights of a session
 * (one RS256 check more), sign-ins, or the network.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { CLIENT_SECRET, startFeedService, TENANT } from '../test/support/feed-service.ts'
import { cpuTime } from './cpu.ts'
import { runWrk } from './load/wrk.ts'
import { median } from './measured.ts'
import { USER_AGENT, type Ask } from './sessions.ts'

const ALL = ['node:http', 'express', 'fastify', 'koa', 'hono'] as const
const GUARDS = ['bare', 'verifyClaims', 'enforce'] as const
const wished = process.argv.slice(3).filter((word) => !/^\d+$/.test(word))
const frameworks = ALL.filter((name) => wished.length === 0 || wished.includes(name))
const ADDED_US_MAX = 15
const SESSIONS = 64
const WARM_REQUESTS = 60_000

interface Program {
  readonly child: ChildProcess
  readonly port: number
}

const ends: (() => unknown)[] = []
const service = await startFeedService(
  { teardown: (end) => void ends.push(end) },
  { idle_seconds: 28_800 }, // no companion cookie falls due on the way
)
service.control.pollSeconds = 60
const asks = Array.from({ length: SESSIONS }, (_item, index) => askOf(`sid-${index}`))

if (process.argv[2] === 'leak') await leak(Number(process.argv[3] ?? 1_000_000))
else await cost(Number(process.argv[2] ?? 7), Number(process.argv[3] ?? 3))
for (const end of ends) await end()
process.exit()

/** All that a browser, or the edge in front, would send; wrk takes the lines behind the cookie as they are. */
function askOf(sid: string): Ask {
  const cookies = service.session({ sid, userAgent: USER_AGENT })
  const token = /service_session=([^;]+)/.exec(cookies)?.[1] ?? ''
  const identity = `X-Service-Claims: ${token}\r\nX-Service-User: ada\r\nX-Service-Verified: true`
  return { host: 'app.localhost', cookie: `theme=dark; ${cookies}\r\n${identity}` }
}

async function startProgram(framework: string, guard: string): Promise<Program> {
  const file = fileURLToPath(new URL('programs/guarded.ts', import.meta.url))
  const args = [framework, guard, service.baseUrl, TENANT, CLIENT_SECRET]
  const execArgv = ['--expose-gc', ...(process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [])]
  const child = fork(file, args, { execArgv })
  ends.push(() => child.kill())
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port }
}

async function ask({ port }: Program, seconds: number): Promise<number> {
  const running = { port, tlsPort: 0, pids: [], stop: async () => {} }
  const { requests, errors } = await runWrk(running, { asks, seconds })
  if (errors > 0) throw new Error(`${errors} of ${requests} were refused`)
  return requests
}

async function warm(program: Program): Promise<void> {
  for (let answered = 0; answered < WARM_REQUESTS;) answered += await ask(program, 1)
}

async function cost(rounds: number, seconds: number): Promise<void> {
  console.log('framework    guard           CPU µs/req   (min–max)    added µs   (min–max)   least')
  for (const framework of frameworks) {
    const programs = new Map<string, Program>()
    for (const guard of GUARDS) programs.set(guard, await startProgram(framework, guard))
    for (const program of programs.values()) await warm(program)
    const cpuUs = new Map<string, number[]>(GUARDS.map((guard) => [guard, []]))
    for (let round = 0; round < rounds; round++)
      for (const guard of round % 2 === 0 ? GUARDS : GUARDS.toReversed())
        cpuUs.get(guard)!.push(await measured(programs.get(guard)!, seconds))
    for (const [guard, figures] of cpuUs) print(framework, guard, figures, cpuUs.get('bare')!)
    for (const { child } of programs.values()) child.kill()
  }
}

async function measured(program: Program, seconds: number): Promise<number> {
  const total = () => {
    const { userUs, kernelUs } = cpuTime([program.child.pid!])
    return userUs + kernelUs
  }
  const before = total()
  const requests = await ask(program, seconds)
  return (total() - before) / requests
}

function print(framework: string, guard: string, figures: number[], bare: number[]): void {
  const range = (values: number[]) =>
    `${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)}`
  const added = figures.map((figure, round) => figure - bare[round]!)
  const least = Math.min(...figures) - Math.min(...bare)
  console.log(
    framework.padEnd(13) +
      guard.padEnd(14) +
      median(figures).toFixed(1).padStart(12) +
      range(figures).padStart(12) +
      (guard === 'bare'
        ? ''
        : median(added).toFixed(1).padStart(12) +
          range(added).padStart(12) +
          least.toFixed(1).padStart(8) +
          (median(added) < ADDED_US_MAX ? '' : `   over ${ADDED_US_MAX}`)),
  )
}

/** Real sockets, kept alive: what is left of so many requests once the garbage is collected. */
async function leak(requests: number): Promise<void> {
  console.log('framework    guard              requests   heap before      after   bytes/request')
  for (const framework of frameworks)
    for (const guard of GUARDS.slice(1)) {
      const program = await startProgram(framework, guard)
      await warm(program)
      const before = await heapOf(program)
      let answered = 0
      while (answered < requests) answered += await ask(program, 10)
      const after = await heapOf(program)
      console.log(
        framework.padEnd(13) +
          guard.padEnd(14) +
          String(answered).padStart(13) +
          `${(before / 1e6).toFixed(2)} MB`.padStart(14) +
          `${(after / 1e6).toFixed(2)} MB`.padStart(11) +
          ((after - before) / answered).toFixed(3).padStart(16),
      )
      program.child.kill()
    }
}

async function heapOf({ child }: Program): Promise<number> {
  child.send('heap?')
  const [{ heapUsed }] = (await once(child, 'message')) as [{ heapUsed: number }]
  return heapUsed
}
