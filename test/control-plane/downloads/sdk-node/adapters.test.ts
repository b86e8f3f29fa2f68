/** Every adapter, in the real framework, on the wire: what the guard says is what happens. */
import t from 'tap'
import { verifyClaims } from '../../../../control-plane/downloads/sdk-node/index.ts'
import { claimsWorld, signingKey, tokenOf } from '../../../support/claims.ts'
import { GUARDED_APPS, startGuarded } from '../../../support/guarded-apps.ts'
import { DOWNLOAD_BYTES, OWN_COOKIES } from '../../../support/guarded-routes.ts'
import { RawClient } from '../../../support/wire.ts'

type Teardown = { teardown(work: () => unknown): void }

const TOKEN = tokenOf()
const CLAIMS = `X-Service-Claims: ${TOKEN}\r\n`

/** Spellings that some reader somewhere takes for our names. */
const SPELLINGS = [
  'X-Service-User',
  'x-service-verified',
  'X_Service_User',
  'X.Service.User',
  'x-SERVICE_user',
  'X_SERVICE_CLAIMS',
  'X-Service-Role',
  'X~Service!Verified',
  // another path, to whom reads it so
  'SCRIPT_NAME',
  'X_Any_Name',
  'X.Any.Name',
  'X-Script-Name',
  'Path-Info',
  'X-Original-URL',
  'X-Forwarded-Prefix',
  'X-Matched-Path',
  'X-Invoke-Path',
  'X-Middleware-Rewrite',
  'X-Accel-Mapping',
  'X-Sendfile-Type',
]

interface Who {
  user: string | null
  url: string
  headers: Record<string, string>
  rawHeaders: string[]
  distinct: Record<string, string[]>
}

