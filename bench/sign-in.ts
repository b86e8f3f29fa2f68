/**
 * What a sign-in costs. `npm run bench:sign-in [rounds]`
 *
 * The realm is a process of its own, the client another; on two cores they share what there is, so
 * sign-ins per second are a floor. CPU is the realm's alone. Beside it stands oidc-provider with its
 * adapter in memory: the same code flow, with nothing kept. It does not measure networks, and TLS is
 * the business of whatever stands in front.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  Browser,
  PASSWORD,
  relyingParty,
  type TestTenant,
} from '../test/control-plane/realm/realm-world.ts'
import { startApplication, startTenant, addUser } from '../test/support/application.ts'
import { startFleet } from '../test/support/programs.ts'

const rounds = Math.min(400, Number(process.argv[2] ?? 200)) // lockout counts a thousand at most
const AT_ONCE = 100
/** Each has a browser that is known from a sign-in before, as most have who come. */
const PEOPLE = 100

type Served = TestTenant & { readonly baseUrl: string }
interface Spent {
  readonly cpuMs: number
  readonly rss: number
  readonly heapUsed: number
}

/** What the verdict goes by: milliseconds of CPU, and what others wait at 95 %. */
const LIMITS = { signIn: 6, timesBare: 2.5, silent: 3, apiMs: 25, changeMs: 100 } as const

const many = { USERS: String(PEOPLE + 1) }
await steps('with the hash', await startRealm({ HASH: 'yes', ...many }))
const ours = await steps('without the hash', await startRealm({ HASH: 'no', ...many }))
const bare = await steps('by oidc-provider alone', await startProgram('bare-provider'))
await wrongOrUnknown()
const others = await manyAtOnce()
await thousandRealms()

console.log('\nwhat it must hold')
verdict('CPU of a sign-in without the hash, ms', ours.signInMs, LIMITS.signIn)
verdict('  against oidc-provider alone, times', ours.signInMs / bare.signInMs, LIMITS.timesBare)
verdict('CPU of a silent round, ms', ours.silentMs, LIMITS.silent)
verdict(`API while ${AT_ONCE} sign in, p95 ms`, others.apiMs, LIMITS.apiMs)
verdict('  a change at the gateway, p95 ms', others.changeMs, LIMITS.changeMs)

function verdict(what: string, figure: number, limit: number) {
  const isHeld = figure <= limit ? 'holds' : 'does not hold'
  console.log(`  ${what.padEnd(42)} ${figure.toFixed(1)}, at most ${limit}: ${isHeld}`)
}

function startRealm(environment: Record<string, string>) {
  return startProgram('realm', environment)
}

async function startProgram(name: string, environment: Record<string, string> = {}) {
  const file = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url))
  const child: ChildProcess = fork(file, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [served] = (await once(child, 'message')) as [Served]
  const spent = async () => {
    child.send('spent?')
    const [answer] = (await once(child, 'message')) as [Spent]
    return answer
  }
  const stop = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { served, spent, stop }
}

/** One after the other, step by step; then eight at a time. */
async function steps(name: string, program: Awaited<ReturnType<typeof startProgram>>) {
  const { served, spent, stop } = program
  const party = await relyingParty(served)
  const browsers = Array.from({ length: PEOPLE }, () => new Browser(served.baseUrl))
  let turn = 0
  const times = { page: [], password: [], back: [], token: [] } as Record<string, number[]>

  async function signIn(isTimed: boolean) {
    const timed = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
      const startMs = performance.now()
      const result = await work()
      if (isTimed) times[step]?.push(performance.now() - startMs)
      return result
    }
    const person = turn++ % PEOPLE
    const browser = browsers[person] as Browser
    browser.forgetCookies(({ name }) => !name.includes('device'))
    const credentials = { username: `user-${person + 1}`, password: PASSWORD }
    const flow = await party.begin()
    const page = await timed('page', () => browser.visit(flow.url))
    const post = { method: 'POST', body: new URLSearchParams(credentials) }
    const answer = await timed('password', () => browser.once(page.url, post))
    const resume = answer.headers.get('location') ?? ''
    const back = await timed('back', () => browser.visit(resume))
    await timed('token', () => flow.finish(back.url))
    return browser
  }

  for (let count = 0; count < PEOPLE; count++) await signIn(false)
  for (let count = 0; count < rounds; count++) await signIn(true)
  console.log(`\none sign-in ${name}, one at a time, ms`)
  for (const [step, list] of Object.entries(times)) console.log(`  ${step.padEnd(10)} ${at(list)}`)

  const startMs = performance.now()
  const signInMs = await cpuOfEach(() => signIn(false).then(() => {}))
  const perSecond = (4 * rounds * 1000) / (performance.now() - startMs)
  console.log(`  eight at a time: ${perSecond.toFixed(0)} sign-ins a second`)
  console.log(`  CPU: ${signInMs.toFixed(1)} ms each`)

  const browser = await signIn(false)
  const silentMs = await cpuOfEach(async () => {
    const flow = await party.begin()
    const back = await browser.visit(flow.url)
    await flow.finish(back.url)
  })
  console.log(`  CPU of a round with a browser that is signed in: ${silentMs.toFixed(1)} ms each`)
  await stop()
  return { signInMs, silentMs }

  async function cpuOfEach(work: () => Promise<void>): Promise<number> {
    const before = await spent()
    let left = 4 * rounds
    const worker = async () => {
      while (left-- > 0) await work()
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    return ((await spent()).cpuMs - before.cpuMs) / (4 * rounds)
  }
}

