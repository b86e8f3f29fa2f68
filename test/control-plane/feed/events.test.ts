import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { etagOf, startFeedApi } from '../../support/feed-api.ts'

const long = (characters: number) => 'a'.repeat(characters)
const sealed = { outcome: 'sealed' }

type Api = Awaited<ReturnType<typeof startFeedApi>>

const kept = async ({ operator }: Pick<Api, 'operator'>, tenantId = 'acme') =>
  (await operator('GET', `/tenants/${tenantId}/enforcement-events`)).items

const emitted = async ({ services }: Api) =>
  (await services.store.read.select().from(schema.outbox)).map(({ event, tenantId, content }) => ({
    event,
    tenantId,
    content,
  }))

void t.test('a batch is counted and kept, with the time of its arrival', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const event = {
    outcome: 'refused',
    subject: 'ada',
    sid: 's1',
    reason: 'revoked',
    ip: '2001:db8::1',
    app_host: 'app.example.com',
  }
  const extra = {
    ...event,
    at: '1999-01-01T00:00:00Z',
    time: 1,
    path: '/x',
    nested: { a: [1] },
    count: 9,
  }
  const headers = { 'x-service-instance': 'web-1' }
  const answer = await api.report('acme', { events: [sealed, extra] }, { headers })
  t.equal(answer.status, 200)
  t.strictSame(answer.body, { accepted: 2, rejected: 0 })
  const at = '2026-01-01T00:00:00.500Z'
  const nothing = { subject: null, sid: null, reason: null, ip: null, app_host: null }
  t.strictSame(await kept(api), [
    { sequence: 2, at, ...event, instance: 'web-1', path: '/x', count: 9 },
    { sequence: 1, at, ...nothing, outcome: 'sealed', instance: 'web-1', path: null, count: 1 },
  ])
  t.strictSame((await api.report('acme', { events: [] })).body, { accepted: 0, rejected: 0 })
})

void t.test('a bad element rejects itself, and not the batch', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const bad: unknown[] = [
    null,
    1,
    'sealed',
    true,
    [],
    [sealed],
    {},
    { subject: 'ada' },
    { outcome: null },
    { outcome: 1 },
    { outcome: '' },
    { outcome: ['sealed'] },
    { outcome: long(LIMITS.eventOutcomeCharactersMax + 1) },
    { outcome: 'a\u0000b' },
    { outcome: 'a\nb' },
    { outcome: '\ud800' },
    { ...sealed, subject: 1 },
    { ...sealed, subject: null },
    { ...sealed, subject: {} },
    { ...sealed, subject: long(LIMITS.eventTextCharactersMax + 1) },
    { ...sealed, reason: false },
    { ...sealed, reason: long(LIMITS.eventTextCharactersMax + 1) },
    { ...sealed, sid: 7 },
    { ...sealed, sid: long(LIMITS.eventTextCharactersMax + 1) },
    { ...sealed, app_host: [] },
    { ...sealed, path: long(LIMITS.refusedPathCharactersMax + 1) },
    { ...sealed, path: 'a\u0000b' },
    { ...sealed, app_host: long(LIMITS.eventHostCharactersMax + 1) },
    { ...sealed, ip: 1 },
    { ...sealed, ip: '' },
    { ...sealed, ip: '192.0.2' },
    { ...sealed, ip: '192.0.2.1:80' },
    { ...sealed, ip: 'localhost' },
    { ...sealed, ip: '2001:db8::g' },
  ]
  const good: unknown[] = [
    { outcome: long(LIMITS.eventOutcomeCharactersMax) },
    { ...sealed, subject: long(LIMITS.eventTextCharactersMax) },
    { ...sealed, sid: long(LIMITS.eventTextCharactersMax), reason: '' },
    { ...sealed, app_host: long(LIMITS.eventHostCharactersMax), ip: '::ffff:192.0.2.1' },
    { outcome: 'Grüße', constructor: 1, toString: 'x' },
  ]
  for (const element of bad) {
    const { status, body } = await api.report('acme', { events: [element, sealed] })
    t.equal(status, 200)
    t.strictSame(body, { accepted: 1, rejected: 1 }, JSON.stringify(element).slice(0, 80))
  }
  const { body } = await api.report('acme', { events: good })
  t.strictSame(body, { accepted: good.length, rejected: 0 })
  t.equal((await kept(api)).length, Math.min(LIMITS.pageItemsDefault, bad.length + good.length))
})

