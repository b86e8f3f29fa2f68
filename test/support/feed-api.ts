/** An application in sdk mode, as the API sees it: it polls, and reports what it enforced. */
import { movableClock, type ServicesOptions } from './control-plane.ts'
import { startApi, type ApiAnswer } from './api.ts'

type Scope = Parameters<typeof startApi>[0]

export const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

export async function startFeedApi(t: Scope, options: ServicesOptions = {}) {
  const clock = movableClock()
  const api = await startApi(t, { clock, ...options })
  const secrets = new Map<string, string>()

  async function sdkTenant(tenantId: string, settings: Record<string, unknown> = {}) {
    const made = await api.tenant(tenantId, { mode: 'sdk', hostnames: [], ...settings })
    await api.operator('POST', `/tenants/${tenantId}/publish`)
    secrets.set(tenantId, made.client_secret)
    return made
  }
  const authorization = (tenantId: string) =>
    basic(`${tenantId}-user`, secrets.get(tenantId) ?? 'none')

  /** With the right credentials, where `headers` do not say otherwise. */
  const poll = (tenantId: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    api.call('GET', '/api/v1/enforcement/state', undefined, {
      key: null,
      headers: { authorization: authorization(tenantId), ...headers },
    })
  const report = (tenantId: string, body: unknown, options: Parameters<typeof api.call>[3] = {}) =>
    api.call('POST', '/api/v1/enforcement/events', body, {
      key: null,
      ...options,
      headers: { authorization: authorization(tenantId), ...options.headers },
    })

  /** A session that is alive; answers its sid. */
  async function session(tenantId: string, sid: string, userId = 'ada') {
    await api.services.sessions.record({
      tenantId,
      sid,
      userId,
      ip: '192.0.2.1',
      userAgent: 'test',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 28_800_000,
    })
    return sid
  }
  return { ...api, clock, sdkTenant, poll, report, session, authorization }
}

export const etagOf = ({ headers }: ApiAnswer): string => headers.get('etag') ?? ''
