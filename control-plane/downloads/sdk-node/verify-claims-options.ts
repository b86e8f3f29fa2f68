/** What `verifyClaims()` is told, each option checked where it is given; the error names it. */
import { issuerOf } from '../../../shared/issuer.ts'
import { normalPrefix } from '../../../shared/enforcement/path.ts'
import { optionReaders } from './option-readers.ts'

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
  /**
   * What becomes of requests without claims while the service itself says that the tenant is not
   * live. Default: they pass, and nobody is named. `refuse`: they are refused, then as ever.
   */
  readonly beforeLive?: 'pass' | 'refuse'
  /** Path prefixes that are served without claims: health checks of a load balancer bring none. */
  readonly excluded?: readonly string[]
  /** Is told what goes wrong behind the scenes. Default: a warning of the process. */
  readonly onWarning?: (message: string) => void
  readonly fetch?: typeof fetch
  readonly nowMs?: () => number
}

interface ClaimsSettings {
  readonly tenantId: string
  readonly issuer: string
  readonly audience: string
  readonly publicKeyFile: string | undefined
  readonly publicKeyUrl: string | undefined
  /** undefined: the service is not asked, and who brings no claims is refused. */
  readonly protectionUrl: string | undefined
  readonly excluded: readonly string[]
  readonly onWarning: (message: string) => void
  readonly fetch: typeof fetch
  readonly nowMs: () => number
}

const OPTIONS = [
  'baseUrl',
  'tenantId',
  'publicKeyFile',
  'publicKeyUrl',
  'beforeLive',
  'excluded',
  'onWarning',
  'fetch',
  'nowMs',
] satisfies (keyof VerifyClaimsOptions)[]

const read = optionReaders('verifyClaims')

export function readVerifyClaimsOptions(
  options: VerifyClaimsOptions,
  environment: Readonly<Record<string, string | undefined>>,
): ClaimsSettings {
  read.known(options, OPTIONS)
  const baseUrl = read.baseUrl(options.baseUrl ?? environment['SERVICE_BASE_URL'])
  const tenantId = read.tenantId(options.tenantId ?? environment['SERVICE_TENANT_ID'])
  const publicKeyFile =
    options.publicKeyFile ?? (environment['SERVICE_PUBLIC_KEY_FILE'] || undefined)
  if (publicKeyFile !== undefined && (typeof publicKeyFile !== 'string' || publicKeyFile === ''))
    throw read.wrong('publicKeyFile', 'must be the path of a file')
  if (options.publicKeyUrl === false && publicKeyFile === undefined)
    throw read.wrong(
      'publicKeyFile',
      'is missing: without publicKeyUrl it is the only source of keys',
    )
  const { beforeLive = 'pass' } = options
  if (beforeLive !== 'pass' && beforeLive !== 'refuse')
    throw read.wrong('beforeLive', 'must be "pass" or "refuse"')
  const ownUrl = `${baseUrl}/tenants/${tenantId}/public-key`
  const isAsked = beforeLive === 'pass' && options.publicKeyUrl !== false
  return {
    tenantId,
    issuer: issuerOf(baseUrl, tenantId),
    audience: `${tenantId}-user`,
    publicKeyFile,
    publicKeyUrl:
      options.publicKeyUrl === false
        ? undefined
        : read.httpUrl('publicKeyUrl', options.publicKeyUrl ?? ownUrl),
    protectionUrl: isAsked ? `${baseUrl}/tenants/${tenantId}/protection` : undefined,
    excluded: readExcluded(options.excluded ?? []),
    onWarning: read.warning(options.onWarning),
    fetch: read.func('fetch', options.fetch) ?? globalThis.fetch,
    nowMs: read.func('nowMs', options.nowMs) ?? Date.now,
  }
}

function readExcluded(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw read.wrong('excluded', 'must be a list of path prefixes')
  return value.map((prefix: unknown, index) => {
    const normal = typeof prefix === 'string' ? normalPrefix(prefix) : undefined
    if (normal === undefined)
      throw read.wrong(`excluded[${index}]`, 'must be a plain path prefix like /health')
    return normal
  })
}
