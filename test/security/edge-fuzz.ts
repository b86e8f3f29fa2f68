/**
 * Differential fuzzing of the decision: whatever is asked, the edge and the middleware in each framework
 * do the same with it, and the application gets the same. What may differ is in the list that the
 * conformance tables go by (test/conformance/wire-differences.ts).
 *
 *   node test/security/edge-fuzz.ts [seconds] [seed]
 */
import { isDeepStrictEqual } from 'node:util'
import { NOBODY } from '../../shared/fleet/services.ts'
import type { EnforcedServices } from '../../shared/fleet/services.ts'
import type { Case } from '../conformance/case.ts'
import { hear, inequalities, violations } from '../conformance/table.ts'
import { DIFFERENCES } from '../conformance/wire-differences.ts'
import { CURRENT, HOST, startWorld, USER_AGENT, type World } from '../conformance/world.ts'
import { rulesOf, SERVICES } from '../support/access-rules.ts'
import { identityOf, newSecret, secretOf } from '../support/machines.ts'
import { mutator, pick, type Random } from './mutations.ts'

export interface EdgeFuzzReport {
  cases: number
  /** By what became of it at the edge. */
  readonly outcomes: Record<string, number>
  readonly disagreements: { target: string; why: readonly string[]; seed: number; ask: string }[]
}

interface Until {
  readonly seed: number
  readonly cases?: number
  readonly durationMs?: number
}

interface Teardown {
  teardown(close: () => unknown): void
}

const [CI, OTHER] = SERVICES
const [SECRET, OF_OTHER] = [newSecret(), newSecret()]
const DAY_SECONDS = 86_400

const STATE = {
  sealed: ['/admin', '/reports/internal'],
  excluded: ['/health', '/media', '/_next/static'],
  access: rulesOf([
    { path: '/', allow: [{ signed_in: true }] },
    { path: '/hooks', widen: true, allow: [NOBODY] },
    { path: '/finance', allow: [{ strength: 'mfa' }], methods: ['POST', 'DELETE'] },
    { path: '/finance', allow: [{ signed_in: true }], methods: ['GET'] },
    { path: '/media/private', allow: [{ signed_in: true }] },
  ]),
}

function servicesAt(world: World): EnforcedServices {
  const now = world.nowSeconds()
  const { issuer } = world.service
  const identity = (id: string) =>
    identityOf(CURRENT, id, { issuer, audience: 'app-user' }, now - 60)
  const [first, second] = [SECRET, OF_OTHER].map((text) => secretOf(text, now + 300 * DAY_SECONDS))
  return {
    services: [
      { service_id: CI, identity: identity(CI), secrets: [first!] },
      { service_id: OTHER, identity: identity(OTHER), secrets: [second!] },
    ],
    clauses: [{ rule: 1, allow: [{ service: CI }] }],
  }
}

