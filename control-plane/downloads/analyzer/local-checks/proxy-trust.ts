/**
 * Whose word the application takes for a visitor's address and for https. Behind the edge that of the
 * gateways alone; an application that believes anybody can be told any address.
 */
import { type CheckResult, resultsOf } from '../../../../shared/integration/check-result.ts'
import type { Facts } from '../api.ts'
import type { FrameworkName } from '../detection/application.ts'
import { foundInCode } from './code-files.ts'
import type { LocalCheck } from './looked-at.ts'

const { fail, pass, skip, warn } = resultsOf('proxy_trust')

interface ProxyRules {
  /** Says whom it believes. */
  readonly set: RegExp
  /** Among those: believes anybody. */
  readonly open: RegExp
  /** How to say it, with the addresses of the gateways. */
  readonly fix: string
  /** What it does without a word: nothing is wrong with believing nobody but in what is logged. */
  readonly isSafeUnset?: boolean
}

const EXPRESS: ProxyRules = {
  set: /['"`]trust proxy(?: fn)?['"`]/g,
  open: /\.(?:set\(\s*['"`]trust proxy['"`]\s*,\s*true\s*\)|enable\(\s*['"`]trust proxy['"`]\s*\))/g,
  fix: "app.set('trust proxy', ['<address of the gateways>'])",
}

const RULES: Partial<Readonly<Record<FrameworkName, ProxyRules>>> = {
  express: EXPRESS,
  nest: { ...EXPRESS, set: /['"`]trust proxy['"`]|\btrustProxy\b/g },
  fastify: {
    set: /\btrustProxy\b/g,
    open: /\btrustProxy['"]?\s*:\s*true\b/g,
    fix: "fastify({ trustProxy: ['<address of the gateways>'] })",
  },
  koa: {
    set: /\.proxy\s*=|\bproxy\s*:\s*(?:true|false)/g,
    open: /\.proxy\s*=\s*true\b(?![\s\S]*maxIpsCount)|\bproxy\s*:\s*true\b(?![\s\S]*maxIpsCount)/g,
    fix: 'new Koa({ proxy: true, maxIpsCount: 1 })',
  },
  django: {
    set: /\bSECURE_PROXY_SSL_HEADER\b/g,
    open: /\bALLOWED_HOSTS\s*=\s*\[\s*['"]\*['"]\s*\][\s\S]*\bUSE_X_FORWARDED_HOST\s*=\s*True/g,
    fix: "SECURE_PROXY_SSL_HEADER = ('HTTP_X_FORWARDED_PROTO', 'https')",
  },
  flask: {
    set: /\bProxyFix\(/g,
    open: /\bProxyFix\([^)]*\bx_for\s*=\s*(?:[2-9]|\d\d)/g,
    fix: 'app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1, x_host=1)',
  },
  fastapi: {
    set: /\bforwarded[_-]allow[_-]ips\b|\bProxyHeadersMiddleware\b/g,
    open: /\bforwarded[_-]allow[_-]ips['"]?\s*[=:,]\s*\[?\s*['"]\*|\btrusted_hosts\s*=\s*\[?\s*['"]\*/g,
    fix: "uvicorn.run(app, proxy_headers=True, forwarded_allow_ips='<address of the gateways>')",
  },
  rails: {
    set: /\btrusted_proxies\b/g,
    open: /\btrusted_proxies\s*=.*(?:0\.0\.0\.0\/0|::\/0)/g,
    fix: "config.action_dispatch.trusted_proxies = [IPAddr.new('<address of the gateways>')]",
    isSafeUnset: true, // private networks and nobody else
  },
  laravel: {
    set: /\btrustProxies\(|\bTrustProxies\b[\s\S]*\$proxies\s*=|\$proxies\s*=/g,
    open: /\btrustProxies\([^)]*['"]\*\*?['"]|\$proxies\s*=\s*['"]\*\*?['"]/g,
    fix: "$middleware->trustProxies(at: ['<address of the gateways>']) in bootstrap/app.php",
  },
  spring: {
    set: /\bforward-headers-strategy\b|\bForwardedHeaderFilter\b/gi,
    open: /\binternal-proxies\s*[=:]\s*['"]?(?:\.\*|\.\+)/g,
    fix: 'server.forward-headers-strategy=native in application.properties',
  },
  aspnet: {
    set: /\bUseForwardedHeaders\b/g,
    open: /\bKnown(?:Networks|Proxies|IPNetworks)\.Clear\(\)/g,
    fix: 'options.KnownProxies.Add(IPAddress.Parse("<address of the gateways>")) and app.UseForwardedHeaders()',
  },
  go: {
    set: /\bSetTrustedProxies\(|\bIPExtractor\b|\bRealIP\b|\bProxyHeaders\b/g,
    open: /\bmiddleware\.RealIP\b|\bhandlers\.ProxyHeaders\b|0\.0\.0\.0\/0/g,
    fix: 'router.SetTrustedProxies([]string{"<address of the gateways>"}) for gin; read X-Forwarded-For from nobody else',
    isSafeUnset: true,
  },
}

export const proxyTrust: LocalCheck = async (at) => {
  const { application, world } = at
  const { mode } = world.tenant
  const rules = RULES[application.framework]
  if (rules === undefined) return skip('This framework trusts no proxy by default.')
  // gin believes everybody until it is told whom to
  const isGin = application.framework === 'go' && application.variant?.includes('gin') === true
  let place: string | null = null
  for await (const found of foundInCode(at, [rules.open, rules.set])) {
    if (found.pattern === rules.open) return tooOpen(found.place, rules, mode)
    place ??= found.place
  }
  if (place !== null) return pass(`${place} sets whose X-Forwarded-For is trusted.`)
  if (isGin) return tooOpen('gin, until trusted proxies are set,', rules, mode)
  if (rules.isSafeUnset === true) return pass('No outside address information is trusted.')
  if (mode === 'sdk') return pass('No proxy is trusted, which is right if there is none in front.')
  return warn(
    `No proxy is trusted: to the application, all visitors seem to come from the ${mode === 'connector' ? 'connector' : 'gateway'}, over http.`,
    fixFor(rules, mode),
  )
}

/** In connector mode whoever calls the application is the connector beside it. */
const fixFor = ({ fix }: ProxyRules, mode: Facts['mode']): string =>
  mode === 'connector' ? fix.replaceAll('<address of the gateways>', '127.0.0.1') : fix

function tooOpen(place: string, rules: ProxyRules, mode: Facts['mode']): CheckResult {
  const whom = mode === 'connector' ? 'the connector (127.0.0.1 on its machine)' : 'the gateways'
  return fail(
    `${place} trusts X-Forwarded-For from anyone.`,
    `Trust only ${whom}: ${fixFor(rules, mode)}`,
  )
}
