/** What `verifyClaims()` is told, each option checked where it is given; the error names it. */
import { steadyMs } from '../../../shared/clock.ts'
import { issuerOf } from '../../../shared/issuer.ts'
import { normalPrefix } from '../../../shared/enforcement/path.ts'
import { optionReaders } from './option-readers.ts'
import type { VerifyClaimsOptions } from './published.ts'

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
) {
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
    /** undefined: the service is not asked, and who brings no claims is refused. */
    protectionUrl: isAsked ? `${baseUrl}/tenants/${tenantId}/protection` : undefined,
    excluded: readExcluded(options.excluded ?? []),
    onWarning: read.warning(options.onWarning),
    fetch: read.func('fetch', options.fetch) ?? globalThis.fetch,
    nowMs: read.func('nowMs', options.nowMs) ?? Date.now,
    steadyMs: options.nowMs ?? steadyMs,
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
