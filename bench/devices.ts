/**
 * What devices cost that check in hourly, and what sign-ins notice of them.
 * `npm run bench:devices -- [devices] [seconds] [crowd]`
 *
 * The control plane is the real program, alone in its process; machines and people are this one. So
 * many devices are in its database, and an hour's worth of them checks in each second. First the
 * check-ins alone: CPU of the control plane, user and system. Then a crowd that comes at once from some
 * hundred addresses and does as it is told by Retry-After; a hundred thousand of them, in simulated
 * time, are in test/control-plane/devices/crowd.test.ts. Then sign-ins alone and beside check-ins, by
 * turns, so that both meet the same machine: one that is busy with other things refuses some. At last
 * devices are revoked, one by one and beside check-ins, with a real gateway connected: the answer comes
 * when the gateway has said that it refuses the session that was begun on it. No network and no TLS is
 * measured, nor the agent.
 */
import { Agent, request } from 'node:http'
import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { postureHash } from '../shared/device/posture-hash.ts'
import { SECRETS } from '../test/support/programs.ts'
import { freePort } from '../test/support/ports.ts'
import { Browser, relyingParty } from '../test/control-plane/realm/realm-world.ts'
import {
  machineJws,
  makeDeviceKey,
  makePosture,
  random32,
  type Machine,
} from '../test/support/devices.ts'
import { cpuTime } from './cpu.ts'
import { folder, start, writeText } from './processes.ts'

const devices = Number(process.argv[2] ?? 100_000)
const seconds = Number(process.argv[3] ?? 30)
const crowd = Number(process.argv[4] ?? 5000)
const PER_SECOND = Math.ceil(devices / 3600)
const SIGN_INS_PER_SECOND = 2
const ROUNDS = 3
/** What is promised. */
const [CPU_MS_MAX, RATIO_MAX, REVOKED_MS_MAX] = [2, 1.2, 250]
const REVOKED = 100
/** With three times as many: a control plane is measured as it is after hours, not after its start. */
const WARM_UP_SECONDS = 20
const ADDRESSES = 200
const PASSWORD = 'a long walk along the harbour wall'

const [port, fleetPort, edgePort] = [await freePort(), await freePort(), await freePort()]
const origin = `http://localhost:${port}`
const config = writeText(
  'devices.yaml',
  `base_url: ${origin}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}" }
gateway: { listen: "127.0.0.1:${edgePort}", control_plane: "http://127.0.0.1:${fleetPort}", workers: 1 }
`,
)
const { pids, stop } = await start(
  process.execPath,
  [...process.execArgv, 'control-plane/main.ts', '--config', config],
  { port, environment: { ...SECRETS }, isLogRead: true, saysReady: true },
)
const agent = new Agent({ keepAlive: true, maxSockets: 256, maxTotalSockets: 4096 })
const redirectUri = 'https://acme.test/service/callback'
const made = await publish('acme', { mode: 'sdk', hostnames: [] })
const account = { username: 'ada', email: 'ada@acme.test', name: 'Ada', password: PASSWORD }
await operator('/tenants/acme/users', account)
const machines = fill('acme', 0, devices)
const revocable = fill('edge', devices, REVOKED)
let turn = 0

await load(WARM_UP_SECONDS, checkInOnce, 3 * PER_SECOND)
const before = cpuMs()
const counted = await load(seconds, checkInOnce)
const idleBefore = cpuMs()
await setTimeout(5000)
const idleMs = (cpuMs() - idleBefore) / 5
const own = idleBefore - before - idleMs * seconds
console.log(`${devices} devices, ${PER_SECOND} check-ins a second, ${counted.length} of them`)
const cpuEach = own / counted.length
console.log(`  answered in ${at(counted)}`)
console.log(`  CPU per check-in ${held(cpuEach, CPU_MS_MAX, ' ms')}`)

await comeAtOnce(machines.slice(0, crowd))

const party = await relyingParty({
  ...{ issuer: `${origin}/auth/realms/acme`, redirectUri },
  ...{ clientId: String(made['client_id']), clientSecret: String(made['client_secret']) },
})
await signInFor(3, false)
const [alone, beside]: [number[], number[]] = [[], []]
for (let round = 0; round < ROUNDS; round++) {
  alone.push(...(await signInFor(seconds, false)))
  beside.push(...(await signInFor(seconds, true)))
}
console.log(`sign-ins, ${SIGN_INS_PER_SECOND} a second, ${alone.length} each, password to token`)
console.log(`  alone   ${at(alone)}`)
console.log(`  beside  ${at(beside)}`)
for (const [name, share] of [
  ['p50', 0.5],
  ['p95', 0.95],
] as const) {
  const ratio = quantile(beside, share) / quantile(alone, share)
  console.log(`  ${name} beside / alone ${held(ratio, RATIO_MAX, '')}`)
}

