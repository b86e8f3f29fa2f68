/**
 * What an application says about who may store its answer. One to a signed-in user must not reach
 * another out of a shared cache, and neither may a cookie that we add (CVE-2026-24472).
 */

const FORBIDS = /(?:^|,)[ \t]*(?:no-store|private)[ \t]*(?:,|$)/i
const ALLOWS = /(?:^|,)[ \t]*(?:public|s-maxage[ \t]*=[^,]*)[ \t]*(?:,|$)/i

/** Of a Cache-Control; '' says nothing. */
export function sharingOf(cacheControl: string): 'forbidden' | 'allowed' | 'unsaid' {
  if (cacheControl === '') return 'unsaid'
  if (FORBIDS.test(cacheControl)) return 'forbidden'
  return ALLOWS.test(cacheControl) ? 'allowed' : 'unsaid'
}

/**
 * Which fields one cache in front of us obeys before Cache-Control (RFC 9213, Edge Architecture,
 * nginx): where one of them lets it store, our `private` does not keep it from that.
 */
export const TARGETED_CACHE_FIELDS = [
  'cdn-cache-control',
  'surrogate-control',
  'cloudflare-cdn-cache-control',
  'vercel-cdn-cache-control',
  'netlify-cdn-cache-control',
  'edge-control',
  'x-accel-expires',
] as const

export const isTargetedSharing = (value: string): boolean =>
  value !== '' && !FORBIDS.test(value) && !/^(?:0|off)$/i.test(value)