void t.test('an element with __proto__, or a field twice, rejects itself as well', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const batches: [string, number, number][] = [
    ['{"events":[{"outcome":"a"},{"outcome":"b","__proto__":{"x":1}},{"outcome":"c"}]}', 2, 1],
    ['{"events":[{"outcome":"a","outcome":"terminate"},{"outcome":"c"}]}', 1, 1],
    ['{"events":[[1,2],{"outcome":"a","x":{"y":[1,{"z":1,"z":2}]}},{"outcome":"c"}]}', 1, 2],
    ['{"events":[{"outcome":"a, b","x":[1,2,3]},{"__proto__":1}]}', 1, 1],
  ]
  for (const [raw, accepted, rejected] of batches)
    t.strictSame((await api.report('acme', undefined, { raw })).body, { accepted, rejected }, raw)
  t.equal(({} as { x?: unknown }).x, undefined)
})

void t.test('a batch that is none is refused, with the field named', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const cases: [
    string,
    { raw?: string | Uint8Array<ArrayBuffer>; type?: string },
    number,
    string?,
  ][] = [
    ['no body', {}, 400, 'events'],
    ['not JSON', { raw: '{"events":' }, 400],
    ['broken UTF-8', { raw: Uint8Array.from([0x7b, 0xff, 0x7d]) }, 400],
    ['a list', { raw: '[]' }, 400, 'body'],
    ['nothing in it', { raw: '{}' }, 400, 'events'],
    ['an object', { raw: '{"events":{}}' }, 400, 'events'],
    ['null', { raw: '{"events":null}' }, 400, 'events'],
    ['a text', { raw: '{"events":"sealed"}' }, 400, 'events'],
    ['another field', { raw: '{"events":[],"tenant_id":"other"}' }, 400, 'tenant_id'],
    ['twice', { raw: '{"events":[],"events":[]}' }, 400, 'events'],
    ['__proto__', { raw: '{"events":[],"__proto__":[]}' }, 400, '__proto__'],
    ['too deep', { raw: `{"events":[${'['.repeat(100)}${']'.repeat(100)}]}` }, 400],
    ['a form', { raw: 'events=1', type: 'application/x-www-form-urlencoded' }, 415],
    ['no media type', { raw: '{"events":[]}', type: '' }, 415],
  ]
  for (const [name, options, status, field] of cases) {
    const answer = await api.report('acme', undefined, options)
    t.equal(answer.status, status, name)
    t.match(answer.body, { error: /./, detail: /./ }, name)
    if (field !== undefined) t.equal(answer.body['field'], field, name)
  }
  t.strictSame(await kept(api), [])
})

void t.test('a thousand events or a mebibyte are one batch, and more is refused', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const most = LIMITS.eventsPerBatchMax
  const batch = (events: number) => ({ events: Array.from({ length: events }, () => sealed) })
  t.strictSame((await api.report('acme', batch(most))).body, { accepted: most, rejected: 0 })
  const tooMany = await api.report('acme', batch(most + 1))
  t.equal(tooMany.status, 413)
  t.match(tooMany.body, { error: 'body_too_large', field: 'events', items_max: most })

  const padded = (bytes: number) => {
    const text = JSON.stringify({ events: [{ ...sealed, note: '' }] })
    return text.replace('"note":""', `"note":"${long(bytes - text.length)}"`)
  }
  const bytesMax = LIMITS.jsonBodyBytesMax
  t.match(await api.report('acme', undefined, { raw: padded(bytesMax) }), { body: { accepted: 1 } })
  const tooLarge = await api.report('acme', undefined, { raw: padded(bytesMax + 1) })
  t.match(tooLarge, { status: 413, body: { error: 'body_too_large', bytes_max: bytesMax } })
})

void t.test('terminate and logout with a sid end that session, for every instance', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  for (const sid of ['s1', 's2', 's3']) await api.session('acme', sid)
  const etag = etagOf(await api.poll('acme'))
  const event = { subject: 'ada', reason: 'binding', ip: '192.0.2.7', app_host: 'app.example.com' }
  await api.report('acme', {
    events: [
      { outcome: 'logout', sid: 's1' },
      { outcome: 'terminate', sid: 's2', ...event },
      { outcome: 'sealed', sid: 's3' },
    ],
  })
  const { sessions } = api.services
  t.match(await sessions.find('acme', 's1'), { endReason: 'signed_out' })
  t.match(await sessions.find('acme', 's2'), { endReason: 'terminated' })
  t.match(await sessions.find('acme', 's3'), { endedAt: null })
  const answer = await api.poll('acme', { 'if-none-match': etag })
  t.equal(answer.status, 200)
  const { revoked } = answer.body as { revoked: { sids: object } }
  t.strictSame(Object.keys(revoked.sids), ['s1', 's2'])
  t.strictSame(await emitted(api), [
    { event: 'session.terminated', tenantId: 'acme', content: { sid: 's2', ...event } },
  ])
})

