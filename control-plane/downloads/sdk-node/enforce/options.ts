/** What `enforce()` is told, each option checked where it is given; the error names it. */
import { hostname } from 'node:os'
import { isThisMachine } from '../../../../shared/hosts.ts'
import { isNameless } from '../../../../shared/client-address.ts'
import { networkList } from '../../../../shared/networks.ts'
import { HOUR_MS, SECOND_MS } from '../../../../shared/clock.ts'
import { optionReaders } from '../option-readers.ts'

interface OutageRule {
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
  /**
   * Load balancers whose X-Forwarded-For is believed: addresses, networks, `unix:` for a unix socket,
   * `unknown` for whoever stands in front of `proxy.ts`. Default: `SERVICE_TRUSTED_PROXIES`.
   */
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
const OPTIONS = [
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
] satisfies (keyof EnforceOptions)[]

const read = optionReaders('enforce')

export function readEnforceOptions(
  options: EnforceOptions,
  environment: Environment,
): EnforceSettings {
  read.known(options, OPTIONS)
  const settings = {
    baseUrl: read.baseUrl(options.baseUrl ?? environment['SERVICE_BASE_URL']),
    tenantId: read.tenantId(options.tenantId ?? environment['SERVICE_TENANT_ID']),
    secrets: secretsOf(options, environment),
    instance: instanceOf(options.instance),
    trustedProxies: proxiesOf(options.trustedProxies, environment),
    ...outageOf(options.outage ?? {}),
    onWarning: read.warning(options.onWarning),
    fetch: read.func('fetch', options.fetch) ?? globalThis.fetch,
    nowMs: read.func('nowMs', options.nowMs) ?? Date.now,
  }
  if (isInTheClear(settings.baseUrl))
    settings.onWarning(
      'service-node: baseUrl begins with http://, so the client secret can be read on the way',
    )
  return settings
}

/** On the way to this very machine there is nobody who could read along. */
function isInTheClear(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !isThisMachine(hostname)
}

function secretsOf(
  { clientSecret, previousClientSecret }: EnforceOptions,
  environment: Environment,
): EnforceSettings['secrets'] {
  const secret = clientSecret ?? environment['SERVICE_CLIENT_SECRET']
  const previous = previousClientSecret ?? environment['SERVICE_CLIENT_SECRET_PREVIOUS']
  if (secret === undefined || secret === '')
    throw read.wrong('clientSecret', 'is missing: give it, or set SERVICE_CLIENT_SECRET')
  for (const [name, value] of Object.entries({
    clientSecret: secret,
    previousClientSecret: previous,
  }))
    if (value !== undefined && typeof value !== 'string') throw read.wrong(name, 'must be a text')
  return previous === undefined || previous === '' || previous === secret
    ? [secret]
    : [secret, previous]
}

function instanceOf(option: string | undefined): string {
  const name = option ?? `${hostname()}-${process.pid}`.replace(/[^A-Za-z0-9._-]/g, '-').slice(-64)
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name)) return name
  throw read.wrong('instance', 'must be 1 to 64 letters, digits, dots, dashes or underscores')
}

function proxiesOf(option: readonly string[] | undefined, environment: Environment): string[] {
  const list = option ?? (environment['SERVICE_TRUSTED_PROXIES'] ?? '').split(',')
  const wish = 'must be a list of addresses or networks like 10.0.0.0/8, unix: or unknown'
  if (!Array.isArray(list)) throw read.wrong('trustedProxies', wish)
  try {
    const cidrs = (list as string[]).map((cidr) => cidr.trim()).filter((cidr) => cidr !== '')
    networkList(cidrs.filter((cidr) => !isNameless(cidr)))
    return cidrs
  } catch {
    throw read.wrong('trustedProxies', wish)
  }
}

function outageOf({ limitSeconds = OUTAGE_LIMIT_SECONDS, then = 'refuse' }: OutageRule) {
  if (typeof limitSeconds !== 'number' || !(limitSeconds >= 0))
    throw read.wrong('outage.limitSeconds', 'must be a number of seconds')
  if (then !== 'refuse' && then !== 'keep')
    throw read.wrong('outage.then', `must be 'refuse' or 'keep'`)
  return { outageLimitMs: limitSeconds * SECOND_MS, afterOutage: then }
}
