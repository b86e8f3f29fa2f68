/**
 * Something of everything that endpoints speak of, made once; each test gets a copy of its own.
 * `acme` is served by an edge, `apps` is in sdk mode, `other` has nothing to do with either.
 */
import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { apiEndpoints } from '../../../control-plane/api/endpoints.ts'
import type { Caller, Declaration } from '../../../control-plane/api/endpoint.ts'
import type { AiSettings } from '../../../control-plane/analysis/provider.ts'
import type { RowsTold } from '../../../control-plane/store/engines/counted-rows.ts'
import { openSqlite } from '../../../control-plane/store/engines/sqlite.ts'
import { upsertAddressBlock } from '../../../control-plane/store/queries/attempts.ts'
import { insertIdentity } from '../../../control-plane/store/queries/connections.ts'
import { createRateLimits } from '../../../shared/rate-limits.ts'
import { startAiProvider } from '../../support/ai-provider.ts'
import { OPERATOR_KEY, startApi, type CallOptions } from '../../support/api.ts'
import { movableClock, temporaryFolder } from '../../support/control-plane.ts'
import { acme as ACME } from '../../support/certificates.ts'
import { ADDRESS, DOMAIN, callOf, type Prepared } from './endpoint-calls.ts'

export interface Teardown {
  teardown(work: () => unknown): void
}

/** Where nobody listens, so that no probe finds somebody else's gateway. */
const nowhere = (hostname: string) => `http://${hostname}:9`

const GUIDE = {
  guide_id: 'guide-of-acme',
  framework: 'express',
  model: 'a-model',
  summary: '',
  edits: [{ path: 'a.mjs', action: 'create', content: 'export {}\n', why: '' }],
  commands: [],
  notes: [],
  warnings: [],
} satisfies Parameters<Awaited<ReturnType<typeof startApi>>['services']['guides']['keep']>[2]

interface Size {
  /** Writes into the prepared database what is there besides. */
  readonly fill: (file: string, prepared: Prepared, nowMs: number) => void
  readonly told: RowsTold
}

export async function prepareWorld(t: Teardown, size?: Size) {
  const masterKey = randomBytes(32)
  const folder = temporaryFolder(t)
  const file = join(folder, 'prepared.db')
  const clock = movableClock()
  const api = await startApi(t, { file, masterKey, clock, edgeUrlFor: nowhere })
  const { services, operator, tenant } = api
  await services.consoleAccess.ensureRealm()
  await services.challengeKeys.jwks() // else the first who asks what is newest writes them

  const tenants = {
    acme: await tenant('acme'),
    apps: await tenant('apps', { mode: 'sdk', hostnames: [], origin: 'http://apps.example' }),
    other: await tenant('other'),
  }
  for (const id of Object.keys(tenants)) await operator('POST', `/tenants/${id}/publish`)
  const ada = { username: 'ada', email: 'ada@acme.example', password: 'long enough' }
  const { body } = await operator('POST', '/tenants/acme/users', ada)
  const userId = String(body['user_id'])
  await operator('POST', '/tenants/acme/groups', { name: 'support' })
  const nowMs = clock.nowMs()
  await services.sessions.record({
    tenantId: 'acme',
    sid: 'sid-of-ada',
    userId,
    ip: '192.0.2.1',
    userAgent: 'a browser',
    issuedAtMs: nowMs,
    expiresAtMs: nowMs + 3_600_000,
  })
  const alert = { metric: 'sealed_hits', threshold: 5 }
  const { body: created } = await operator('POST', '/tenants/acme/alerts', alert)
  await services.store.change(async (change) => {
    await services.factors.addTotp(change, { tenantId: 'acme', userId }, 'JBSWY3DPEHPK3PXP', 1)
    await upsertAddressBlock(change.queries, {
      tenantId: 'acme',
      address: ADDRESS,
      failures: 100,
      createdAt: nowMs,
      blockedUntil: nowMs + 3_600_000,
    })
  })
  await services.store.change((change) => services.guides.keep(change, 'acme', GUIDE))
  const [factor] = await services.factors.list({ tenantId: 'acme', userId })
  const hook = { url: 'https://hooks.example/in', events: ['tenant.suspended'] }
  const { body: webhook } = await operator('POST', '/tenants/acme/webhooks', hook)
  const webhookId = String(webhook['webhook_id'])
  const { body: sent } = await operator('POST', `/tenants/acme/webhooks/${webhookId}/test`)
  const provider = { preset: 'oidc', name: 'Company', issuer: 'https://id.company.example' }
  const client = { client_id: 'service', client_secret: 'secret' }
  const made = await operator('POST', '/tenants/acme/connections', { ...provider, ...client })
  const connectionId = String(made.body['connection_id'])
  await operator('POST', `/tenants/acme/connections/${connectionId}/domains`, { domain: DOMAIN })
  const theirs = { connectionId, issuer: provider.issuer, subject: 'of-the-user' }
  await services.store.change(({ queries }) =>
    insertIdentity(queries, { ...theirs, tenantId: 'acme', userId, createdAt: nowMs }),
  )
  const wiki = { name: 'Wiki', redirect_uris: ['https://wiki.example/callback'] }
  const { body: registered } = await operator('POST', '/tenants/acme/clients', wiki)
  const realmClientId = String(registered['client_id'])
  const { body: service } = await operator('POST', '/tenants/acme/services', { name: 'CI' })
  const serviceId = String(service['service_id'])
  const secret = await operator('POST', `/tenants/acme/services/${serviceId}/secrets`, {})
  await services.close()

  const prepared: Prepared = {
    userId,
    factorId: factor?.factorId ?? '',
    alertId: String(created['alert_id']),
    webhookId,
    deliveryId: String(sent['delivery_id']),
    connectionId,
    serviceId,
    realmClientId,
    secretId: String(secret.body['secret_id']),
    certificate: { certificate_pem: ACME.certificatePem, private_key_pem: ACME.privateKeyPem },
    tenants,
  }
  size?.fill(file, prepared, nowMs)
  const ai = await startAiProvider(t)
  ai.says({ framework: 'express', summary: 'A start.', edits: [], notes: [], warnings: [] })
  let copies = 0
  return {
    prepared,
    async copy(t: Teardown) {
      const own = join(folder, `copy-${copies++}.db`)
      copyFileSync(file, own)
      return startCopy(t, own, { masterKey, prepared, ai: ai.settings(), told: size?.told })
    },
  }
}