await revokeAll()
agent.destroy()
await stop()

/** Each ends the one session that was begun on it, and somebody is being served there meanwhile. */
async function revokeAll() {
  await publish('edge', { mode: 'gateway', hostnames: ['edge.test'] })
  const gateway = await start(process.execPath, ['gateway/main.ts', '--config', config], {
    ...{ port: edgePort, environment: { ...SECRETS }, isLogRead: true, saysReady: true },
  })
  const asked = await get(edgePort, { host: 'edge.test' })
  // nothing is behind it: it knows the tenant
  if (asked !== 502) throw new Error(`the gateway does not know its tenant: ${asked}`)
  const checkIns = load((REVOKED * 100) / 1000, checkInOnce)
  const times: number[] = []
  for (const { deviceId } of revocable) {
    const startMs = performance.now()
    const said = await operator(`/tenants/edge/devices/${deviceId}/revoke`, {})
    times.push(performance.now() - startMs)
    const answer = JSON.stringify(said)
    if (said['sessions'] !== 1 || !answer.includes('"gateways":1,"of":1'))
      throw new Error(`a revocation: ${answer}`)
    await setTimeout(50)
  }
  await checkIns
  await gateway.stop()
  console.log(`${REVOKED} devices revoked beside check-ins, until the gateway refuses`)
  console.log(`  answered in ${at(times)}`)
  console.log(`  slowest ${held(Math.max(...times), REVOKED_MS_MAX, ' ms')}`)
}

async function publish(tenantId: string, how: { mode: string; hostnames: string[] }) {
  const made = await operator('/tenants', {
    ...{ tenant_id: tenantId, name: tenantId, ...how, origin: `https://${tenantId}.test` },
    ...{ sealed: [], excluded: [], health: '/health' },
  })
  await operator(`/tenants/${tenantId}/publish`, {})
  return made
}

/** One key for all of them: the control plane does not know, and making so many takes minutes. */
function fill(tenantId: string, from: number, count: number): Machine[] {
  const key = makeDeviceKey()
  const posture = makePosture()
  const hash = (text: string) => createHash('sha256').update(text).digest('base64url')
  const database = new Database(`${folder}/data/service.db`, { timeout: 10_000 })
  const insert = database.prepare(
    `INSERT INTO enrolled_devices (device_id, tenant_id, ticket_id, public_key, platform, arch,
      hostname, agent, key_storage, machine_hash, enrolled_at, seen_at, current_hash, boots,
      posture_hash, collected_at)
    VALUES (?, '${tenantId}', 'dvt_bench', ?, 'linux', 'x64', ?, '0.2.0', 'file', ?, ?, ?, ?, '[]', ?, ?)`,
  )
  const insertPosture = database.prepare(
    `INSERT INTO device_postures VALUES (?, '${tenantId}', ?, '{}', '{}')`,
  )
  const insertSession = database.prepare(
    `INSERT INTO sessions (sid, tenant_id, user_id, ip, user_agent, created_at, issued_at, expires_at,
      last_seen_at, device_id)
    VALUES (?, '${tenantId}', 'ada', '192.0.2.1', 'bench', ?, ?, ?, ?, ?)`,
  )
  const nowMs = Date.now()
  const all = Array.from({ length: count }, (_, index): Machine => {
    const deviceId = `dev_${(from + index).toString(16).padStart(16, '0')}`
    return { deviceId, own: key, bootId: random32(), ctr: 0, prev: random32(), posture }
  })
  database.transaction(() => {
    for (const { deviceId, prev } of all) {
      const point = `${key.jwk.x}.${key.jwk.y}`
      const known = [hash(prev), postureHash(posture), nowMs]
      insert.run(deviceId, point, `host-${deviceId}`, hash(deviceId), nowMs, nowMs, ...known)
      insertPosture.run(deviceId, JSON.stringify(posture))
      if (tenantId !== 'edge') continue
      const [issued, expires] = [nowMs - 60_000, nowMs + 3_600_000]
      insertSession.run(`on-${deviceId}`, issued, issued, expires, issued, deviceId)
    }
  })()
  database.close()
  return all
}

async function checkInOnce(): Promise<number> {
  const one = machines[turn++ % machines.length]!
  const startMs = performance.now()
  const { status, next } = await checkIn(one, '127.0.0.1')
  if (status === 503) return Infinity // it would come again, as it was told
  if (status !== 200) throw new Error(`a check-in: ${status}`)
  one.prev = next
  one.ctr++
  return performance.now() - startMs
}