const SEGMENTS = [
  'admin', 'Admin', '%61dmin', 'adm%69n', 'admin.json', 'admin;x=1', 'admin%00', 'admin%2fx', 'admin::$DATA',
  'ADMIN~1', '%c3%a0dmin', 'adm%c4%b1n', '%ffadmin', 'reports', 'Reports', 'internal', 'internal.html', 'reports%5cinternal',
  'health', 'healthz', 'media', 'private', 'Private', '%70rivate', 'private;x', 'finance', 'FINANCE', 'hooks', 'hooks.json',
  '_next', 'data', 'static', 'b', 'index.php', 'page-data', '(S(x))', '..', '.', '', '%2e%2e', '%252e%252e', '..;', '%2e.',
  'work', 'x', 'x.y', '%7Euser', 'caf%C3%A9', '%20', 'a+b', "it's", '[slug]', '{x}', '%u0061dmin', 'login',
] // prettier-ignore
const QUERIES = ['', '', '', '?', '?a=b', '?x=/admin', '?/../admin', '?returnTo=%2Fwork', '?a"b']
const OWN = ['/service/login', '/service/login?returnTo=/x', '/service/login?step_up=1', '/service/logout', '/service/callback?code=a&state=b', '/service/callback', '/service/Login', '/service/login/', '/service'] // prettier-ignore
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']
const OVERRIDES = ['GET', 'get', 'DELETE', 'delete', 'POST, GET', 'PUT;DELETE', ' ', 'GET POST PUT DELETE PATCH HEAD', '*'] // prettier-ignore
const ORIGINS = [`http://${HOST}`, `http://${HOST}:80`, `https://${HOST}`, 'null', 'http://evil.example', `http://${HOST.toUpperCase()}`] // prettier-ignore
const FOREIGN = [
  'X-Service-User: eve', 'x-service-claims: a.b.c', 'X_Service_User: eve', 'X-Service-Groups: root', 'X-Original-URL: /admin',
  'X-Rewrite-Url: /admin', 'Script-Name: /admin', 'X-Middleware-Subrequest: middleware', 'x.service.user: eve',
  'X-Service-Probe-Pass: a.b', 'X-Accel-Redirect: /admin', 'X-Forwarded-Prefix: /admin', 'X-HTTP-Host-Override: x', '__proto__: eve', 'Proxy: http://evil',
] // prettier-ignore
const PLAIN = ['X-A: b', 'X-A:', 'Authorization: Basic YTpi', 'If-None-Match: "x"', 'X-A: \xe4', 'Accept-Encoding: gzip', 'Range: bytes=0-1', 'Referer: http://evil.example/', 'Upgrade-Insecure-Requests: 1'] // prettier-ignore
const FETCH_MODES = ['navigate', 'cors', 'no-cors', 'same-origin', 'websocket', 'Navigate', 'navigate, cors'] // prettier-ignore
const FETCH_SITES = ['same-origin', 'cross-site', 'none', 'same-site']
const ACCEPTS = ['text/html', '*/*', 'application/json', 'text/html;q=0.1', 'xtext/html', 'TEXT/HTML'] // prettier-ignore

function targetBy(random: Random): string {
  if (random(8) === 0) return pick(random, OWN)
  const path = Array.from({ length: 1 + random(5) }, () => `/${pick(random, SEGMENTS)}`).join('')
  const target = path + (random(6) === 0 ? '/' : '') + pick(random, QUERIES)
  if (random(25) === 0) return `http://${pick(random, [HOST, `${HOST}:80`, 'evil.example', HOST.toUpperCase()])}${target}` // prettier-ignore
  return target
}

function cookieLines(random: Random, session: () => string): string[] {
  if (random(3) === 0) return []
  const [own, other] = [session(), session()]
  const [token = '', seen = ''] = own.split('; ')
  const [otherToken = '', otherSeen = ''] = other.split('; ')
  const cookies = pick(random, [
    [own], [own], [own], [own], [own], [own], [own], [own],
    [token], [seen], [token, otherSeen], [token, token, seen], [token, otherToken, seen],
    [`a=b; ${own}; c=d`], [own, 'service_hops=1'], [own, 'service_flow_0abcdefghijklmnopqr=x'], [`${token} `, seen],
    [` ${token}`, seen], [token.replace('=', ' ='), seen], [token.toUpperCase(), seen], [`"${token}"`, seen],
    [token.replace('=', '="').concat('"'), seen], [`${token}x`, seen], [token.slice(0, -1), seen], ['service_session=', seen],
    [token, seen, '__Host-service_seen=1'], [token, `${seen}; ${otherSeen}`], ['x=service_session=1', own], [`service_session\t=1; ${own}`],
    [`;;${own};;`], [own.replaceAll('; ', ';')], [own.replaceAll('; ', ' ;\t')], [`__Secure-${token}`, own],
  ]) // prettier-ignore
  return random(4) === 0
    ? cookies.map((cookie) => `Cookie: ${cookie}`)
    : [`Cookie: ${cookies.join('; ')}`]
}

function machineLines(random: Random): string[] {
  if (random(5) > 0) return []
  const id = pick(random, [CI, CI, CI, OTHER, 'svc_00000000000000cc', 'svc_x', '', SECRET])
  const secret = pick(random, [SECRET, SECRET, SECRET, OF_OTHER, newSecret(), 'sms_x', '', `${SECRET} `]) // prettier-ignore
  const lines = [`Service-Client-Id: ${id}`, `service-client-secret: ${secret}`]
  return pick(random, [lines, lines, lines, [lines[0]!], [lines[1]!], [...lines, lines[0]!], lines.map((line) => line.replaceAll('-', '_'))]) // prettier-ignore
}

