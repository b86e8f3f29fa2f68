/**
 * One tenant, one set of keys and one clock, enforced at every target at the same time: by the edge
 * in front of an application, and by the middleware inside it, on every framework.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../shared/clock.ts'
import type { AddressInfo } from 'node:net'
import { createEnforcement } from '../../control-plane/downloads/sdk-node/enforce/enforcement.ts'
import { createService } from '../../control-plane/downloads/sdk-node/service.ts'
import type { EnforcedRules } from '../../shared/fleet/access-rules.ts'
import type { EnforcedServices } from '../../shared/fleet/services.ts'
import type { Revoked } from '../../shared/fleet/snapshot.ts'
import { startConnectedEdge } from '../support/connected-edge.ts'
import { HOST, startEdge } from '../support/edge-world.ts'
import {
  CLIENT_SECRET,
  startFeedService,
  USER_AGENT,
  type FeedService,
} from '../support/feed-service.ts'
import { newSigningKey, type SigningKey } from '../support/tokens.ts'
import { startOrigin } from '../support/wire.ts'
import { FRAMEWORKS, type Framework } from './applications.ts'
import { leaveOpen } from './open-answers.ts'
import { leftOf, nextProxy } from './next-proxy.ts'
import { NOT_BEHIND_A_BALANCER } from './wire-differences.ts'
import { overWire, type Arrivals, type T, type Target } from './target.ts'

export { CLIENT_SECRET, HOST, USER_AGENT }

/** What a snapshot and the enforcement state name alike. */
export interface TenantState {
  readonly name: string
  readonly status: 'published' | 'suspended'
  readonly protection: 'on' | 'pass-through'
  readonly sealed: string[]
  readonly excluded: string[]
  readonly health: string
  readonly max_session_seconds: number
  readonly idle_seconds: number
  readonly session_binding: 'off' | 'step_up' | 'terminate'
  readonly licence_blocks_signin: boolean
  readonly access?: EnforcedRules
  readonly access_contact?: string
  readonly services?: EnforcedServices
}

const STATE: TenantState = {
  name: 'App',
  status: 'published',
  protection: 'on',
  sealed: ['/admin'],
  excluded: ['/health'],
  health: '/healthz',
  max_session_seconds: 28_800,
  idle_seconds: 900,
  session_binding: 'off',
  licence_blocks_signin: false,
}

export const CURRENT = newSigningKey('current')
/** How often the wires of an edge look at the clock: gateway/wire/deadlines.ts. */
const SWEEP_MS = 250

/** Published beside the current one, as while keys are rotated. */
export const NEXT = newSigningKey('next')

export interface WorldOptions {
  readonly state?: Partial<TenantState>
  readonly revoked?: Partial<Revoked>
  readonly trustedProxies?: readonly string[]
  /** How browsers reach the application. */
  readonly address?: string
}

export type World = Awaited<ReturnType<typeof startWorld>>

export async function startWorld(t: T, options: WorldOptions = {}) {
  const { state = {}, revoked = {}, trustedProxies = [], address = `http://${HOST}` } = options
  // stands still, so that a second more or less is a case and not an accident
  let clockMs = Math.floor(Date.now() / 1000) * 1000
  const nowMs = () => clockMs
  const whole = { ...STATE, ...state }
  const service = await startFeedService(t, { ...whole, origin: address }, { nowMs, key: CURRENT })
  service.keys.push(NEXT)
  service.revoke(revoked)

  const contract = {
    ...whole,
    edge_urls: { [HOST]: address },
    issuer: service.issuer,
    client_secret: CLIENT_SECRET,
    keys: service.keys.map(jwkOf),
  }
  let waitedMs = 0
  const steadyMs = () => MINUTE_MS + waitedMs
  const settings = { trustedProxies, nowMs, steadyMs }
  const [gateway, connector] = await Promise.all([
    startGateway(t, contract, settings),
    startConnector(t, contract, settings),
  ])
  const edges = [gateway.edge, connector.edge]
  for (const edge of edges) edge.revoke(revoked)
  const middlewares: Target[] = await Promise.all(
    Object.entries(FRAMEWORKS).map(async ([name, framework]) => {
      const given = { ...service.options, instance: nameOf(name), nowMs, trustedProxies }
      return startFramework(t, { name, framework, given })
    }),
  )
  if (trustedProxies.length === 0) {
    const { target: name } = NOT_BEHIND_A_BALANCER
    const trusted = { trustedProxies: ['unknown'] }
    const given = { ...service.options, instance: nameOf(name), nowMs, ...trusted }
    const next = await startFramework(t, { name, framework: nextProxy, given })
    middlewares.push({ ...next, leftOf })
  }
  const instances = middlewares.map(({ name }) => nameOf(name))

  return {
    service,
    gateway: gateway.target,
    targets: [gateway.target, ...middlewares, connector.target],
    nowSeconds: service.nowSeconds,
    /** The Cookie header of somebody who is signed in. */
    session: service.session,
    /** Settles when it is in force everywhere: whoever polls has said so by asking for what is newer. */
    async change(next: Partial<TenantState>, revokedToo: Partial<Revoked> = {}) {
      for (const edge of edges) {
        edge.put(next)
        edge.revoke(revokedToo)
      }
      service.put({ ...next })
      service.revoke(revokedToo)
      await service.acknowledged(instances)
    },
    /** The clocks of all are set, the service's included. */
    setClocks(seconds: number) {
      clockMs += seconds * 1000
    },
    /** Time passes for everybody. Whoever comes then comes after every time-out of before. */
    async pass(seconds: number) {
      clockMs += seconds * 1000
      waitedMs += seconds * 1000
      await sleep(SWEEP_MS + 1) // or time-outs would begin at the time before
    },
    async publish(keys: readonly SigningKey[]) {
      service.keys.splice(0, Infinity, ...keys)
      for (const edge of edges) edge.put({ keys: keys.map(jwkOf) })
    },
    polled: () => service.polled(2 * instances.length),
  }
}