/** Each account and each name once, in a mixed order, so that both meet the same machine. */
async function wrongOrUnknown() {
  const { served, stop } = await startRealm({ USERS: String(rounds + 1) })
  const browser = new Browser(served.baseUrl)
  const page = await browser.visit((await (await relyingParty(served)).begin()).url)
  const times = { wrong: [] as number[], unknown: [] as number[] }
  for (let round = -20; round < rounds; round++) {
    const kinds =
      round % 2 === 0 ? (['wrong', 'unknown'] as const) : (['unknown', 'wrong'] as const)
    for (const kind of kinds) {
      const username = kind === 'wrong' ? `user-${Math.abs(round) + 1}` : `nobody-${round}`
      const body = new URLSearchParams({ username, password: 'wrong' })
      const startMs = performance.now()
      const answer = await browser.once(page.url, { method: 'POST', body })
      await answer.text()
      if (answer.status !== 422) throw new Error(`a wrong password was answered ${answer.status}`)
      if (round >= 0) times[kind].push(performance.now() - startMs)
    }
  }
  const [wrong, unknown] = [quantile(times.wrong, 0.5), quantile(times.unknown, 0.5)]
  console.log(`\nrefused sign-ins, ms`)
  console.log(`  wrong password  ${at(times.wrong)}`)
  console.log(`  unknown user    ${at(times.unknown)}`)
  const apart = (a: number, b: number) => `${(100 * Math.abs(a / b - 1)).toFixed(1)} %`
  console.log(`  the medians differ by ${apart(wrong, unknown)}`)
  const [least, leastUnknown] = [quantile(times.wrong, 0.1), quantile(times.unknown, 0.1)]
  console.log(`  the quickest tenths differ by ${apart(least, leastUnknown)}, whatever else ran`)
  await stop()
}

/** The real programs: what others notice while a hundred people sign in at the same moment. */
async function manyAtOnce() {
  const closing: (() => Promise<void>)[] = []
  const folder = mkdtempSync(join(tmpdir(), 'bench-sign-in-'))
  const scope = {
    testdir: () => folder,
    after: (close: () => Promise<void>) => void closing.unshift(close),
  }
  const fleet = await startFleet(scope)
  const application = await startApplication(scope)
  const tenant = await startTenant(fleet, 'acme', application.origin)
  for (let count = 0; count < AT_ONCE; count++) await addUser(fleet, 'acme', `user-${count}`)

  const api: number[] = []
  const link: number[] = []
  let isOver = false
  const watch = async (times: number[], work: () => Promise<unknown>) => {
    while (!isOver) {
      const startMs = performance.now()
      await work()
      times.push(performance.now() - startMs)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const read = () => fleet.operator('GET', '/tenants/acme')
  // Answered when the gateway has applied it: the API, a commit and the fleet link, there and back
  const change = () => fleet.operator('PATCH', '/tenants/acme', { name: `${performance.now()}` })
  const watching = [watch(api, read), watch(link, change)]
  const idle = await quiet(api, link)

  const bursts: number[] = []
  for (let burst = 0; burst < 5; burst++) {
    const pages = []
    for (let count = 0; count < AT_ONCE; count++) {
      const browser = fleet.browser()
      pages.push({ browser, page: await browser.open(`${tenant.edge()}/work`) })
    }
    if (burst === 0) await quiet(api, link) // only the bursts are counted
    const startMs = performance.now()
    const arrived = await Promise.all(
      pages.map(({ browser, page }, place) =>
        browser.submit(page, { username: `user-${place}`, password: PASSWORD }),
      ),
    )
    bursts.push(performance.now() - startMs)
    for (const { status } of arrived) if (status !== 200) throw new Error(`arrived at ${status}`)
  }
  isOver = true
  await Promise.all(watching)
  console.log(`\n${AT_ONCE} people at once, five times, through a gateway; ms`)
  console.log(`  until all are in          ${at(bursts)}`)
  console.log(`  API, before               ${idle[0]}`)
  console.log(`  API, meanwhile            ${at(api)}`)
  console.log(`  change → applied, before  ${idle[1]}`)
  console.log(`  change → applied, then    ${at(link)}`)
  for (const close of closing) await close()
  rmSync(folder, { recursive: true, force: true })
  return { apiMs: quantile(api, 0.95), changeMs: quantile(link, 0.95) }
}

async function quiet(...lists: number[][]): Promise<string[]> {
  await new Promise((resolve) => setTimeout(resolve, 2000))
  return lists.map((list) => at(list.splice(0)))
}

async function thousandRealms() {
  const { served, spent, stop } = await startRealm({ TENANTS: '1000' })
  console.log(`\n1,000 realms, each asked for its sign-in page, in turn`)
  const redirect = (tenantId: string) => `http://${tenantId}.example:8000/service/callback`
  for (let pass = 1; pass <= 4; pass++) {
    for (let count = 0; count < 1000; count++) {
      const tenantId = `bench-${count}`
      const url = new URL(`${served.baseUrl}/auth/realms/${tenantId}/authorize`)
      url.search = new URLSearchParams({
        client_id: `${tenantId}-user`,
        response_type: 'code',
        scope: 'openid',
        redirect_uri: redirect(tenantId),
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
      }).toString()
      const { response } = await new Browser(served.baseUrl).visit(url.href)
      if (response.status !== 200) throw new Error(`${tenantId} answered ${response.status}`)
    }
    const { rss, heapUsed } = await spent()
    const mib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`
    console.log(`  pass ${pass}: heap ${mib(heapUsed)}, resident ${mib(rss)}`)
  }
  await stop()
}

function quantile(list: readonly number[], share: number): number {
  return list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? NaN
}

function at(list: readonly number[]): string {
  const sorted = list.toSorted((a, b) => a - b)
  const point = (share: number) =>
    (sorted[Math.floor((sorted.length - 1) * share)] ?? NaN).toFixed(1)
  return `p50 ${point(0.5)}  p95 ${point(0.95)}  max ${point(1)}`
}
