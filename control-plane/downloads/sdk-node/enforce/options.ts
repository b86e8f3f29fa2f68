/** What `enforce()` is told, each option checked where it is given; the error names it. */
import { hostname } from 'node:os'
import { networkList } from '../../../../shared/networks.ts'
import { HOUR_MS, SECOND_MS } from '../../../../shared/clock.ts'
import { TENANT_ID } from '../../../../shared/snapshot.ts'

export interface OutageRule {
  /** How long the last state that was heard is gone by while the service cannot be reached. */
  readonly limitSeconds?: number
  /** Behind that: refuse whoever needs a session, or go on with the last state. */
  readonly then?: 'refuse' | 'keep'
}

export interface EnforceOptions {
  /** Where the service is, as browsers reach it. Default: `SERVICE_BASE_URL`. */
  readonly baseUrl?: string
  /** Default: `SERVICE_TENANT_ID`. */
  readonly tenantId?: string
  /** Default: `SERVICE_CLIENT_SECRET`. */
  readonly clientSecret?: string
  /** While the secret is rotated, the other one. Default: `SERVICE_CLIENT_SECRET_PREVIOUS`. */
  readonly previousClientSecret?: string
  /** How the console names this process. Default: host name and process id. */
  readonly instance?: string
  /** Load balancers whose X-Forwarded-For is believed. Default: `SERVICE_TRUSTED_PROXIES`. */
  readonly trustedProxies?: readonly string[]
  /** Default: a day, then refuse. */
  readonly outage?: OutageRule
  /** Is told what goes wrong behind the scenes. Default: a warning of the process. */
  readonly onWarning?: (message: string) => void
  readonly fetch?: typeof fetch
  readonly nowMs?: () => number
}

export interface EnforceSettings {
  readonly baseUrl: string
  readonly tenantId: string
  /** The first is asked with first, and written with; the other, if there is one, is read too. */
  readonly secrets: readonly [string, ...string[]]
  readonly instance: string
  readonly trustedProxies: readonly string[]
  readonly outageLimitMs: number
  readonly afterOutage: 'refuse' | 'keep'
  readonly onWarning: (message: string) => void
  readonly fetch: typeof fetch
  readonly nowMs: () => number
}

type Environment = Readonly<Record<string, string | undefined>>

const OUTAGE_LIMIT_SECONDS = (24 * HOUR_MS) / SECOND_MS
const OPTIONS = new Set<string>([
  'baseUrl',
  'tenantId',
  'clientSecret',
  'previousClientSecret',
  'instance',
  'trustedProxies',
  'outage',
  'onWarning',
  'fetch',
  'nowMs',
] satisfies (keyof EnforceOptions)[])

export function readEnforceOptions(
  options: EnforceOptions,
  environment: Environment,
): EnforceSettings {
  if (typeof options !== 'object' || options === null) throw wrong('options', 'must be an object')
  for (const name of Object.keys(options))
    if (!OPTIONS.has(name)) throw wrong(name, `is no option; there are ${[...OPTIONS].join(', ')}`)
  const secret = wanted('clientSecret', options.clientSecret, environment, 'SERVICE_CLIENT_SECRET')
  const previous =
    options.previousClientSecret ?? (environment['SERVICE_CLIENT_SECRET_PREVIOUS'] || undefined)
  return {
    baseUrl: baseUrlOf(wanted('baseUrl', options.baseUrl, environment, 'SERVICE_BASE_URL')),
    tenantId: tenantIdOf(wanted('tenantId', options.tenantId, environment, 'SERVICE_TENANT_ID')),
    secrets: previous === undefined || previous === secret ? [secret] : [secret, previous],
    instance: instanceOf(options.instance),
    trustedProxies: proxiesOf(options.trustedProxies, environment),
    ...outageOf(options.outage ?? {}),
    onWarning: options.onWarning ?? warnProcess,
    fetch: options.fetch ?? globalThis.fetch,
    nowMs: options.nowMs ?? Date.now,
  }
}

function wanted(name: string, option: unknown, environment: Environment, variable: string): string {
  const value = option ?? environment[variable]
  if (value === undefined || value === '')
    throw wrong(name, `is missing: give it, or set ${variable}`)
  if (typeof value !== 'string') throw wrong(name, 'must be a text')
  return value
}

/** `https://service.example/` → `https://service.example`. */
function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && url.username === '' && url.search === '' && url.hash === ''
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw wrong('baseUrl', 'must be an address like https://service.example.com')
  return text.replace(/\/+$/, '')
}

function tenantIdOf(text: string): string {
  if (TENANT_ID.test(text)) return text
  throw wrong('tenantId', 'must be the id of a tenant: lower-case letters, digits and dashes')
}

function instanceOf(option: string | undefined): string {
  const name = option ?? `${hostname()}-${process.pid}`.replace(/[^A-Za-z0-9._-]/g, '-').slice(-64)
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name)) return name
  throw wrong('instance', 'must be 1 to 64 letters, digits, dots, dashes or underscores')
}

function proxiesOf(option: readonly string[] | undefined, environment: Environment): string[] {
  const list = option ?? (environment['SERVICE_TRUSTED_PROXIES'] ?? '').split(',')
  const wish = 'must be a list of addresses or networks like 10.0.0.0/8'
  if (!Array.isArray(list)) throw wrong('trustedProxies', wish)
  try {
    const cidrs = (list as string[]).map((cidr) => cidr.trim()).filter((cidr) => cidr !== '')
    networkList(cidrs)
    return cidrs
  } catch {
    throw wrong('trustedProxies', wish)
  }
}

function outageOf({ limitSeconds = OUTAGE_LIMIT_SECONDS, then = 'refuse' }: OutageRule) {
  if (typeof limitSeconds !== 'number' || !(limitSeconds >= 0))
    throw wrong('outage.limitSeconds', 'must be a number of seconds')
  if (then !== 'refuse' && then !== 'keep') throw wrong('outage.then', `must be 'refuse' or 'keep'`)
  return { outageLimitMs: limitSeconds * SECOND_MS, afterOutage: then }
}

/** Never with the value: somebody may have put a secret where an address belongs. */
function wrong(name: string, wish: string): TypeError {
  return new TypeError(`enforce: ${name} ${wish}`)
}

function warnProcess(message: string): void {
  process.emitWarning(message, { code: 'SERVICE_NODE' })
}