export type EndpointWorld = Awaited<ReturnType<Awaited<ReturnType<typeof prepareWorld>>['copy']>>

/** By a connection of its own, which most copies have no need of. */
function lookInto(t: Teardown, file: string) {
  const looking = new Database(file, { readonly: true })
  t.teardown(() => looking.close())
  const tables = looking
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .pluck()
    .all() as string[]
  return {
    version: looking.prepare('PRAGMA data_version').pluck(),
    reads: tables.map((name) => looking.prepare(`SELECT * FROM "${name}"`)),
  }
}

interface Copying {
  readonly masterKey: Buffer
  readonly prepared: Prepared
  readonly ai: AiSettings
  readonly told: RowsTold | undefined
}

async function startCopy(t: Teardown, file: string, { masterKey, prepared, ai, told }: Copying) {
  const clock = movableClock()
  const engine = told && { engine: openSqlite(file, undefined, told) }
  const api = await startApi(t, { file, masterKey, clock, edgeUrlFor: nowhere, ai, ...engine })
  let looking: ReturnType<typeof lookInto> | undefined
  const look = () => (looking ??= lookInto(t, file))
  let known = { version: undefined as unknown, rows: '' }
  const rates = createRateLimits(clock)
  let calls = 0

  return {
    ...api,
    clock,
    /** The same of every copy, and most do not ask. */
    get declarations() {
      return apiEndpoints({ ...api.services, rates }).map(({ declaration }) => declaration)
    },

    /** As the endpoint takes it, but for what is said otherwise; each from an address of its own. */
    async ask(declaration: Declaration, otherwise: Otherwise = {}) {
      const call = callOf(declaration, prepared)
      const { method = declaration.method, path = call.path, query = '' } = otherwise
      const authorization =
        otherwise.authorization === undefined
          ? authorizationOf(declaration.caller, call.tenant)
          : otherwise.authorization
      const key = declaration.caller === 'analyzer_in_query' ? keyIn(call.tenant, otherwise) : ''
      const address = `2001:db8::${(calls++).toString(16)}`
      const headers = {
        ...otherwise.headers,
        ...(authorization === null ? {} : { authorization }),
      }
      const hasBody = method !== 'GET' && method !== 'HEAD'
      const body = hasBody && declaration.body !== undefined ? call.body : undefined
      const asked = [key, query].filter((part) => part !== '').join('&')
      return api.call(method, asked === '' ? path : `${path}?${asked}`, body, {
        ...otherwise,
        key: null,
        headers,
        address,
      })
    },

    /** Every row of every table; read again only if another connection has committed something. */
    written(): string {
      const now = look().version.get()
      if (known.version !== now) known = { version: now, rows: rows(() => true) }
      return known.rows
    },

    /** Every row that names this tenant. */
    rowsOf: (tenantId: string): string => rows((row) => row['tenant_id'] === tenantId),
  }

  function rows(isMeant: (row: Record<string, unknown>) => boolean): string {
    const hash = createHash('sha256')
    for (const read of look().reads)
      hash.update(JSON.stringify((read.all() as Record<string, unknown>[]).filter(isMeant)))
    return hash.digest('hex')
  }

  function authorizationOf(caller: Caller, tenant: keyof Prepared['tenants']): string | null {
    const { analyzer_key, client_id, client_secret } = prepared.tenants[tenant]
    switch (caller) {
      case 'operator':
        return `Bearer ${OPERATOR_KEY}`
      case 'analyzer':
        return `Bearer ${analyzer_key}`
      case 'client':
        return basic(client_id, client_secret)
      default:
        return null
    }
  }

  function keyIn(tenant: keyof Prepared['tenants'], { keyInQuery }: Otherwise): string {
    return keyInQuery ?? `api_key=${prepared.tenants[tenant].analyzer_key}`
  }
}

export interface Otherwise extends Omit<CallOptions, 'key' | 'address'> {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  /** null: none. */
  readonly authorization?: string | null
  readonly keyInQuery?: string
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}