/** So many a second, whether the ones before have their answer or not. */
async function load(
  forSeconds: number,
  once: () => Promise<number>,
  perSecond = PER_SECOND,
): Promise<number[]> {
  const all: Promise<number>[] = []
  const startMs = performance.now()
  for (let count = 0; count < forSeconds * perSecond; count++) {
    await setTimeout(Math.max(1, startMs + (count * 1000) / perSecond - performance.now()))
    all.push(once())
  }
  return Promise.all(all)
}

async function signInFor(forSeconds: number, isBeside: boolean): Promise<number[]> {
  const checkIns = isBeside ? load(forSeconds, checkInOnce) : undefined
  const all: Promise<number>[] = []
  const startMs = performance.now()
  for (let count = 0; count < forSeconds * SIGN_INS_PER_SECOND; count++) {
    await setTimeout(
      Math.max(1, startMs + (count * 1000) / SIGN_INS_PER_SECOND - performance.now()),
    )
    all.push(signInOnce())
  }
  const times = await Promise.all(all)
  await checkIns
  return times
}

async function signInOnce(): Promise<number> {
  const browser = new Browser(origin)
  const flow = await party.begin()
  const page = await browser.visit(flow.url)
  const body = new URLSearchParams({ username: 'ada', password: PASSWORD })
  const startMs = performance.now()
  const answer = await browser.once(page.url, { method: 'POST', body })
  const next = answer.headers.get('location')
  if (next === null) throw new Error(`a sign-in: ${answer.status} ${await answer.text()}`)
  const back = await browser.visit(next)
  await flow.finish(back.url).catch(async (error: unknown) => {
    const { cause } = error as { cause?: unknown }
    const said = cause instanceof Response ? `${cause.status} ${await cause.text()}` : String(error)
    throw new Error(`a sign-in: ${said}`, { cause: error })
  })
  return performance.now() - startMs
}

async function comeAtOnce(all: readonly Machine[]) {
  const startMs = performance.now()
  let [turnedAway, longestS] = [0, 0]
  const done: number[] = []
  const come = async (one: Machine, index: number) => {
    for (;;) {
      const { status, again } = await checkIn(one, `127.0.1.${1 + (index % ADDRESSES)}`)
      if (status === 200) break
      if (status !== 503 && status !== 429) throw new Error(`a check-in: ${status}`)
      turnedAway++
      longestS = Math.max(longestS, again)
      await setTimeout(again * 1000)
    }
    done.push((performance.now() - startMs) / 1000)
  }
  const cpuBefore = cpuMs()
  await Promise.all(all.map(come))
  const tookS = (performance.now() - startMs) / 1000
  const cores = (cpuMs() - cpuBefore) / 1000 / tookS
  const lost = all.length - done.length
  console.log(`${all.length} at once: all but ${lost} came in within ${tookS.toFixed(0)} s`)
  console.log(
    `  turned away ${turnedAway} times, for ${longestS} s at most; ${cores.toFixed(2)} cores`,
  )
}

async function checkIn(one: Machine, localAddress: string) {
  const jws = machineJws(one, 'checkIn')
  const { status, headers, text } = await post('/agent/v1/checkin', jws, localAddress)
  const next = status === 200 ? String((JSON.parse(text) as { next: string }).next) : ''
  return { status, next, again: Number(headers['retry-after'] ?? 1) }
}

function get(at: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ port: at, host: '127.0.0.1', path: '/', headers, agent: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode))
    })
      .once('error', reject)
      .end()
  })
}

function post(path: string, body: string, localAddress: string) {
  type Headers = Record<string, string | string[] | undefined>
  return new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const headers = { 'content-type': 'application/jose', 'content-length': body.length }
    const to = { port, host: '127.0.0.1', path, method: 'POST', agent, localAddress, headers }
    const asked = request(to, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      )
    })
    asked.once('error', reject).end(body)
  })
}

async function operator(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${origin}/api/v1/operator${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${SECRETS.SERVICE_OPERATOR_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

function cpuMs(): number {
  const { userUs, kernelUs } = cpuTime(pids)
  return (userUs + kernelUs) / 1000
}

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)] ?? NaN
}

function held(value: number, most: number, unit: string): string {
  const is = value <= most ? 'within' : 'BEYOND'
  if (value > most) process.exitCode = 1
  return `${value.toFixed(2)}${unit}, ${is} the limit of ${most}${unit}`
}

function at(times: readonly number[]): string {
  const figures = [0.5, 0.95, 1].map((share) => quantile(times, share).toFixed(1))
  return `p50 ${figures[0]} p95 ${figures[1]} max ${figures[2]} ms`
}