void t.test(
  'never a session of another tenant, and nothing for one that there is not',
  async (t) => {
    const api = await startFeedApi(t)
    await api.sdkTenant('acme')
    await api.sdkTenant('other')
    await api.session('other', 'theirs')
    const etags = [etagOf(await api.poll('acme')), etagOf(await api.poll('other'))]
    const events = ['theirs', 'none', '', '__proto__'].flatMap((sid) => [
      { outcome: 'terminate', sid },
      { outcome: 'logout', sid },
    ])
    t.match(await api.report('acme', { events }), {
      status: 200,
      body: { accepted: events.length },
    })
    t.match(await api.services.sessions.find('other', 'theirs'), { endedAt: null })
    t.equal((await api.poll('acme', { 'if-none-match': etags[0]! })).status, 304, 'nothing revoked')
    t.equal((await api.poll('other', { 'if-none-match': etags[1]! })).status, 304)
    t.strictSame(await emitted(api), [])
    t.strictSame(await kept(api, 'other'), [], 'nobody else’s list')
  },
)

void t.test('the same batch twice does no harm, and is told of once', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  await api.session('acme', 's1')
  const batch = { events: [{ outcome: 'terminate', sid: 's1' }] }
  await api.report('acme', batch)
  const ended = await api.services.sessions.find('acme', 's1')
  const etag = etagOf(await api.poll('acme'))
  api.clock.advance(5000)
  t.strictSame((await api.report('acme', batch)).body, { accepted: 1, rejected: 0 })
  t.strictSame(await api.services.sessions.find('acme', 's1'), ended)
  t.equal((await api.poll('acme', { 'if-none-match': etag })).status, 304)
  t.equal((await emitted(api)).length, 1)
})

void t.test('what names no session is an event all the same', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  await api.report('acme', {
    events: [
      { outcome: 'step_up', subject: 'ada' },
      { outcome: 'terminate', subject: 'bob' },
      { outcome: 'logout', subject: 'bob' },
    ],
  })
  t.strictSame(await emitted(api), [
    { event: 'signin.step_up', tenantId: 'acme', content: { subject: 'ada' } },
    { event: 'session.terminated', tenantId: 'acme', content: { subject: 'bob' } },
  ])
})

void t.test('one person is one event a minute, and a tenant’s people are bounded', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const stepUp = (subject: string) => ({ outcome: 'step_up', subject })
  const ada = { events: [stepUp('ada'), stepUp('ada'), { outcome: 'terminate', subject: 'ada' }] }
  const told = async () => (await emitted(api)).length
  t.strictSame((await api.report('acme', ada)).body, { accepted: 3, rejected: 0 })
  t.equal(await told(), 2)
  await api.report('acme', ada)
  t.equal(await told(), 2)
  t.equal((await kept(api)).length, 6, 'kept all the same')
  api.clock.advance(60_000)
  await api.report('acme', ada)
  t.equal(await told(), 4)

  api.clock.advance(600_000)
  const { burst } = LIMITS.rateTold
  const people = Array.from({ length: burst + 1 }, (_, index) => stepUp(`person-${index}`))
  await api.report('acme', { events: people })
  t.equal(await told(), 4 + burst)
  for (let index = 0; index <= burst; index++) await api.session('acme', `s${index}`)
  const real = people.map((_, index) => ({ outcome: 'terminate', sid: `s${index}` }))
  await api.report('acme', { events: real })
  t.equal(await told(), 4 + burst + real.length, 'sessions that really ended are told of, all')
})

void t.test('too many events are put off and not lost; the next minute takes them', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  await api.sdkTenant('other')
  const events = Array.from({ length: LIMITS.eventsPerBatchMax }, () => sealed)
  const { burst, perSecond } = LIMITS.rateEnforcementEvents
  for (let sent = 0; sent < burst; sent += events.length)
    t.equal((await api.report('acme', { events })).status, 200)
  const refused = await api.report('acme', { events })
  t.match(refused, { status: 429, body: { error: 'rate_limited' } })
  const seconds = Number(refused.headers.get('retry-after'))
  t.equal(seconds, events.length / perSecond)
  t.equal((await api.report('other', { events })).status, 200, 'another tenant pays nothing')
  api.clock.advance(seconds * 1000)
  t.equal((await api.report('acme', { events })).status, 200)
})

