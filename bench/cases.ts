/** What is measured, in this order, and between whom. The first peer is the one that the others are compared with. */
import { setTimeout } from 'node:timers/promises'
import { request } from 'undici'
import { createFreshTokens } from './load/fresh-tokens.ts'
import { H2LOAD_NEED, runH2load } from './load/h2load.ts'
import type { LoadResult } from './load/load.ts'
import { runEchoes, startEcho } from './load/echoes.ts'
import { runHandshakes } from './load/handshakes.ts'
import { runWrk, type WrkLoad } from './load/wrk.ts'
import { caddy } from './peers/caddy.ts'
import { edge, gateway, gatewayByConnector, gatewayPeer } from './peers/gateway.ts'
import { haproxy, haproxyJwtVerify } from './peers/haproxy.ts'
import { nginx, nginxAuthRequest, nginxOfHosts, nginxUpgrades } from './peers/nginx.ts'
import { fastify, httpProxy3, httpProxy3KeepAlive } from './peers/node.ts'
import type { Peer } from './peers/peer.ts'
import type { Need, Running } from './processes.ts'
import { USER_AGENT, type Ask, type Sessions } from './sessions.ts'

export interface Round {
  readonly peer: Peer
  readonly running: Running
  readonly sessions: Sessions
  readonly seconds: number
  /** Counts up for each peer; the warm-up has had the first. */
  readonly number: number
}

export interface BenchCase {
  readonly name: string
  readonly need?: Need
  readonly peers: readonly Peer[]
  /** Before a round, while nothing is measured. */
  readonly prepare?: (round: Round) => Promise<void>
  /** Peers get requests for so long, and the same ones. */
  readonly load?: (round: Round) => Promise<LoadResult>
  /** Another application than the one of all. */
  readonly origin?: () => Promise<Running>
  /** Or they get connections that stay. */
  readonly idleConnections?: number
}

const TENANTS = 10_000
const HOSTS = 1_000
const oneTenant = gatewayPeer('gateway 1 tenant', {})
const asManyAsAsked = gatewayPeer('gateway 64 tenants', { tenants: 64 })
const manyTenants = gatewayPeer('gateway 10,000 tenants', { tenants: TENANTS })
const nginxManyHosts = nginxOfHosts('nginx 1,000 hosts', (all) => all.hostsOver(TENANTS, HOSTS))
const freshTokens = createFreshTokens()

const everybody: readonly Peer[] = [
  gateway,
  edge,
  nginx,
  nginxAuthRequest,
  haproxy,
  haproxyJwtVerify,
  caddy,
  fastify,
  httpProxy3,
  httpProxy3KeepAlive,
]

const byWrk =
  (load: WrkLoad) =>
  ({ running, sessions, seconds }: Round) =>
    runWrk(running, { ...load, asks: sessions.asks, seconds })