for (const [name, start] of Object.entries(GUARDED_APPS)) {
  const open = async (t: Teardown) => {
    const world = claimsWorld()
    const service = verifyClaims({ ...world.options, excluded: ['/health'] })
    const { port } = await startGuarded(t, start, service)
    const client = new RawClient(port)
    t.teardown(() => client.close())
    const ask = async (line: string, headers = '', body = '') => {
      client.send(`${line} HTTP/1.1\r\nHost: app.test\r\n${headers}\r\n${body}`)
      const answer = await client.answer(line.split(' ', 1)[0])
      if (answer === undefined) throw new Error(`${line}: no answer`)
      return { ...answer, text: answer.body.toString() }
    }
    const who = async (headers: string, target = '/who') => {
      const { status, text } = await ask(`GET ${target}`, headers)
      if (status !== 200) throw new Error(`${status} ${text}`)
      return JSON.parse(text) as Who
    }
    return { world, port, client, ask, who }
  }

  t.test(name, async (t) => {
    t.test('a verified user reaches the route, nobody else does', async (t) => {
      const { ask, who } = await open(t)
      t.equal((await who(CLAIMS)).user, 'usr_ada')
      const refused = {
        missing: '',
        forged: `X-Service-Claims: ${tokenOf({}, { ...signingKey(1), kid: signingKey().kid })}\r\n`,
        expired: `X-Service-Claims: ${tokenOf({ exp: 1 })}\r\n`,
        foreign: `X-Service-Claims: ${tokenOf({ aud: 'other-user' })}\r\n`,
        'given twice': CLAIMS + CLAIMS,
        'in another spelling': `X_Service_Claims: ${TOKEN}\r\n`,
        'only asserted': 'X-Service-User: usr_ada\r\nX-Service-Verified: true\r\n',
      }
      for (const [what, headers] of Object.entries(refused))
        t.match(await ask('GET /who', headers), { status: 401, text: /claims_refused/ }, what)
      t.match(await ask('GET /nowhere'), { status: 401 }, 'and an unknown path tells nothing')
      t.match(await ask('OPTIONS /who', 'Origin: https://else.test\r\n'), { status: 401 })
    })

    t.test('identity from outside survives in no spelling and in no place', async (t) => {
      const { who } = await open(t)
      const forged = SPELLINGS.map((spelling) => `${spelling}: usr_root\r\n`).join('')
      const seen = await who(`${forged}${CLAIMS}X-Other: kept\r\nX-Other: twice\r\n`)
      t.notMatch(JSON.stringify(seen), 'usr_root')
      t.equal(seen.headers['x-service-claims'], TOKEN)
      t.equal(seen.headers['x-service-user'], 'usr_ada')
      t.equal(seen.headers['x-service-verified'], 'true')
      t.equal(seen.headers['x-other'], 'kept, twice')
      t.same(seen.distinct['x-service-user'], ['usr_ada'])
      t.same(seen.distinct['x-other'], ['kept', 'twice'])
      const lines = seen.rawHeaders.filter((_line, at) => at % 2 === 0 && /^x.service/i.test(_line))
      t.same(lines, ['X-Service-Claims', 'X-Service-User', 'X-Service-Verified'])
      const names = Object.keys(seen.headers).filter((name) => /^x.service/i.test(name))
      t.same(names.sort(), ['x-service-claims', 'x-service-user', 'x-service-verified'])
    })

    t.test('our own cookies stay with us, all others go on', async (t) => {
      const { who } = await open(t)
      const cookies = 'Cookie: a=1; service_seen=x; service_flow_1=y; service_session=z; b=2\r\n'
      const seen = await who(cookies + CLAIMS)
      t.equal(seen.headers['cookie'], 'a=1; service_session=z; b=2')
      t.notMatch(JSON.stringify(seen), /service_seen|service_flow/)
      t.notMatch(Object.keys((await who('Cookie: service_seen=x\r\n' + CLAIMS)).headers), [
        'cookie',
      ])
    })

    t.test('an answer to a user is private, and loses none of its own cookies', async (t) => {
      const { ask } = await open(t)
      const { head } = await ask('GET /cookies', CLAIMS)
      t.match(head, /^cache-control: private\r?$/im)
      for (const cookie of OWN_COOKIES) t.match(head.toLowerCase(), `set-cookie: ${cookie}`.toLowerCase()) // prettier-ignore
      t.match((await ask('GET /cookies?cache=public', CLAIMS)).head, /^cache-control: public\r?$/im)
      const limited = await ask('GET /cookies?cache=max-age%3D60', CLAIMS)
      t.match(limited.head, /^cache-control: max-age=60, private\r?$/im)
    })

    t.test('bodies stream in and out, and HEAD has none', async (t) => {
      const { ask } = await open(t)
      const bytes = 300_000
      const headers = `${CLAIMS}Content-Type: application/x-any\r\nContent-Length: ${bytes}\r\n`
      t.match(await ask('POST /upload', headers, 'u'.repeat(bytes)), { text: String(bytes) })
      const download = await ask('GET /download', CLAIMS)
      t.equal(
        download.text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '').match(/x/g)?.length,
        DOWNLOAD_BYTES,
      )
      t.match(await ask('HEAD /who', CLAIMS), { text: '' })
      t.match(await ask('HEAD /who'), { status: 401, text: '' })
      t.equal((await ask('GET /who', CLAIMS)).status, 200, 'and the connection is in step')
    })

    t.test('trailers say nothing of identity or path either', async (t) => {
      const { ask } = await open(t)
      const forged = SPELLINGS.map((spelling) => `${spelling}: usr_root\r\n`).join('')
      const trailers = `X-Sum: 1\r\n${forged}X-Sum: 2\r\n`
      const headers = `${CLAIMS}Content-Type: application/x-any\r\nTransfer-Encoding: chunked\r\n`
      const { text } = await ask('POST /trailers', headers, `1\r\nx\r\n0\r\n${trailers}\r\n`)
      t.same(JSON.parse(text), {
        trailers: { 'x-sum': '1, 2' },
        trailersDistinct: { 'x-sum': ['1', '2'] },
        rawTrailers: ['X-Sum', '1', 'X-Sum', '2'],
      })
    })

    t.test('an error of the application is its own', async (t) => {
      const { ask } = await open(t)
      const { status, head } = await ask('GET /error', CLAIMS)
      t.equal(status, 500)
      t.match(head, /^cache-control: .*private|no-store/im)
      t.equal((await ask('GET /who', CLAIMS)).status, 200)
    })

    t.test('a connection goes on behind refusals with a body', async (t) => {
      const { ask } = await open(t)
      const length = 100_000
      const headers = `Content-Type: application/x-any\r\nContent-Length: ${length}\r\n`
      for (let round = 0; round < 3; round++)
        t.match(await ask('POST /upload', headers, 'u'.repeat(length)), { status: 401 })
      t.match(await ask('POST /upload', CLAIMS + headers, 'u'.repeat(length)), { status: 200 })
    })

    t.test('100-continue is answered, and the refused are refused', async (t) => {
      const { ask, client } = await open(t)
      const headers =
        'Content-Type: application/x-any\r\nExpect: 100-continue\r\nContent-Length: 5\r\n'
      t.match(await ask('POST /upload', CLAIMS + headers, 'hello'), { status: 200, text: '5' })
      t.equal(client.informational.length, 1)
      t.match(await ask('POST /upload', headers, 'hello'), { status: 401 })
    })

    t.test('an absolute target is decided on and routed by its path', async (t) => {
      const { ask, who } = await open(t)
      t.equal((await who(CLAIMS, 'http://app.test/who')).url, '/who')
      t.match(await ask('GET http://other.test/who', CLAIMS), { status: 400 })
    })

    t.test('what is excluded is served to everybody, and names nobody', async (t) => {
      const { ask } = await open(t)
      t.match(await ask('GET /health'), { status: 404 }, 'the application answers')
      t.match(await ask('GET /healthy'), { status: 401 })
      t.match(await ask('GET /health/../who'), { status: 401 })
      const probed = await ask('GET /health', 'X-Service-Probe: none\r\n')
      t.match(probed, { status: 401, head: /x-service-probe-reply: \r?$/im })
    })
  })
}
