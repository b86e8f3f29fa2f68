/** A control plane full of tenants as a process of its own, with an operator who has signed in. */
import { createConsolePages } from '../../control-plane/console/world.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createApp } from '../../control-plane/app.ts'
import { createPublicServer } from '../../control-plane/server.ts'
import { createServices } from '../../control-plane/services/services.ts'
import { consoleRoutes } from '../../control-plane/console/routes.ts'
import { give } from '../../control-plane/console-access/roles.ts'
import { ALL_TENANTS } from '../../control-plane/store/queries/console.ts'
import { CONSOLE_REALM } from '../../control-plane/store/reserved.ts'
import { openSqlite } from '../../control-plane/store/engines/sqlite.ts'
import { systemClock as clock } from '../../shared/clock.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { createRelyingParty } from '../../shared/sign-in/relying-party.ts'
import { tenantNamed } from '../../test/support/control-plane.ts'
import { fill } from './console-rows.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

export interface ServedConsole {
  readonly port: number
  readonly cookie: string
  readonly bytes: number
  /** Every page, with what stands for its parameters. */
  readonly pages: readonly { readonly path: string; readonly address: string }[]
}

const [tenants = 10_000, signIns = 500_000, decisions = 500_000] = process.argv.slice(2).map(Number)
const ACTOR = { name: 'bench', requestId: 'bench' }
const folder = mkdtempSync(join(tmpdir(), 'bench-console-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('disconnect', () => process.exit()) // whoever asked is gone

const file = join(folder, 'service.db')
const services = await createServices({
  engine: openSqlite(file),
  masterKey: Buffer.alloc(32, 1),
  fleetKey: createLiveKey('bench'),
  baseUrl: 'http://127.0.0.1:8080',
  edgeUrlFor: (hostname) => `http://${hostname}`,
  mailTransport: { send: () => Promise.resolve(), close: () => undefined },
  receivers: {
    allowPrivate: ['192.0.2.0/24'],
    egressProxy: null,
    resolve: () => Promise.resolve(['192.0.2.1']),
  },
  clock,
  log: pino({ level: 'silent' }), // the keys of copied tenants cannot be opened, and that is told of,
})
const { consoleAccess, users, sessions } = services
await consoleAccess.ensureRealm()
const consolePages = createConsolePages(services)
await consolePages.assets.urls()
await services.tenants.create(tenantNamed('acme', { plan: 'premium' }), ACTOR)
await services.tenants.publish('acme', ACTOR)
const ada = await users.create(
  'acme',
  { username: 'ada', email: 'ada@example.test', name: 'Ada', password: '' },
  ACTOR,
)
const { webhook } = await services.webhooks.create(
  'acme',
  { url: 'https://hooks.example/', events: ['signin.denied'], description: '' },
  ACTOR,
)
const alert = await services.alerts.create(
  'acme',
  {
    metric: 'sealed_hits',
    threshold: 1000,
    windowSeconds: 300,
    coolDownSeconds: 3600,
    isEnabled: true,
  },
  ACTOR,
)
const bytes = fill(file, 'acme', { tenants, signIns, decisions })

const { userId } = await users.create(
  CONSOLE_REALM,
  { username: 'grace', email: 'grace@example.test', name: 'Grace', password: '' },
  ACTOR,
)
await services.store.change((change) => give(change, userId, ALL_TENANTS, ACTOR))
const [sid, nowMs] = ['bench', clock.nowMs()]
const issued = { tenantId: CONSOLE_REALM, sid, userId, ip: '127.0.0.1', userAgent: 'bench' }
await sessions.record({ ...issued, issuedAtMs: nowMs, expiresAtMs: nowMs + 8 * 3_600_000 })
const sessionId = await consoleAccess.sessions.begin({ userId, sid, signedInAtMs: nowMs })

const known: Readonly<Record<string, string>> = {
  tenant_id: 'acme',
  user_id: ada.userId,
  webhook_id: webhook.webhookId,
  delivery_id: 'delivery-7',
  alert_id: alert.alertId,
  sid: 'sid-4',
  policy: 'lockout',
  name: 'lockout',
  address: '198.51.100.7',
}
/** The table is read, and nobody signs in by it. */
const nobody = () => Promise.reject(new Error('there is no realm here'))
const relyingParty = createRelyingParty({ fetch: nobody, clock })
const routes = consoleRoutes({
  ...services,
  ...consolePages,
  relyingParty,
  rates: createRateLimits(clock),
})
const pages = routes
  .filter(({ declaration: { method, role } }) => method === 'GET' && role !== 'anyone')
  .map(({ declaration: { path } }) => ({
    path,
    address: path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => known[name] ?? 'nobody'),
  }))

const app = createApp(services, { operatorKey: createLiveKey('bench'), pages: consolePages })
const log = pino({ level: 'silent' })
const server = createPublicServer({ app, realms: services.realms, log, clock })
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const served: ServedConsole = { port, cookie: `service_console=${sessionId}`, bytes, pages }
  process.send?.(served)
})
