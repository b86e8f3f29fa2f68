/**
 * Header names that must not reach an application from outside. Names are compared after
 * `normalised`, so that a framework that reads `X_Service_User` or `x.service.user` as our header
 * finds it gone.
 */

/**
 * Lower-cased, and whatever is no letter or digit a dash: CGI and its heirs fold `_`, `.` and more
 * into one character (CVE-2025-64484).
 */
export const normalised = (name: string): string => name.toLowerCase().replace(/[^a-z0-9-]/g, '-')

/** Frameworks let these override the path or the decision (lessons: CVE-2025-29927). */
export const PATH_OVERRIDES = [
  'x-original-url',
  'x-original-uri',
  'x-original-path',
  'x-original-host',
  'x-rewrite-url',
  'x-override-url',
  'x-http-path-override',
  'x-envoy-original-path',
  'x-waws-unencoded-url',
  'x-proxy-url',
  'x-accel-redirect',
  'x-sendfile',
  'request-uri',
  'base-url',
  'x-middleware-subrequest',
  'x-forwarded-path',
  'x-forwarded-prefix',
  'proxy',
] as const

/** Who the client is, says whoever stands in front: at the edge that is us. */
export const CLIENT_CLAIMS = ['x-real-ip', 'true-client-ip', 'x-client-ip', 'forwarded'] as const

const OVERRIDES: ReadonlySet<string> = new Set(PATH_OVERRIDES)

/**
 * For the middleware: what claims an identity or another path. What a load balancer in front of the
 * application says of the client is the application's to believe. Runs for every header line.
 */
export function isForeign(name: string): boolean {
  switch (name.charCodeAt(0) | 0x20) {
    case 0x78: // x
    case 0x72: // r
    case 0x62: // b
    case 0x70: {
      const folded = normalised(name)
      return folded.startsWith('x-service-') || OVERRIDES.has(folded)
    }
    default:
      return false
  }
}
