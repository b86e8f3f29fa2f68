/**
 * The demo tenant: created, published, really verified and taken live, all through the API that
 * customers use. A second start finds it as it was left.
 */
import { randomBytes } from 'node:crypto'
import { expectStatus, type ApiClient } from './api-client.ts'

export const DEMO = {
  tenantId: 'demo',
  hostname: 'demo.localhost',
  username: 'ada',
} as const

export interface DemoKeep {
  readonly password: string
  readonly analyzerKey: string
  /** It has been live once; whether it is now is up to whoever runs it. */
  readonly hasBeenLive: boolean
}

interface SeedWorld {
  readonly operator: ApiClient
  readonly analyzer: (key: string) => ApiClient
  readonly origin: string
  /** How the gateway reaches the demo application. */
  readonly mode: 'gateway' | 'connector'
  /** Gateway and demo application serve: they start while the tenant is made. */
  readonly ready: Promise<unknown>
  /** In connector mode: settles when a connector of the tenant is connected. */
  connect(): Promise<void>
  /** What an earlier start has noted, and the way to note it. */
  readonly kept: DemoKeep | undefined
  keep(kept: DemoKeep): void
  wait(milliseconds: number): Promise<void>
}

export interface SeededDemo {
  readonly password: string
  readonly isLive: boolean
  /** What verification found to be missing, for the person who started this. */
  readonly problem: string | undefined
}

const GATEWAY_MS_MAX = 10_000
/** One more program starts, joins and dials. */
const CONNECTOR_MS_MAX = 30_000
const POLL_MS = 50

export async function seedDemo(world: SeedWorld): Promise<SeededDemo> {
  const { operator } = world
  const kept = await ensureTenant(world)
  const { password } = kept
  const tenant = expectStatus(
    await operator.request('GET', `/operator/tenants/${DEMO.tenantId}`),
    'reading the demo tenant',
    200,
  ).body
  const isLive = tenant['protection'] === 'on'
  if (tenant['status'] === 'suspended') return { password, isLive, problem: 'suspended' }
  await world.ready
  await gatewaysServe(world, Number(tenant['revision']))
  if (world.mode === 'connector') await world.connect()
  if (isLive) return { password, isLive, problem: undefined }
  if (kept.hasBeenLive) return { password, isLive, problem: 'taken back' }
  const analyzer = world.analyzer(kept.analyzerKey)
  expectStatus(await analyzer.request('POST', '/verify/probe'), 'verifying the demo', 200)
  const live = await analyzer.request('POST', '/go-live')
  if (live.status !== 200) return { password, isLive, problem: JSON.stringify(live.body) }
  world.keep({ ...kept, hasBeenLive: true })
  return { password, isLive: true, problem: undefined }
}

async function ensureTenant(world: SeedWorld): Promise<DemoKeep> {
  const { operator, origin, mode } = world
  const created = await operator.request('POST', '/operator/tenants', {
    tenant_id: DEMO.tenantId,
    name: 'Demo',
    mode,
    plan: 'premium',
    hostnames: [DEMO.hostname],
    origin,
    sealed: ['/internal'],
    excluded: ['/health'],
    health: '/health',
    max_session_seconds: 28_800,
    idle_seconds: 900,
    session_binding: 'off',
  })
  expectStatus(created, 'creating the demo tenant', 201, 409)
  const path = `/operator/tenants/${DEMO.tenantId}`
  if (created.status === 409 && world.kept !== undefined) {
    const { body } = await operator.request('GET', path)
    // Whoever has chosen another mode for it keeps that, unless it is the one of the other demo.
    const isOthers = mode === 'connector' || body['mode'] === 'connector'
    const patch = { origin, ...(isOthers && { mode }) }
    expectStatus(await operator.request('PATCH', path, patch), 'updating the demo tenant', 200)
    return world.kept
  }
  const analyzerKey =
    created.status === 201
      ? created.body['analyzer_key']
      : (await operator.request('POST', `${path}/analyzer-key/rotate`)).body['analyzer_key']
  const kept = {
    password: randomBytes(9).toString('base64url'),
    analyzerKey: String(analyzerKey),
    hasBeenLive: false,
  }
  await setPassword(operator, path, kept.password)
  expectStatus(await operator.request('POST', `${path}/publish`), 'publishing the demo', 200)
  world.keep(kept)
  return kept
}

/** A start that was cut short may have left ada without a noted password: then she gets a new one. */
async function setPassword(operator: ApiClient, path: string, password: string) {
  const ada = {
    username: DEMO.username,
    email: 'ada@demo.localhost',
    name: 'Ada Lovelace',
    password,
  }
  const created = await operator.request('POST', `${path}/users`, ada)
  if (created.status !== 409) return void expectStatus(created, 'creating ada', 201)
  const users = (await operator.request('GET', `${path}/users`)).body['items'] as {
    user_id: string
    username: string
  }[]
  const userId = users.find(({ username }) => username === DEMO.username)?.user_id
  const patched = await operator.request('PATCH', `${path}/users/${userId}`, { password })
  expectStatus(patched, "setting ada's password", 200)
}

/** Settles when a gateway has a connector of the demo tenant. */
export async function connectorServes({
  operator,
  wait,
}: Pick<SeedWorld, 'operator' | 'wait'>): Promise<void> {
  const path = `/operator/tenants/${DEMO.tenantId}/connectors`
  for (let waitedMs = 0; waitedMs < CONNECTOR_MS_MAX; waitedMs += POLL_MS) {
    const { body } = await operator.request('GET', path)
    const connectors = body['items'] as { state: string }[]
    if (connectors.some(({ state }) => state === 'connected')) return
    await wait(POLL_MS)
  }
  throw new Error("the demo's connector did not connect to the gateway; see the log above")
}

/** Settles when a gateway serves this revision: verification, and the first visit, go through it. */
export async function gatewaysServe(
  { operator, wait }: Pick<SeedWorld, 'operator' | 'wait'>,
  revision: number,
) {
  for (let waitedMs = 0; waitedMs < GATEWAY_MS_MAX; waitedMs += POLL_MS) {
    const { body } = await operator.request('GET', '/operator/gateways')
    const gateways = body['items'] as { connected: boolean; revision: number }[]
    const isServing = gateways.some((gateway) => gateway.connected && gateway.revision >= revision)
    if (isServing) return
    await wait(POLL_MS)
  }
  throw new Error('no gateway connected to the control plane; see the log above')
}
