/**
 * What a flood of strangers costs whoever revokes, and an application that shows its own key: how
 * long an operator's revocation and an application's poll take while nobody else asks, and beside
 * each flood, with what the flood was answered.
 * `npm run bench:strangers -- [connections] [revocations]`
 *
 * The control plane is the real program, alone in its process, with its log read through a pipe.
 * The flood comes from one other process over kept-alive connections of as many loopback addresses,
 * each asking again as soon as it has its answer. No gateway is connected: what the change takes
 * on its way to them is in bench/fleet.ts.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { freePort } from '../test/support/ports.ts'
import { SECRETS } from '../test/support/programs.ts'
import { folder, start, writeText } from './processes.ts'

const connections = Number(process.argv[2] ?? 200)
const revocations = Number(process.argv[3] ?? 25)
const WARM_UP = 5
/** Between two revocations, which the flood has for itself. */
const PAUSE_MS = 100
const FLOOD = fileURLToPath(new URL('programs/flood.ts', import.meta.url))

const SIGN_IN = String(
  new URLSearchParams({
    client_id: 'acme-user',
    response_type: 'code',
    redirect_uri: 'https://acme.test/service/callback',
    scope: 'openid',
    nonce: 'n',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }),
)
const REALM = '/auth/realms/acme'
const FLOODS = {
  'requests for a sign-in': `${REALM}/authorize?${SIGN_IN}&state=0123456789`,
  'unknown addresses, 14 kB': `${REALM}/AUTHORIZE?${SIGN_IN}&state=${'x'.repeat(14_000)}`,
  'the API without a key': '/api/v1/operator/tenants',
  'the page of the console': '/console/sign-in',
  'forged cookies': '/console/tenants',
  'forged keys': '/api/v1/verify/status',
}
const FORGED: Readonly<Record<string, string>> = {
  'forged cookies': 'cookie',
  'forged keys': 'bearer',
}

const [port, fleetPort] = [await freePort(), await freePort()]
const config = writeText(
  'strangers.yaml',
  `base_url: http://localhost:${port}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}" }
`,
)
// --cpu-prof and the like go to the program that is measured
const { stop } = await start(
  process.execPath,
  [...process.execArgv, 'control-plane/main.ts', '--config', config],
  { port, environment: { ...SECRETS }, isLogRead: true, saysReady: true },
)
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, pipelining: 1 })
const acme = await operator('/tenants', {
  tenant_id: 'acme',
  name: 'Acme',
  mode: 'sdk',
  hostnames: [],
  origin: 'https://acme.test',
  sealed: [],
  excluded: [],
  health: '/health',
})
await operator('/tenants/acme/publish', {})
const own = Buffer.from(`${acme.client_id}:${acme.client_secret}`).toString('base64')

print('nobody', await measure(revoke), await measure(poll), '')
for (const [name, path] of Object.entries(FLOODS)) {
  const shown = FORGED[name] ?? ''
  const flood = fork(FLOOD, [String(port), String(connections), path, shown], { execArgv: [] })
  await once(flood, 'message') // every connection has had an answer
  const [revoked, polled] = [await measure(revoke), await measure(poll)]
  print(name, revoked, polled, await end(flood))
}
await pool.close()
await stop()

async function measure(ask: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = []
  for (let count = -WARM_UP; count < revocations; count++) {
    const startMs = performance.now()
    await ask()
    if (count >= 0) times.push(performance.now() - startMs)
    await setTimeout(PAUSE_MS)
  }
  return times.sort((a, b) => a - b)
}

async function poll() {
  const answer = await pool.request({
    method: 'GET',
    path: '/api/v1/enforcement/state',
    headers: { authorization: `Basic ${own}` },
  })
  const text = await answer.body.text()
  if (answer.statusCode > 299) throw new Error(`a poll: ${answer.statusCode} ${text}`)
}

async function revoke() {
  await operator('/tenants/acme/revocations', { all: true })
}

async function operator(path: string, body: unknown) {
  const answer = await pool.request({
    method: 'POST',
    path: `/api/v1/operator${path}`,
    headers: {
      authorization: `Bearer ${SECRETS.SERVICE_OPERATOR_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const text = await answer.body.text()
  if (answer.statusCode > 299) throw new Error(`${path}: ${answer.statusCode} ${text}`)
  return JSON.parse(text) as { client_id: string; client_secret: string }
}

async function end(flood: ChildProcess): Promise<string> {
  flood.send('end')
  const [{ perSecond, statuses }] = (await once(flood, 'message')) as [
    { perSecond: number; statuses: Record<string, number> },
  ]
  return `${perSecond.toFixed(0)}/s ${JSON.stringify(statuses)}`
}

function print(name: string, revoked: readonly number[], polled: readonly number[], flood: string) {
  const figures = (times: readonly number[]) => {
    const at = (share: number) => times[Math.floor((times.length - 1) * share)]!.toFixed(1)
    return `p50 ${at(0.5)} p90 ${at(0.9)} max ${at(1)} ms`.padEnd(38)
  }
  console.log(`${name.padEnd(26)}revocation ${figures(revoked)}poll ${figures(polled)}${flood}`)
}