/** A gateway fetches a tenant when it is first asked for, and of one address so many a second. */
async function untilServed(port: number, { host, cookie }: Ask): Promise<void> {
  const headers = { host, cookie, 'user-agent': USER_AGENT, 'sec-fetch-mode': 'cors' }
  for (;;) {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/`, { headers })
    await body.dump()
    if (statusCode === 200) return
    if (statusCode !== 503) throw new Error(`${host} answers ${statusCode}`)
    await setTimeout(100)
  }
}

/** As many sessions for both: each at a tenant of its own, or all at the only one. */
function loadOverHosts(sessionCount: number): Pick<BenchCase, 'prepare' | 'load'> {
  const asks = new Map<Peer, readonly Ask[]>()
  return {
    async prepare({ peer, running, sessions }) {
      const isMany = peer === manyTenants || peer === nginxManyHosts
      const tenants = isMany ? TENANTS : peer === asManyAsAsked ? 64 : 1
      if (asks.has(peer)) return
      asks.set(peer, sessions.asksOver(tenants, sessionCount))
      for (const ask of asks.get(peer)!) await untilServed(running.port, ask)
    },
    load: ({ peer, running, seconds }) => runWrk(running, { asks: asks.get(peer)!, seconds }),
  }
}

export const CASES: readonly BenchCase[] = [
  { name: 'GET 1 KB', peers: everybody, load: byWrk({}) },
  {
    name: 'GET 1 KB with rules',
    peers: [gatewayPeer('gateway with rules', { hasRules: true }), gateway],
    load: byWrk({}),
  },
  { name: 'POST 1 KB', peers: everybody, load: byWrk({ method: 'POST', bodyBytes: 1024 }) },
  { name: 'GET 64 KB', peers: everybody, load: byWrk({ path: '/64k', answerBytes: 64 * 1024 }) },
  { name: 'connector GET 1 KB', peers: [gatewayByConnector, gateway], load: byWrk({}) },
  {
    name: 'connector one at a time',
    peers: [gatewayByConnector, gateway],
    load: byWrk({ connections: 1 }),
  },
  {
    name: 'connector GET 64 KB',
    peers: [gatewayByConnector, gateway],
    load: byWrk({ path: '/64k', answerBytes: 64 * 1024 }),
  },
  {
    // 64 connections that wait 8 ms on average: somewhat under 8,000 requests per second
    name: 'GET 1 KB at one rate',
    peers: [gateway, nginx, nginxAuthRequest, haproxy, haproxyJwtVerify],
    load: byWrk({ connections: 64, pauseMs: [5, 11] }),
  },
  {
    name: 'TLS 1.3 keep-alive',
    peers: [gateway, nginx, haproxy, caddy],
    load: byWrk({ isSecure: true }),
  },
  { name: 'new connections', peers: [gateway, nginx, haproxy], load: byWrk({ isClosed: true }) },
  {
    name: 'new TLS connections',
    peers: [gateway, nginx, haproxy],
    load: ({ running, sessions, seconds }) => runHandshakes(running, sessions.asks, seconds, false),
  },
  {
    name: 'resumed TLS connections',
    peers: [gateway, nginx, haproxy],
    load: ({ running, sessions, seconds }) => runHandshakes(running, sessions.asks, seconds, true),
  },
  {
    name: 'WebSocket echo',
    origin: startEcho,
    peers: [gateway, nginxUpgrades, haproxy],
    load: ({ running, sessions, seconds }) => runEchoes(running, sessions.asks, seconds),
  },
  {
    name: 'HTTP/2',
    need: H2LOAD_NEED,
    peers: [gateway, nginx, haproxy, caddy],
    load: ({ running, sessions, seconds, number }) =>
      runH2load(running, { asks: sessions.asks, round: number, seconds }),
  },
  {
    name: '10 % cache misses',
    peers: [gateway, nginx, nginxAuthRequest, haproxyJwtVerify],
    prepare: ({ running, sessions, seconds }) => freshTokens.prepare(running, sessions, seconds),
    async load({ running, sessions: { asks }, seconds }) {
      const freshCookies = freshTokens.of(running)
      const result = await runWrk(running, { asks, seconds, freshCookies })
      freshTokens.took(running, result.freshTaken)
      return result
    },
  },
  {
    name: '10,000 tenants',
    peers: [manyTenants, asManyAsAsked, oneTenant],
    ...loadOverHosts(64),
  },
  {
    name: '10,000 tenants 1,000 hosts',
    peers: [manyTenants, oneTenant, nginxManyHosts, nginx],
    ...loadOverHosts(HOSTS),
  },
  {
    name: 'two workers',
    peers: [gatewayPeer('gateway 2 workers', { workers: 2 }), gatewayPeer('gateway 1 worker', {})],
    load: byWrk({}),
  },
  {
    name: 'access log',
    peers: [
      gateway,
      gatewayPeer('gateway busy log reader', { log: 'busy' }),
      gatewayPeer('gateway slow log reader', { log: 'slow' }),
      gatewayPeer('gateway no log', { log: 'none' }),
    ],
    load: byWrk({}),
  },
  {
    name: '10,000 idle connections',
    peers: [gateway, nginx, haproxy, caddy, fastify],
    idleConnections: 10_000,
  },
]