/** A head that Node's parser takes, whatever it says. */
export function requestBy(random: Random, session: () => string): string {
  const method = pick(random, METHODS)
  const target = targetBy(random)
  const some = (name: string, values: readonly string[], oneIn: number) =>
    random(oneIn) === 0 ? [`${name}: ${pick(random, values)}`] : []
  const lines = [
    ...some('User-Agent', [USER_AGENT, 'curl/8', ''], 1),
    ...some('Accept', ACCEPTS, 2),
    ...some('Sec-Fetch-Mode', FETCH_MODES, 2),
    ...some('Sec-Fetch-Mode', FETCH_MODES, 30),
    ...some('Sec-Fetch-Site', FETCH_SITES, 4),
    ...some('X-Requested-With', ['XMLHttpRequest', ''], 8),
    ...some('Accept-Language', ['de', 'en', 'fr, de;q=0.5', '*'], 6),
    ...some('Origin', ORIGINS, 6),
    ...some('X-HTTP-Method-Override', OVERRIDES, 10),
    ...some('x-method-override', OVERRIDES, 20),
    ...cookieLines(random, session),
    ...machineLines(random),
    ...Array.from({ length: random(3) }, () => pick(random, random(2) === 0 ? FOREIGN : PLAIN)),
    ...(method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? [] : ['Content-Length: 0']),
  ]
  // in whatever order: whoever reads the first of two, or the last, would tell
  for (let at = lines.length - 1; at > 0; at--) {
    const other = random(at + 1)
    ;[lines[at], lines[other]] = [lines[other]!, lines[at]!]
  }
  return [`${method} ${target} HTTP/1.1`, `Host: ${HOST}`, ...lines, '', ''].join('\r\n')
}

const CASES_AT_A_TIME = 40
function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined) {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

export async function fuzzEdges(t: Teardown, until: Until): Promise<EdgeFuzzReport> {
  const { seed, cases = Infinity, durationMs = Infinity } = until
  const world = await startWorld(t, { state: STATE })
  await world.change({ services: servicesAt(world) })
  // what Next.js leaves of a request is compared in its own way by the tables
  const targets = world.targets.filter(({ leftOf }) => leftOf === undefined)
  const report: EdgeFuzzReport = { cases: 0, outcomes: {}, disagreements: [] }
  const endMs = performance.now() + durationMs
  for (let at = seed; report.cases < cases && performance.now() < endMs; at++) {
    // so that wrong credentials of machines are never too many
    if (report.cases % CASES_AT_A_TIME === CASES_AT_A_TIME - 1) await world.pass(120)
    const random = mutator(at)
    let sids = 0
    const session = () => world.session({ sid: `sid-${at}-${++sids}`, sub: `ada-${sids}` })
    const ask = requestBy(random, session)
    const given: Case = { name: String(at), ask, required: {} }
    const [edge, ...cells] = await Promise.all(targets.map((target) => hear(target, ask)))
    report.cases++
    report.outcomes[edge!.outcome] = (report.outcomes[edge!.outcome] ?? 0) + 1
    for (const [index, cell] of cells.entries()) {
      if (isDeepStrictEqual(edge, cell)) continue
      const target = targets[index + 1]!.name
      // the first that has something to say: others may ask for more than that one leaves
      const other = firstOf(DIFFERENCES, ({ expected }) => expected(target, edge!, given))
      const why = other === undefined ? inequalities(edge!, cell) : violations(other, cell)
      if (why.length > 0) report.disagreements.push({ target, why, seed: at, ask })
    }
  }
  return report
}

if (import.meta.main) {
  const durationMs = Number(process.argv[2] ?? 60) * 1000
  const closing: (() => unknown)[] = []
  const t = { teardown: (close: () => unknown) => void closing.push(close) }
  const report = await fuzzEdges(t, { seed: Number(process.argv[3] ?? Date.now()), durationMs })
  console.log(`${report.cases} cases`, report.outcomes)
  for (const item of report.disagreements.slice(0, 20)) console.log(JSON.stringify(item))
  console.log(`${report.disagreements.length} disagreements`)
  if (report.disagreements.length > 0) process.exitCode = 1
  for (const close of closing.reverse()) await close()
}
