/**
 * What polling the enforcement feed costs: CPU of the control plane per poll, for instances that
 * have the state already (304) and for such that do not (200), its memory with all of them known,
 * and how long a revocation takes until the feed answers with it. `npm run bench:feed -- [instances]`
 *
 * The control plane is the real program, alone in its process, with its log read through a pipe;
 * all polls come from this process over kept-alive connections on the loopback. They come as fast
 * as they are answered: it does not measure TLS, the network, or how the instances spread them.
 */
import { Pool } from 'undici'
import { SECRETS } from '../test/support/programs.ts'
import { freePort } from '../test/support/ports.ts'
import { cpuTime, residentBytes } from './cpu.ts'
import { folder, start, writeText } from './processes.ts'

const instances = Number(process.argv[2] ?? 10_000)
const tenants = Math.min(100, instances)
const ROUNDS = 5
const CONNECTIONS = 64

const [port, fleetPort] = [await freePort(), await freePort()]
const config = writeText(
  'feed.yaml',
  `base_url: http://localhost:${port}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}" }
`,
)
const server = await start(process.execPath, ['control-plane/main.ts', '--config', config], {
  port,
  environment: { ...SECRETS },
  isLogRead: true,
  saysReady: true,
})
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 })

interface Instance {
  readonly name: string
  readonly authorization: string
  etag: string
}

const all: Instance[] = []
const firsts: Instance[] = []
for (let tenant = 0; tenant < tenants; tenant++) {
  const secret = await createTenant(`t${tenant}`)
  const authorization = `Basic ${Buffer.from(`t${tenant}-user:${secret}`).toString('base64')}`
  for (let count = tenant; count < instances; count += tenants)
    all.push({ name: `web-${count}`, authorization, etag: '' })
  firsts.push(all.at(-1)!)
}

const before = residentBytes(server.pids)
await pollAll(all, 200) // each for the first time: the states are read, the code gets warm
await pollAll(all)
const known = residentBytes(server.pids)
print('memory, nobody polls yet', `${mebibytes(before)} MiB`)
print(`memory, ${all.length} instances of ${tenants} tenants`, `${mebibytes(known)} MiB`)
print('CPU per unchanged poll, 304', await cost(() => pollAll(all, 304)))
print('CPU per changed poll, 200', await cost(() => pollAll(all, 200, true)))
print('memory after all that', `${mebibytes(residentBytes(server.pids))} MiB`)

const delays: number[] = []
// one of each tenant: a second one within the same second would change nothing
for (const instance of firsts) delays.push(await revocationMs(instance))
delays.sort((a, b) => a - b)
const at = (share: number) => delays[Math.floor((delays.length - 1) * share)]!.toFixed(1)
print('revocation asked for → in the answer', `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`)

await pool.close()
await server.stop()

async function cost(work: () => Promise<unknown>): Promise<string> {
  const startCpu = cpuTime(server.pids)
  for (let round = 0; round < ROUNDS; round++) await work()
  const endCpu = cpuTime(server.pids)
  const us = endCpu.userUs + endCpu.kernelUs - startCpu.userUs - startCpu.kernelUs
  return `${(us / 1000 / ROUNDS / all.length).toFixed(3)} ms`
}

/** Every instance once; `wanted` is the only status that may come. */
async function pollAll(polling: readonly Instance[], wanted?: number, isForgetful = false) {
  const waiting = polling.values()
  const worker = async () => {
    for (const instance of waiting) {
      const status = await poll(instance, isForgetful)
      if (wanted !== undefined && status !== wanted)
        throw new Error(`${instance.name} was answered with ${status}, not ${wanted}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
}

async function poll(instance: Instance, isForgetful = false): Promise<number> {
  const { authorization, name, etag } = instance
  const headers: Record<string, string> = {
    authorization,
    'x-service-instance': name,
    'x-service-sdk-version': '0.1.0',
    'x-service-clock-offset': '-12',
  }
  if (etag !== '' && !isForgetful) headers['if-none-match'] = etag
  const answer = await pool.request({ method: 'GET', path: '/api/v1/enforcement/state', headers })
  await answer.body.dump()
  instance.etag = String(answer.headers['etag'])
  return answer.statusCode
}

/** From asking for it until an instance that polls all the time is told. */
async function revocationMs(instance: Instance): Promise<number> {
  await poll(instance)
  const [client = ''] = atob(instance.authorization.slice('Basic '.length)).split(':')
  const startMs = performance.now()
  const path = `/tenants/${client.replace(/-user$/, '')}/revocations`
  const revoking = operator('POST', path, { all: true })
  while ((await poll(instance)) !== 200);
  const ms = performance.now() - startMs
  await revoking
  return ms
}

async function createTenant(tenantId: string): Promise<string> {
  const created = await operator('POST', '/tenants', {
    tenant_id: tenantId,
    name: tenantId,
    mode: 'sdk',
    plan: 'premium',
    hostnames: [],
    origin: `https://${tenantId}.example.com`,
    sealed: ['/internal', '/metrics'],
    excluded: ['/assets', '/health'],
    health: '/health',
    max_session_seconds: 28_800,
    idle_seconds: 900,
    session_binding: 'step_up',
  })
  await operator('POST', `/tenants/${tenantId}/publish`)
  return String(created['client_secret'])
}

async function operator(method: 'POST', path: string, body: unknown = {}) {
  const answer = await pool.request({
    method,
    path: `/api/v1/operator${path}`,
    headers: {
      authorization: `Bearer ${SECRETS.SERVICE_OPERATOR_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const answered = (await answer.body.json()) as Record<string, unknown>
  if (answer.statusCode >= 300) throw new Error(JSON.stringify(answered))
  return answered
}

function print(name: string, value: string) {
  console.log(`${name.padEnd(48)} ${value}`)
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}