void t.test('what cannot be read costs as much as what can', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  await api.session('acme', 's1')
  const { sessions } = api.services
  const events = Array.from({ length: LIMITS.eventsPerBatchMax }, () => null)
  const { burst } = LIMITS.rateEnforcementEvents
  for (let sent = 0; sent < burst; sent += events.length)
    t.equal((await api.report('acme', { events })).status, 200)
  t.match(await api.report('acme', { events: [null] }), { status: 429 })
  const mixed = { events: [null, { outcome: 'logout', sid: 's1' }] }
  t.match(await api.report('acme', mixed), { status: 429 })
  t.match(await sessions.find('acme', 's1'), { endReason: 'signed_out' }, 'and ends nobody less')
})

void t.test('whose session it was is not what the batch claims', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  await api.sdkTenant('other')
  await api.session('acme', 's1')
  await api.session('acme', 's2')
  const events = [
    { outcome: 'terminate', sid: 's1', subject: 'trial_x' },
    { outcome: 'terminate', sid: 's2', subject: 'bob' },
  ]
  await api.report('acme', { events })
  const { userId } = (await api.services.sessions.find('acme', 's1')) ?? {}
  const truth = [{ subject: userId }, { subject: userId }]
  t.match(await kept(api), truth, 'nobody is hidden as a person of a check')
  t.match(
    (await emitted(api)).map(({ content }) => content),
    truth,
  )
  await api.report('other', { events: [{ outcome: 'refused', sid: 's1', subject: 'eve' }] })
  t.match(await kept(api, 'other'), [{ subject: 'eve' }], 'nothing is told of another tenant’s')
})

void t.test('no noise at a sealed path stops a sign-out, alone or in the same batch', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  for (const sid of ['s1', 's2', 's3']) await api.session('acme', sid)
  const { sessions } = api.services
  const { burst } = LIMITS.rateEnforcementEvents
  const noise = Array.from({ length: LIMITS.eventsPerBatchMax }, () => sealed)
  for (let sent = 0; sent < burst; sent += noise.length) await api.report('acme', { events: noise })

  const alone = {
    events: [
      { outcome: 'terminate', sid: 's1' },
      { outcome: 'logout', sid: 's2' },
    ],
  }
  t.equal((await api.report('acme', alone)).status, 200)
  t.match(await sessions.find('acme', 's1'), { endReason: 'terminated' })
  t.match(await sessions.find('acme', 's2'), { endReason: 'signed_out' })

  const mixed = { events: [sealed, { outcome: 'terminate', sid: 's3' }] }
  t.equal((await api.report('acme', mixed)).status, 429, 'the noise is put off')
  t.match(await sessions.find('acme', 's3'), { endReason: 'terminated' })
  t.equal((await kept(api))[0]?.['outcome'], 'logout', 'and nothing of that batch written twice')
  api.clock.advance(60_000)
  t.equal((await api.report('acme', mixed)).status, 200)
  t.equal((await emitted(api)).length, 2, 'each end is told of once')
})

void t.test('ends of sessions are bounded on their own', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  const { burst, perSecond } = LIMITS.rateSessionEnds
  const ends = Array.from({ length: LIMITS.eventsPerBatchMax }, () => ({ outcome: 'logout' }))
  for (let sent = 0; sent < burst; sent += ends.length)
    t.equal((await api.report('acme', { events: ends })).status, 200)
  const refused = await api.report('acme', { events: ends })
  t.equal(refused.status, 429)
  t.equal(Number(refused.headers.get('retry-after')), ends.length / perSecond)
  t.equal((await api.report('acme', { events: [sealed] })).status, 200)
})

void t.test('events are listed newest first, over pages, also those of gateways', async (t) => {
  const api = await startFeedApi(t)
  await api.sdkTenant('acme')
  for (const outcome of ['a', 'b', 'c']) await api.report('acme', { events: [{ outcome }] })
  await api.services.enforcement.receive('gateway-1', [
    { tenant_id: 'acme', outcome: 'd', sid: long(400) },
    { tenant_id: 'none', outcome: 'x' },
  ])
  const outcomes: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/tenants/acme/enforcement-events?limit=2${cursor && `&cursor=${cursor}`}`
    const page = await api.operator('GET', path)
    outcomes.push(
      ...page.items.map(({ outcome, instance }) => `${String(outcome)} ${String(instance)}`),
    )
    cursor = page.next
  }
  t.strictSame(outcomes, ['d gateway-1', 'c ', 'b ', 'a '])
  t.equal((await api.operator('GET', '/tenants/none/enforcement-events')).status, 404)
})
