/** `/service/me` at one gateway, with a realm that answers as each test wants it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { request } from 'undici'
import { LIMITS } from '../../../shared/limits.ts'
import { HOST, startEdge, USER_AGENT } from '../../support/edge-world.ts'
import { listening, startOrigin } from '../../support/wire.ts'

const AT = '2026-11-21T04:01:22.000Z'

function listOf(current: string, others: readonly string[]) {
  const session = (sid: string) => ({
    sid,
    current: sid === current,
    browser: 'Firefox, Linux',
    ip: '192.0.2.7',
    started_at: AT,
    last_seen_at: AT,
  })
  const device = {
    device_id: 'dev_1',
    browser: '<b>Chrome</b>',
    ip: '192.0.2.8',
    first_seen_at: AT,
    last_seen_at: AT,
  }
  const machine = {
    device_id: 'dev_0123456789abcdef',
    hostname: '<img src=x>',
    platform: 'linux',
    state: 'approved',
    last_seen_at: AT,
    facts: [
      { fact: 'disk_encrypted', value: false, reason: 'not_encrypted' },
      { fact: 'firewall', value: 'unknown', reason: 'timed_out' },
      { fact: 'tpm', value: true, reason: 'tpm_2' },
      { fact: 'of_tomorrow', value: false, reason: '<b>new</b>' },
    ],
  }
  const sessions = [current, ...others].map(session)
  return { sessions, devices: [device], machines: [machine], account_url: 'x' }
}

interface Asked {
  readonly authorization: string | undefined
  readonly fields: URLSearchParams
}

type Realm = (asked: Asked, response: ServerResponse) => unknown

const answering: Realm = ({ fields }, response) => {
  const isKnown = fields.get('end_sid') !== 'unknown'
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify(
      isKnown ? listOf('sid-1', ['sid-2']) : { error: 'session_or_device_not_found', detail: '' },
    ),
  )
}

async function startWorld(t: Parameters<typeof startOrigin>[0], realm: Realm = answering) {
  const asked: Asked[] = []
  let answerIt = realm
  const server = createServer((incoming: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => void chunks.push(chunk))
    incoming.on('end', () => {
      const { authorization } = incoming.headers
      const one = { authorization, fields: new URLSearchParams(Buffer.concat(chunks).toString()) }
      asked.push(one)
      answerIt(one, response)
    })
  })
  const realmPort = await listening(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = await startOrigin(t)
  const issuer = `http://127.0.0.1:${realmPort}/auth/realms/app`
  const edge = await startEdge(t, origin.url, { issuer })

  async function me(cookie: string, { accept = 'application/json', form = '', headers = {} } = {}) {
    const answer = await request(`http://127.0.0.1:${edge.port}/service/me`, {
      method: form === '' ? 'GET' : 'POST',
      headers: {
        host: HOST,
        'user-agent': USER_AGENT,
        accept,
        cookie,
        ...(form === '' ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      body: form === '' ? null : form,
    })
    const text = await answer.body.text()
    const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
    return { status: answer.statusCode, headers: answer.headers, text, body }
  }
  const setRealm = (next: Realm) => void (answerIt = next)
  return { edge, asked, me, issuer, setRealm, origin }
}

const html = { accept: 'text/html' }
const tokenIn = (cookie: string) => /service_session=([^;]+)/.exec(cookie)?.[1] ?? ''

t.test('the list of the realm, as JSON and as a page, and no token on it', async (t) => {
  const { edge, me, asked, issuer } = await startWorld(t)
  const cookie = edge.session()
  const { body, text } = await me(cookie)
  t.match(body, {
    tenant_id: 'app',
    user_id: 'ada',
    sid: 'sid-1',
    name: 'Ada',
    email: 'ada@example.test',
    account_url: `${issuer}/account`,
  })
  t.same(body['sessions'], listOf('sid-1', ['sid-2']).sessions)
  t.same(body['devices'], listOf('sid-1', []).devices)
  t.same(body['machines'], listOf('sid-1', []).machines)
  t.equal(asked[0]?.fields.get('session_token'), tokenIn(cookie))
  t.match(asked[0]?.authorization, /^Basic /)

  const page = await me(cookie, html)
  t.equal(page.status, 200)
  t.match(page.text, /this device/)
  t.match(page.text, /name="sid" value="sid-2"/)
  t.notMatch(page.text, /name="sid" value="sid-1"/, 'the own one is ended by signing out')
  t.match(page.text, /name="device" value="dev_1"/)
  t.match(page.text, /&lt;b&gt;Chrome/)
  t.match(page.text, /name="machine" value="dev_0123456789abcdef"/)
  t.match(page.text, /&lt;img src=x&gt;/, 'whatever a machine is called')
  for (const said of [/Disk encryption: .*LUKS/, /Firewall: .*too long/, /What the agent reports/])
    t.match(page.text, said, 'what it reports, and how to mend it')
  t.notMatch(page.text, /<b>new|<img|TPM 2/, 'nothing that is well, or that is not known')
  const german = await me(cookie, { ...html, headers: { 'accept-language': 'de' } })
  t.match(german.text, /Geräte mit unserem Agenten/)
  t.match(page.text, `href="${issuer}/account"`)
  t.equal(page.headers['referrer-policy'], 'same-origin')
  // CVE-2024-39315: a page that shows its own cookie hands it to whoever can read the page
  for (const shown of [text, page.text])
    for (const part of tokenIn(cookie).split('.')) t.notOk(shown.includes(part))
})

t.test('one that is ended is refused here before the fleet link tells of it', async (t) => {
  const { edge, me, asked } = await startWorld(t)
  const cookie = edge.session()
  const other = edge.session({ sid: 'sid-2', issuedAgoSeconds: -30 })
  t.equal((await me(other)).status, 200)
  const csrf = String((await me(cookie)).body['csrf'])
  const ended = await me(cookie, { ...html, form: `sid=sid-2&csrf=${csrf}` })
  t.equal(ended.status, 303)
  t.equal(ended.headers['location'], '/service/me?done=session')
  t.equal(asked.at(-1)?.fields.get('end_sid'), 'sid-2')
  t.equal((await me(other)).status, 401)
  t.equal((await me(cookie)).status, 200)

  const forgotten = await me(cookie, { form: `device=dev_1&csrf=${csrf}` })
  t.match(forgotten, { status: 200, body: { ended: { device: 'dev_1' } } })
  t.equal(asked.at(-1)?.fields.get('end_device'), 'dev_1')
  const removed = await me(cookie, { ...html, form: `machine=dev_2&csrf=${csrf}` })
  t.equal(removed.headers['location'], '/service/me?done=machine')
  t.equal(asked.at(-1)?.fields.get('end_machine'), 'dev_2')
  const both = await me(cookie, { form: `machine=dev_2&device=dev_1&csrf=${csrf}` })
  t.match(both, { status: 400, body: { error: 'form_invalid' } })
  const unknown = await me(cookie, { form: `sid=unknown&csrf=${csrf}` })
  t.match(unknown, { status: 404, body: { error: 'not_found' } })
})

t.test('the own session is ended as a sign-out', async (t) => {
  const { edge, me } = await startWorld(t)
  const cookie = edge.session()
  const csrf = String((await me(cookie)).body['csrf'])
  const out = await me(cookie, { ...html, form: `sid=sid-1&csrf=${csrf}` })
  t.match(String(out.headers['set-cookie']), /service_session=;/)
  t.equal((await me(cookie)).status, 401)
  t.match(JSON.stringify(edge.reports), '"outcome":"logout","subject":"ada","sid":"sid-1"')
})

t.test('another site sends the form (CSRF): nothing ends', async (t) => {
  const { edge, me, asked } = await startWorld(t)
  const cookie = edge.session()
  const csrf = String((await me(cookie)).body['csrf'])
  const stranger = String((await me(edge.session({ sid: 'sid-2' }))).body['csrf'])
  const asks = asked.length
  const form = `sid=sid-2&csrf=${csrf}`
  for (const [why, sent] of [
    ['no value', { form: 'sid=sid-2' }],
    ['a wrong value', { form: 'sid=sid-2&csrf=x' }],
    ['the value of another session', { form: `sid=sid-2&csrf=${stranger}` }],
    ['the value twice', { form: `${form}&csrf=${csrf}` }],
    ['from another site', { form, headers: { 'sec-fetch-site': 'cross-site' } }],
    ['from a sibling', { form, headers: { 'sec-fetch-site': 'same-site' } }],
    ['from another origin', { form, headers: { origin: 'http://evil.example' } }],
    ['from an origin that is hidden', { form, headers: { origin: 'null' } }],
  ] as const)
    t.match(await me(cookie, sent), { status: 403, body: { error: 'cross_site_form' } }, why)
  for (const odd of ['', '&sid=a&sid=b', '&sid=a&device=b'])
    t.match(await me(cookie, { form: `csrf=${csrf}${odd}` }), { status: 400 }, odd)
  const large = await me(cookie, { form: `${form}&x=${'x'.repeat(LIMITS.ownFormBytesMax)}` })
  t.equal(large.status, 413)
  t.equal(asked.length, asks, 'the realm was not even asked')
  t.equal((await me(edge.session({ sid: 'sid-2' }))).status, 200)
  const own = await me(cookie, { form, headers: { origin: edge.edgeUrl } })
  t.equal(own.status, 200)
})

t.test('without a session there is nothing to see or to end', async (t) => {
  const { me, asked } = await startWorld(t)
  t.equal((await me('')).status, 401)
  t.equal((await me('', { form: 'sid=sid-2' })).status, 401)
  t.equal(asked.length, 0)
})

t.test('the realm is away, hangs, or talks nonsense: the own session is still told', async (t) => {
  const { edge, me, setRealm, origin } = await startWorld(t)
  const cookie = edge.session()
  const csrf = String((await me(cookie)).body['csrf'])
  const answers: Record<string, Realm> = {
    'breaks off': (_asked, response) => response.destroy(),
    'says no': (_asked, response) => response.writeHead(403).end('{"error":"session_invalid"}'),
    'is another program': (_asked, response) => response.writeHead(404).end('not found'),
    'says nonsense': (_asked, response) => response.end('{"sessions": 7}'),
    'says too much': (_asked, response) =>
      response.end(
        JSON.stringify({ ...listOf('sid-1', []), x: 'x'.repeat(LIMITS.ownSessionsBytesMax) }),
      ),
    'never answers': () => undefined,
    'never ends': (_asked, response) => response.writeHead(200).write('{'),
  }
  for (const [how, realm] of Object.entries(answers)) {
    setRealm(realm)
    const asking = me(cookie)
    const work = await request(`http://127.0.0.1:${edge.port}/work`, {
      headers: { host: HOST, 'user-agent': USER_AGENT, cookie },
    })
    t.equal(work.statusCode, 200, `${how}: other requests go on`)
    await work.body.dump()
    t.match(await asking, { status: 200, body: { sid: 'sid-1', sessions: null, devices: null } })
  }
  setRealm((_asked, response) => response.destroy())
  t.match((await me(cookie, html)).text, /cannot be shown right now/)
  t.match(await me(cookie, { form: `sid=sid-2&csrf=${csrf}` }), {
    status: 503,
    body: { error: 'unavailable' },
  })
  t.equal(origin.seen.length, Object.keys(answers).length)
})

t.test('who asks too often is not passed on to the realm (amplifier)', async (t) => {
  const { edge, me, asked } = await startWorld(t)
  const { burst } = LIMITS.rateOwnSessions
  const cookie = edge.session()
  const lists: unknown[] = []
  for (let round = 0; round < burst + 5; round++) lists.push((await me(cookie)).body['sessions'])
  t.ok(lists.slice(0, burst).every((list) => list !== null))
  t.ok(lists.slice(burst).some((list) => list === null))
  t.ok(asked.length < burst + 5)
  t.notSame((await me(edge.session({ sid: 'sid-9' }))).body['sessions'], null, 'others may')
})

t.test('many people at once while the realm hangs: so many wait, the others do not', async (t) => {
  const held: ServerResponse[] = []
  const { edge, me, asked } = await startWorld(t, (_asked, response) => held.push(response))
  const most = LIMITS.ownSessionsAsksMax
  const waiting = Array.from({ length: most }, (_item, index) =>
    me(edge.session({ sid: `sid-${index}` })),
  )
  while (asked.length < most) await sleep(5)
  t.equal((await me(edge.session({ sid: 'one-more' }))).body['sessions'], null)
  t.equal(asked.length, most)
  for (const response of held) response.end(JSON.stringify(listOf('sid-1', [])))
  for (const { body } of await Promise.all(waiting)) t.notSame(body['sessions'], null)
})
