/** What `verifyClaims()` is told, each option checked where it is given; the error names it. */
import { normalPrefix } from '../../../shared/enforcement/path.ts'
import { TENANT_ID } from '../../../shared/snapshot.ts'

export interface VerifyClaimsOptions {
  /** Where the service is, as browsers reach it. Default: `SERVICE_BASE_URL`. */
  readonly baseUrl?: string
  /** Default: `SERVICE_TENANT_ID`. */
  readonly tenantId?: string
  /**
   * One or several PEM public keys. Default: `SERVICE_PUBLIC_KEY_FILE`, else `service_public.pem`
   * where the application was started, if there is one.
   */
  readonly publicKeyFile?: string
  /** Default: the tenant's own address at the service; `false`: the file alone. */
  readonly publicKeyUrl?: string | false
  /** Path prefixes that are served without claims: health checks of a load balancer bring none. */
  readonly excluded?: readonly string[]
  /** Is told what goes wrong behind the scenes. Default: a warning of the process. */
  readonly onWarning?: (message: string) => void
  readonly fetch?: typeof fetch
  readonly nowMs?: () => number
}

export interface ClaimsSettings {
  readonly tenantId: string
  readonly issuer: string
  readonly audience: string
  readonly publicKeyFile: string | undefined
  readonly publicKeyUrl: string | undefined
  readonly excluded: readonly string[]
  readonly onWarning: (message: string) => void
  readonly fetch: typeof fetch
  readonly nowMs: () => number
}

const OPTIONS = new Set<string>([
  'baseUrl',
  'tenantId',
  'publicKeyFile',
  'publicKeyUrl',
  'excluded',
  'onWarning',
  'fetch',
  'nowMs',
] satisfies (keyof VerifyClaimsOptions)[])

export function readVerifyClaimsOptions(
  options: VerifyClaimsOptions,
  environment: Readonly<Record<string, string | undefined>>,
): ClaimsSettings {
  if (typeof options !== 'object' || options === null) throw wrong('options', 'must be an object')
  for (const name of Object.keys(options))
    if (!OPTIONS.has(name)) throw wrong(name, `is no option; there are ${[...OPTIONS].join(', ')}`)
  const baseUrl = readBaseUrl(options.baseUrl ?? environment['SERVICE_BASE_URL'])
  const tenantId = readTenantId(options.tenantId ?? environment['SERVICE_TENANT_ID'])
  const publicKeyFile =
    options.publicKeyFile ?? (environment['SERVICE_PUBLIC_KEY_FILE'] || undefined)
  if (publicKeyFile !== undefined && (typeof publicKeyFile !== 'string' || publicKeyFile === ''))
    throw wrong('publicKeyFile', 'must be the path of a file')
  if (options.publicKeyUrl === false && publicKeyFile === undefined)
    throw wrong('publicKeyFile', 'is missing: without publicKeyUrl it is the only source of keys')
  const ownUrl = `${baseUrl}/tenants/${tenantId}/public-key`
  return {
    tenantId,
    issuer: `${baseUrl}/auth/realms/${tenantId}`,
    audience: `${tenantId}-user`,
    publicKeyFile,
    publicKeyUrl:
      options.publicKeyUrl === false
        ? undefined
        : readHttpUrl('publicKeyUrl', options.publicKeyUrl ?? ownUrl),
    excluded: readExcluded(options.excluded ?? []),
    onWarning: readFunction('onWarning', options.onWarning) ?? warnProcess,
    fetch: readFunction('fetch', options.fetch) ?? globalThis.fetch,
    nowMs: readFunction('nowMs', options.nowMs) ?? Date.now,
  }
}

function readBaseUrl(value: unknown): string {
  if (value === undefined || value === '')
    throw wrong('baseUrl', 'is missing: give it, or set SERVICE_BASE_URL')
  return readHttpUrl('baseUrl', value).replace(/\/+$/, '')
}

/** The text as given: an issuer is compared letter by letter. */
function readHttpUrl(name: string, value: unknown): string {
  const wish = 'must be an address like https://service.example.com'
  if (typeof value !== 'string' || !URL.canParse(value)) throw wrong(name, wish)
  const { protocol, username, password, search, hash } = new URL(value)
  if (protocol !== 'https:' && protocol !== 'http:') throw wrong(name, wish)
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    throw wrong(name, `${wish}, without credentials, query or fragment`)
  return value
}

function readTenantId(value: unknown): string {
  if (value === undefined || value === '')
    throw wrong('tenantId', 'is missing: give it, or set SERVICE_TENANT_ID')
  if (typeof value !== 'string' || !TENANT_ID.test(value))
    throw wrong('tenantId', 'must be the id of a tenant: lower-case letters, digits and dashes')
  return value
}

function readExcluded(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw wrong('excluded', 'must be a list of path prefixes')
  return value.map((prefix: unknown, index) => {
    const normal = typeof prefix === 'string' ? normalPrefix(prefix) : undefined
    if (normal === undefined)
      throw wrong(`excluded[${index}]`, 'must be a plain path prefix like /health')
    return normal
  })
}

function readFunction<Wanted>(name: string, value: Wanted | undefined): Wanted | undefined {
  if (value !== undefined && typeof value !== 'function') throw wrong(name, 'must be a function')
  return value
}

/** Never with the value: somebody may have put a secret where an address belongs. */
function wrong(name: string, wish: string): TypeError {
  return new TypeError(`verifyClaims: ${name} ${wish}`)
}

function warnProcess(message: string): void {
  process.emitWarning(message, { code: 'SERVICE_NODE' })
}
