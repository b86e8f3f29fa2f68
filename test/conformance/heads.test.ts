/** Request heads at the edge of the grammar: whose request it is, and for which path. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { LIMITS } from '../../shared/limits.ts'
import type { Case } from './case.ts'
import { runTable } from './table.ts'
import { headOf, HOST, startWorld, USER_AGENT } from './world.ts'

/** A head that is written line by line. */
const raw = (...lines: readonly string[]) =>
  `${lines[0]}\r\nUser-Agent: ${USER_AGENT}\r\nAccept: application/json\r\n${lines
    .slice(1)
    .map((line) => `${line}\r\n`)
    .join('')}\r\n`

const bad = (reason: string) => ({ outcome: 'refused_400', reason, application: null }) as const

t.test('the host of a request', async (t) => {
  const world = await startWorld(t)
  const get = (...lines: readonly string[]) => raw('GET /health HTTP/1.1', ...lines)
  const open = { outcome: 'forward', application: { target: '/health' } } as const
  const refused = (name: string, ...lines: readonly string[]): Case => ({
    name,
    ask: get(...lines),
    required: bad('bad_host'),
  })
  await runTable(t, world.targets, [
    { name: 'once', ask: get(`Host: ${HOST}`), required: open },
    { name: 'in capitals', ask: get('Host: APP.LOCALHOST'), required: open },
    { name: 'with a port', ask: get(`Host: ${HOST}:80`), required: open },
    { name: 'not at all', ask: get(), required: bad('bad_host'), nodeAnswers: 400 },
    refused('twice', `Host: ${HOST}`, `Host: ${HOST}`),
    refused('two of them', `Host: ${HOST}`, 'Host: beta.localhost'),
    {
      ...refused('two of them, the other way round', 'Host: beta.localhost', `Host: ${HOST}`),
      inside: { outcome: 'forward' }, // of what Next.js leaves of it
    },
    refused('empty', 'Host:'),
    refused('two in one', `Host: ${HOST}, beta.localhost`),
    refused('with a path', `Host: ${HOST}/admin`),
    refused('with a user', `Host: ada@${HOST}`),
    refused('with a dot behind it', `Host: ${HOST}.`),
    refused('with an empty port', `Host: ${HOST}:`),
    refused('with two ports', `Host: ${HOST}:80:80`),
    refused('with a port that there is not', `Host: ${HOST}:65536`),
    refused('with a space', `Host: app .localhost`),
    refused('a high byte', `Host: \xff${HOST}`),
    {
      name: 'a space before its colon',
      ask: get(`Host: ${HOST}`, 'Host : beta.localhost'),
      required: bad('bad_request'),
      nodeAnswers: 400,
    },
    {
      name: 'a folded line',
      ask: get(`Host: ${HOST}`, ' beta.localhost'),
      required: bad('bad_request'),
      nodeAnswers: 400,
    },
  ])
})

t.test('the target of a request', async (t) => {
  const world = await startWorld(t)
  const cookie = world.session()
  const at = (target: string, method = 'GET') => headOf({ method, target, cookie })
  const forwarded = (name: string, target: string, received = target): Case => ({
    name,
    ask: at(target),
    required: { outcome: 'forward', application: { target: received, user: 'ada' } },
  })
  const refused = (name: string, target: string, reason = 'bad_target'): Case => ({
    name,
    ask: at(target),
    required: bad(reason),
  })
  const unreadable = (name: string, target: string, reason = 'bad_request'): Case => ({
    ...refused(name, target, reason),
    nodeAnswers: 400,
  })
  const long = (length: number) => `/${'a'.repeat(length - 1)}`
  await runTable(t, world.targets, [
    forwarded('a path', '/work'),
    forwarded('a path and a query', '/work?a=b&c=%20?/'),
    forwarded('an empty query', '/work?'),
    forwarded('odd characters that browsers send', "/a!$&'()*+,;=:@~[]|^{}"),
    forwarded('a broken escape in a query', '/work?x=%zz'),
    forwarded('absolute, and agreeing', `http://${HOST}/work?x=1`, '/work?x=1'),
    forwarded('absolute, in capitals', `HTTP://${HOST.toUpperCase()}/work`, '/work'),
    forwarded('absolute, with the port that is meant', `http://${HOST}:80/work`, '/work'),
    forwarded('absolute, as TLS would have it', `https://${HOST}/work`, '/work'),
    forwarded('absolute, without a path', `http://${HOST}`, '/'),
    forwarded('absolute, with a query only', `http://${HOST}?x=1`, '/?x=1'),
    forwarded('absolute inside a path', `/http://beta.localhost/admin`),
    {
      name: 'absolute and sealed',
      ask: at(`http://${HOST}/admin`),
      required: { outcome: 'sealed_404' },
    },
    {
      name: 'absolute and sealed in another spelling',
      ask: at(`http://${HOST}/x/../%61dmin`),
      required: { outcome: 'sealed_404' },
    },
    refused('absolute, of another host', 'http://beta.localhost/work', 'host_mismatch'),
    refused('absolute, with another port', `http://${HOST}:8080/work`, 'host_mismatch'),
    refused('another scheme', `ftp://${HOST}/work`),
    refused('no host', 'http:///work'),
    refused('a user in the host', `http://ada@${HOST}/work`),
    refused('* with GET', '*'),
    unreadable('no slash', 'work', 'bad_target'),
    unreadable('a query only', '?x=/health', 'bad_target'),
    unreadable('an authority', `${HOST}:80`, 'bad_target'),
    refused('a fragment', '/work#top'),
    refused('a fragment in the query', '/work?x#/health'),
    refused('a backslash', '/work\\..\\health'),
    refused('a quote', '/work"'),
    refused('a broken escape', '/work%'),
    refused('half an escape', '/work%4'),
    refused('an escape that is none', '/work%zz'),
    refused('an encoded NUL', '/work%00'),
    unreadable('a byte above ASCII', '/w\xf6rk'),
    unreadable('a space', '/wo rk'),
    unreadable('a control character', '/wo\x02rk'),
    forwarded('as long as it may be', long(LIMITS.targetBytesMax)),
    {
      name: 'one longer',
      ask: at(long(LIMITS.targetBytesMax + 1)),
      required: { outcome: 'refused_414', reason: 'target_too_long', application: null },
    },
  ])
})