type Contract = NonNullable<Parameters<typeof startConnectedEdge>[1]>
type Settings = Parameters<typeof startConnectedEdge>[3]

async function startGateway(t: T, contract: Contract, settings: Settings) {
  const { url, arrivals } = await startApplication(t)
  const edge = await startEdge(t, url, contract, {}, settings)
  return { edge, target: edgeTarget('gateway', edge.port, arrivals) }
}

/** The same edge, and the application behind a connector that has dialled it. */
async function startConnector(t: T, contract: Contract, settings: Settings) {
  const { url, arrivals } = await startApplication(t)
  const { edge, dialled } = await startConnectedEdge(t, contract, {}, settings)
  await dialled(url).until('connected')
  return { edge, target: edgeTarget('connector', edge.port, arrivals) }
}

const edgeTarget = (name: string, port: number, arrivals: Arrivals): Target => {
  return { name, port, arrivals, ask: overWire(port, arrivals) }
}

/** It answers everything with `ok`. */
async function startApplication(t: T) {
  const arrivals: Arrivals = []
  const { url } = await startOrigin(t, (request, response) => {
    const { method = '', url: target = '', rawHeaders, headers: shown } = request
    arrivals.push({ method, target, rawHeaders, shown, user: undefined })
    if (!leaveOpen(target, response)) response.end('ok')
  })
  return { url, arrivals }
}

type Enforced = Parameters<typeof createEnforcement>[0]

async function startFramework(
  t: T,
  { name, framework, given }: { name: string; framework: Framework; given: Enforced },
) {
  const arrivals: Arrivals = []
  const service = createService(createEnforcement(given))
  const { server, close } = await framework(service, arrivals)
  if (!server.listening)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await Promise.all([close?.(), new Promise((resolve) => server.close(resolve)), service.close()])
  })
  await service.ready()
  const { port } = server.address() as AddressInfo
  return { name, port, arrivals, ask: overWire(port, arrivals) }
}

const nameOf = (framework: string) => framework.toLowerCase().replace(/[^a-z]+/g, '-')

function jwkOf({ kid, publicKey }: SigningKey) {
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  return { kid, kty: 'RSA', alg: 'RS256', use: 'sig', n, e } as const
}

/** A request head as text; `lines` go in as they are. */
export interface Head {
  readonly method?: string
  readonly target?: string
  readonly as?: As
  readonly cookie?: string
  readonly lines?: readonly string[]
  /** Instead of the usual one; null for none. */
  readonly userAgent?: string
}

/** Who asks: somebody who opens a page, or a script on it. */
export type As = 'navigation' | 'fetch'
export const AS: readonly As[] = ['navigation', 'fetch']

export function headOf(head: Head): string {
  const { method = 'GET', target = '/', as = 'fetch', cookie = '', lines = [] } = head
  const isNavigation = as === 'navigation'
  return [
    `${method} ${target} HTTP/1.1`,
    `Host: ${HOST}`,
    `User-Agent: ${head.userAgent ?? USER_AGENT}`,
    `Accept: ${isNavigation ? 'text/html,application/xhtml+xml' : 'application/json'}`,
    `Sec-Fetch-Mode: ${isNavigation ? 'navigate' : 'cors'}`,
    ...(cookie === '' ? [] : [`Cookie: ${cookie}`]),
    ...lines,
    '\r\n',
  ]
    .join('\r\n')
    .replace(/\r\n\r\n\r\n$/, '\r\n\r\n')
}

export type { FeedService }
