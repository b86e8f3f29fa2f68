/**
 * Header names that must not reach an application from outside: the one list, for the edge and for
 * the middleware. Names are compared after `normalised`. Why each family is here, and what is let
 * pass on purpose: .docs/decisions/0026-headers-from-outside.md.
 */

/** Lower-cased, and whatever is no letter or digit a dash. */
export const normalised = (name: string): string => name.toLowerCase().replace(/[^a-z0-9-]/g, '-')

/**
 * CGI and its heirs fold what is no letter or digit into `_`, and gunicorn takes `SCRIPT_NAME` for
 * where the application begins: another path than the one that was decided on, or our own header in
 * another spelling (CVE-2025-64484). So no such name goes on, whatever it says, as with nginx.
 */
const PLAIN_NAME = /^[A-Za-z0-9-]+$/

/** Frameworks let these override the path or the decision (lessons: CVE-2025-29927). */
export const PATH_OVERRIDES = [
  // rewriting servers: IIS, nginx, Apache, Traefik, HAProxy
  'x-original-url',
  'x-original-uri',
  'x-original-path',
  'x-original-host',
  'x-original-method',
  'x-original-query',
  'x-original-request-uri',
  'x-rewrite-url',
  'x-rewrite-uri',
  'x-rewritten-url',
  'x-override-url',
  'x-override-uri',
  'x-replaced-path',
  'x-envoy-original-path',
  'x-waws-unencoded-url',
  'x-http-path-override',
  'x-http-host-override',
  'x-http-destinationurl',
  'x-host',
  'x-proxy-url',
  'x-request-uri',
  'x-request-url',
  'x-request-path',
  'request-uri',
  'request-url',
  'request-path',
  'document-uri',
  // below which path the application is: WSGI, Rack, Spring, ASP.NET, NiFi, Home Assistant
  'base-url',
  'script-name',
  'x-script-name',
  'path-info',
  'x-path-info',
  'path-translated',
  'script-filename',
  'x-ingress-path',
  'x-proxy-path',
  'x-proxycontextpath',
  'x-proxyhost',
  'x-proxyport',
  'x-proxyscheme',
  'x-forwarded-path',
  'x-forwarded-pathbase',
  'x-forwarded-prefix',
  'x-forwarded-context',
  'x-forwarded-script-name',
  'x-forwarded-uri',
  'x-forwarded-url',
  'x-forwarded-request-uri',
  'x-forwarded-method',
  // which file is sent: Rack and Plack map the path by it (CVE-2025-61780)
  'x-sendfile',
  'x-sendfile-type',
  'x-lighttpd-send-file',
  // between the parts of Next.js and the platform that it runs on
  'x-matched-path',
  'x-now-route-matches',
  'x-next-resume-state-length',
  // HTTP_PROXY, of which CGI programs make their own proxy (CVE-2016-5385)
  'proxy',
] as const

/** The same by how they begin. */
export const PATH_PREFIXES = [
  'x-service-',
  'x-accel-',
  'x-astro-',
  'x-invoke-',
  'x-middleware-',
  'x-react-router-',
] as const

/** By which a machine says who it is; for us alone. */
export const SERVICE_ID_HEADER = 'service-client-id'
export const SERVICE_SECRET_HEADER = 'service-client-secret'

/** Frameworks do what these say instead of what the request line says. They go on, and rules ask for both. */
export const METHOD_OVERRIDES = [
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
] as const

/** Who the client is and how it came, says whoever stands in front: at the edge that is us. */
export const CLIENT_CLAIMS = [
  'forwarded',
  'forwarded-for',
  'forwarded-for-ip',
  'x-forwarded',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-real-port',
  'x-client-ip',
  'x-client-port',
  'x-cluster-client-ip',
  'x-remote-ip',
  'x-remote-addr',
  'x-remote-host',
  'x-originating-ip',
  'x-original-remote-addr',
  'x-source-ip',
  'x-user-ip',
  'x-true-ip',
  'x-true-client-ip',
  'x-trusted-ip',
  'x-ip',
  'x-proxyuser-ip',
  'x-custom-ip-authorization',
  'true-client-ip',
  'client-ip',
  'http-client-ip',
  'real-ip',
  'remote-addr',
  'remote-ip',
  'remote-host',
  'source-ip',
  'user-ip',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  // platforms
  'ali-cdn-real-ip',
  'cdn-real-ip',
  'cdn-src-ip',
  'x-cdn-src-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'cf-visitor',
  'cf-connecting-o2o',
  'cloudfront-forwarded-proto',
  'cloudfront-viewer-address',
  'disguised-host',
  'do-connecting-ip',
  'fastly-client-ip',
  'fastly-ssl',
  'fly-client-ip',
  'fly-forwarded-port',
  'fly-forwarded-proto',
  'fly-forwarded-ssl',
  'incap-client-ip',
  'x-amzn-lambda-context',
  'x-amzn-request-context',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-sucuri-clientip',
  // the protocol, as gunicorn, Rack, Django and WebLogic read it
  'front-end-https',
  'wl-proxy-ssl',
  'x-scheme',
  'x-original-proto',
  'x-original-scheme',
  'x-url-scheme',
] as const

/** The same by how they begin. */
export const CLIENT_PREFIXES = [
  'x-apigateway-',
  'x-appengine-',
  'x-arr-',
  'x-envoy-',
  'x-forwarded-',
  'x-nf-',
  'x-vercel-',
] as const

const OVERRIDES: ReadonlySet<string> = new Set([
  ...PATH_OVERRIDES,
  SERVICE_ID_HEADER,
  SERVICE_SECRET_HEADER,
])

/**
 * For the middleware: what claims an identity or another path. What a load balancer in front of the
 * application says of the client is the application's to believe. The `:path` of HTTP/2 is no name
 * that anybody sends as such.
 */
export function isForeign(name: string): boolean {
  if (!PLAIN_NAME.test(name)) return name.charCodeAt(0) !== 0x3a
  const key = name.toLowerCase()
  return OVERRIDES.has(key) || PATH_PREFIXES.some((prefix) => key.startsWith(prefix))
}