t.test('the method of a request', async (t) => {
  const world = await startWorld(t)
  const cookie = world.session()
  const methods = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'SEARCH'] // prettier-ignore
  const as = (method: string, target = '/work', session = cookie) =>
    headOf({ method, target, cookie: session, lines: ['Content-Length: 0'] })
  await runTable(t, world.targets, [
    ...methods.flatMap((method): Case[] => [
      {
        name: `${method} · signed in`,
        ask: as(method),
        required: { outcome: 'forward', application: { method, user: 'ada' } },
      },
      {
        name: `${method} · nobody`,
        ask: as(method, '/work', ''),
        required: { outcome: method === 'HEAD' ? 'refused_401' : 'sign_in_401' },
      },
      {
        name: `${method} · sealed`,
        ask: as(method, '/admin'),
        required: { outcome: method === 'HEAD' ? 'refused_404' : 'sealed_404' },
      },
    ]),
    {
      name: 'a preflight is asked who it is like any other',
      ask: headOf({
        method: 'OPTIONS',
        target: '/work',
        lines: ['Origin: https://else.test', 'Access-Control-Request-Method: GET'],
      }),
      required: { outcome: 'sign_in_401' },
    },
    {
      name: 'OPTIONS * · nobody',
      ask: as('OPTIONS', '*', ''),
      required: { outcome: 'sign_in_401', reason: 'sign_in_required: no_session' },
    },
    {
      name: 'TRACE',
      ask: as('TRACE'),
      required: { outcome: 'refused_405', reason: 'method_not_allowed', application: null },
    },
    {
      name: 'CONNECT',
      ask: as('CONNECT'),
      required: { outcome: 'refused_405', reason: 'method_not_allowed', application: null },
      nodeAnswers: 0,
    },
    ...['get', 'Get', 'GETX', 'G_T'].map((method): Case => ({
      name: method,
      ask: as(method),
      required: { outcome: ['refused_400', 'refused_501'], application: null },
      nodeAnswers: 400,
    })),
  ])
})

interface HttpCase {
  readonly id: string
  readonly group: string
  readonly raw: string
  readonly why: string
  readonly expect: 'forward' | 'forward-normalised' | 'reject'
}

/** Samples that Node's own parser refuses, with what. */
const NODE_ANSWERS: Readonly<Record<string, 400 | 431>> = {
  'rl-tab-sep': 400,
  'rl-space-in-target': 400,
  'rl-version-lower': 400,
  'rl-version-1.10': 400,
  'rl-version-1.2': 400,
  'rl-h2-preface': 400,
  'rl-method-lower': 400,
  'rl-method-nul': 400,
  'rl-authority-form-get': 400,
  'rl-query-only': 400,
  'rl-ctl-target': 400,
  'rl-del-target': 400,
  'rl-target-200k': 431,
  'host-folded-second': 400,
  'host-space-colon': 400,
}
/** A cell is one whole request: these are two, or not even one, and the wire's (test/security). */
const NO_CELLS = new Set(['ok-pipeline2', 'ok-split-bytes', 'rl-http09'])

t.test('the samples of HTTP that every target can be asked', async (t) => {
  const file = new URL('../fixtures/http-cases.json', import.meta.url)
  const { cases } = JSON.parse(
    readFileSync(file, 'utf8')
      .replaceAll('app.acme.test', HOST)
      .replaceAll('app.beta.test', 'beta.localhost'),
  ) as { cases: HttpCase[] }
  const world = await startWorld(t)
  const groups = ['baseline', 'request-line', 'host']
  const samples = cases.filter(({ id, group }) => groups.includes(group) && !NO_CELLS.has(id))
  t.ok(samples.length > 30)
  await runTable(
    t,
    world.targets,
    samples.map(({ id, raw, why, expect }): Case => {
      const node = NODE_ANSWERS[id]
      const inside = { outcome: 'forward', application: { target: '/health/echo' } } as const
      return {
        name: `${id} (${why})`,
        ask: raw,
        // without a session, to whatever is not excluded
        required:
          expect === 'reject'
            ? { application: null }
            : { outcome: id === 'abs-double-scheme' ? 'sign_in_401' : 'forward' },
        ...(node !== undefined && { nodeAnswers: node }),
        ...((id === 'host-unknown' || id === 'host-ip') && { inside }),
      }
    }),
  )
})

t.test('a host that the edge does not know is no way past the middleware', async (t) => {
  const world = await startWorld(t)
  const at = (target: string) => raw(`GET ${target} HTTP/1.1`, 'Host: beta.localhost')
  const unknown = { outcome: 'refused_404', reason: 'host_unknown', application: null } as const
  await runTable(t, world.targets, [
    {
      name: 'a path',
      ask: at('/work'),
      required: unknown,
      inside: { outcome: 'sign_in_401', application: null },
    },
    {
      name: 'a sealed path',
      ask: at('/admin'),
      required: unknown,
      inside: { outcome: 'sealed_404', application: null },
    },
    {
      name: 'an excluded path',
      ask: at('/health'),
      required: unknown,
      inside: { outcome: 'forward' },
    },
  ])
})
