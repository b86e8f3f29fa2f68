/** What `enforce()` is told, each option checked where it is given; the error names it. */
import { hostname } from 'node:os'
import { isThisMachine } from '../../../../shared/hosts.ts'
import { isNameless } from '../../../../shared/client-address.ts'
import { networkList } from '../../../../shared/networks.ts'
import { HOUR_MS, SECOND_MS, steadyMs } from '../../../../shared/clock.ts'
import { optionReaders } from '../option-readers.ts'
import type { EnforceOptions } from '../published.ts'

type ReadOptions = ReturnType<typeof readEnforceOptions>
export type EnforceSettings = ReadOptions & { readonly secrets: Secrets }

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

export function readEnforceOptions(options: EnforceOptions, environment: Environment) {
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
    steadyMs: options.nowMs ?? steadyMs,
  }
  if (isInTheClear(settings.baseUrl))
    settings.onWarning(
      'service-node: baseUrl starts with http://, so the client secret travels unencrypted; use https://',
    )
  return settings
}

/** On the way to this very machine there is nobody who could read along. */
function isInTheClear(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !isThisMachine(hostname)
}

/** The first is asked with first, and written with; the other, if there is one, is read too. */
type Secrets = readonly [string, ...string[]]

/** undefined: nobody has set any so far. */
function secretsOf(
  { clientSecret, previousClientSecret }: EnforceOptions,
  environment: Environment,
): Secrets | undefined {
  const secret = clientSecret ?? environment['SERVICE_CLIENT_SECRET']
  const previous = previousClientSecret ?? environment['SERVICE_CLIENT_SECRET_PREVIOUS']
  if (secret === undefined || secret === '') return undefined
  for (const [name, value] of Object.entries({
    clientSecret: secret,
    previousClientSecret: previous,
  }))
    if (value !== undefined && typeof value !== 'string') throw read.wrong(name, 'must be a string')
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

function outageOf({
  limitSeconds = OUTAGE_LIMIT_SECONDS,
  then = 'refuse',
}: NonNullable<EnforceOptions['outage']>) {
  if (typeof limitSeconds !== 'number' || !(limitSeconds >= 0))
    throw read.wrong('outage.limitSeconds', 'must be a number of seconds')
  if (then !== 'refuse' && then !== 'keep')
    throw read.wrong('outage.then', `must be 'refuse' or 'keep'`)
  return { outageLimitMs: limitSeconds * SECOND_MS, afterOutage: then }
}
