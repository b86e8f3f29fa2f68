/** A command line tool signs in with a code: what it is told, and who gets the key. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { insertDeviceCode } from '../../../control-plane/store/queries/device-codes.ts'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { giveRole, takeRole } from '../../support/console.ts'
import { ACTOR, movableClock, temporaryFolder } from '../../support/control-plane.ts'

const INTERVAL_MS = LIMITS.deviceCodeIntervalSeconds * SECOND_MS

const NOBODYS = {
  ...{ machine: '', application: '', address: '', network: '', site: '' },
  ...{ polledAt: null, intervalSeconds: 2, state: 'open' as const },
  ...{ tenantId: null, allowedBy: null, allowedAt: null, allowedIn: null, handsSecret: false },
}

interface Opened {
  readonly device_code: string
  readonly user_code: string
}

type TestScope = Parameters<typeof startApi>[0]

async function startTool(t: TestScope, settings: Parameters<typeof startApi>[1] = {}) {
  const clock = movableClock()
  const api = await startApi(t, { clock, ...settings })
  const { services, call } = api
  await services.consoleAccess.ensureRealm()
  const keys = await api.tenant('acme')
  const { deviceCodes } = services.consoleAccess

  const ask = (path: string, body: object, address?: string) =>
    call('POST', `/api/v1/cli/${path}`, body, {
      key: null,
      ...(address !== undefined && { address }),
    })
  const open = async (body = {}) => {
    return (await ask('device-codes', body)).body as unknown as Opened
  }

  let people = 0
  async function person(tenantId: string | undefined, isReadOnly = false) {
    const email = `kim${++people}@example.test`
    const account = { username: email, email, name: 'Kim', password: '' }
    const { userId } = await services.users.create(CONSOLE_REALM, account, ACTOR)
    if (tenantId !== undefined) await giveRole(services, userId, tenantId, isReadOnly)
    const actor = { name: `console:${email}`, id: userId, requestId: 'req' }
    return {
      userId,
      email,
      allow: (userCode: string, { tenantId = 'acme', handsSecret = false } = {}) =>
        deviceCodes.allow(userCode, { tenantId, handsSecret }, { userId, sid: 'sid' }, actor),
      deny: (userCode: string) => deviceCodes.deny(userCode, actor),
    }
  }

  return {
    ...api,
    clock,
    keys,
    deviceCodes,
    ask,
    open,
    person,
    poll: ({ device_code }: Opened, address?: string) =>
      ask('device-tokens', { device_code }, address),
  }
}

void t.test('a tool gets the key of the tenant that somebody has chosen, once', async (t) => {
  const { ask, poll, person, clock, keys, services, call } = await startTool(t)
  const begun = await ask('device-codes', { machine: 'kims-laptop', application: 'shop' })
  t.match(begun, {
    status: 201,
    body: {
      device_code: /^sdc_[\w-]{43}$/,
      user_code: /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/,
      expires_in: 600,
      interval: 2,
    },
  })
  t.equal(begun.headers.get('cache-control'), 'no-store')
  const code = begun.body as unknown as Opened & Record<string, unknown>
  t.equal(code['verification_uri'], `${services.baseUrl}/console/device`)
  t.equal(
    code['verification_uri_complete'],
    `${services.baseUrl}/console/device?code=${code.user_code}`,
  )
  t.match(await poll(code), { status: 400, body: { error: 'authorization_pending' } })

  const kim = await person('acme')
  const typed = ` ${code.user_code.toLowerCase().replace('-', ' ')} `
  await kim.allow(typed)
  clock.advance(INTERVAL_MS)
  const answer = await poll(code, '192.0.2.44')
  t.equal(answer.status, 200)
  t.strictSame(answer.body, {
    analyzer_key: keys.analyzer_key,
    tenant_id: 'acme',
    mode: 'gateway',
    hostname: 'acme.localhost',
    origin: 'http://127.0.0.1:9000',
    integration_url: `${services.baseUrl}/console/tenants/acme/integration`,
  })
  const key = String(answer.body['analyzer_key'])
  t.equal((await call('GET', '/api/v1/integration', undefined, { key })).status, 200, 'it is good')

  clock.advance(INTERVAL_MS)
  t.match(await poll(code), { status: 400, body: { error: 'expired_token' } }, 'once')
  const { items } = await services.auditTrail.list({ limit: 10 })
  const [handedOut, allowed] = items.filter(({ action }) => action.startsWith('analyzer_key.'))
  const requested = { machine: 'kims-laptop', application: 'shop', requested_from: '127.0.0.1' }
  const by = { actor: `console:${kim.email}`, actorId: kim.userId, tenantId: 'acme' }
  t.match(allowed, { ...by, action: 'analyzer_key.allowed', content: requested })
  t.match(handedOut, {
    ...by,
    action: 'analyzer_key.handed_out',
    content: { ...requested, delivered_to: '192.0.2.44', client_secret: false },
  })
  t.notMatch(JSON.stringify(items), new RegExp(`${key}|${code.device_code}`))
})

void t.test('the client secret goes along in sdk mode, and only where it was ticked', async (t) => {
  const { open, poll, person, tenant } = await startTool(t)
  const sdk = { mode: 'sdk', hostnames: [], origin: 'http://apps.example' }
  const { client_secret: secret } = await tenant('apps', sdk)
  const grace = await person('')
  const secretOf = async (tenantId: string, handsSecret: boolean) => {
    const code = await open()
    await grace.allow(code.user_code, { tenantId, handsSecret })
    const { body } = await poll(code)
    t.equal(body['tenant_id'], tenantId)
    return body['client_secret']
  }
  t.equal(await secretOf('apps', true), secret)
  t.equal(await secretOf('apps', false), undefined)
  t.equal(await secretOf('acme', true), undefined, 'gateways have it')
})

void t.test('polling faster than the interval costs two seconds more each time', async (t) => {
  const { open, poll, clock } = await startTool(t)
  const code = await open()
  t.match(await poll(code), { body: { error: 'authorization_pending' } })
  clock.advance(INTERVAL_MS / 2)
  t.match(await poll(code), { status: 400, body: { error: 'slow_down', interval: 4 } })
  clock.advance(INTERVAL_MS)
  t.match(await poll(code), { body: { error: 'slow_down', interval: 6 } }, 'by the new one')
  clock.advance(6 * SECOND_MS)
  t.match(await poll(code), { body: { error: 'authorization_pending' } })
  const { deviceCodeSlowDownSeconds: step, deviceCodeIntervalSecondsMax: most } = LIMITS
  let last: unknown
  for (let times = 0; times <= most / step; times++) last = (await poll(code)).body['interval']
  t.equal(last, most, 'and no more than that')
  clock.advance(most * SECOND_MS)
  t.match(await poll(code), { body: { error: 'authorization_pending' } })
})

void t.test('a request that was denied, has expired or never was', async (t) => {
  const { open, poll, person, clock, deviceCodes } = await startTool(t)
  const kim = await person('acme')
  const denied = await open()
  await kim.deny(denied.user_code)
  t.match(await poll(denied), { status: 400, body: { error: 'access_denied' } })
  clock.advance(INTERVAL_MS)
  t.match(await poll(denied), { body: { error: 'access_denied' } }, 'and stays so')
  await t.rejects(kim.allow(denied.user_code), { code: 'device_code_not_found' })

  const late = await open()
  clock.advance(LIMITS.deviceCodeMs - 1)
  t.ok(await deviceCodes.look(late.user_code, 'ada'))
  t.match(await poll(late), { body: { error: 'authorization_pending' } })
  clock.advance(1)
  t.equal(await deviceCodes.look(late.user_code, 'ada'), undefined)
  await t.rejects(kim.allow(late.user_code), { code: 'device_code_not_found' })
  t.match(await poll(late), { status: 400, body: { error: 'expired_token' } })

  const unfetched = await open()
  await kim.allow(unfetched.user_code)
  clock.advance(LIMITS.deviceCodeMs)
  t.match(await poll(unfetched), { body: { error: 'expired_token' } }, 'nobody came in time')
  const nobodys = { device_code: 'sdc_nobodys', user_code: '' }
  t.match(await poll(nobodys), { status: 400, body: { error: 'expired_token' } })
})

void t.test('of two that poll at the same moment one gets the key', async (t) => {
  const { open, poll, person } = await startTool(t)
  const kim = await person('acme')
  const code = await open()
  await kim.allow(code.user_code)
  const answers = await Promise.all([poll(code), poll(code), poll(code)])
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 400, 400])
})

void t.test('of two that answer at the same moment one is taken', async (t) => {
  const { open, poll, person } = await startTool(t)
  const [kim, lee] = [await person('acme'), await person('acme')]
  const code = await open()
  const taken = await Promise.allSettled([lee.deny(code.user_code), kim.allow(code.user_code)])
  t.strictSame(
    taken.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
  t.match(await poll(code), { body: { error: 'access_denied' } })
})

void t.test(
  'a tenant that is gone meanwhile hands out nothing, and nor does a namesake',
  async (t) => {
    const { open, poll, person, services, tenant } = await startTool(t)
    const grace = await person('')
    const code = await open()
    await grace.allow(code.user_code)
    await services.tenants.remove('acme', ACTOR)
    await tenant('acme')
    t.match(await poll(code), { status: 400, body: { error: 'expired_token' } })
    const late = await open()
    await t.rejects(grace.allow(late.user_code, { tenantId: 'nobody' }), {
      code: 'tenant_not_found',
    })
    await t.rejects(grace.allow(late.user_code, { tenantId: CONSOLE_REALM }), {
      code: 'tenant_not_found',
    })
  },
)

void t.test('whoever has lost the right since has allowed nothing', async (t) => {
  const { open, poll, person, services } = await startTool(t)
  const losses: readonly (readonly [string, (userId: string) => Promise<unknown>])[] = [
    ['the role', (userId) => takeRole(services, userId, 'acme')],
    ['all but looking', (userId) => giveRole(services, userId, 'acme', true)],
    ['the account', (userId) => services.users.remove(CONSOLE_REALM, userId, ACTOR)],
    [
      'it for a while',
      (userId) => services.users.patch(CONSOLE_REALM, userId, { isDisabled: true }, ACTOR),
    ],
  ]
  for (const [what, lose] of losses) {
    const kim = await person('acme')
    const code = await open()
    await kim.allow(code.user_code)
    await lose(kim.userId)
    t.match(await poll(code), { status: 400, body: { error: 'access_denied' } }, what)
  }
})

void t.test('only who may change a tenant allows its key', async (t) => {
  const { open, poll, person, tenant } = await startTool(t)
  await tenant('other')
  const code = await open()
  const stranger = await person('other')
  await t.rejects(stranger.allow(code.user_code), { code: 'tenant_not_found' })
  const reader = await person('acme', true)
  await t.rejects(reader.allow(code.user_code), { code: 'role_read_only' })
  const readingAll = await person('', true)
  await t.rejects(readingAll.allow(code.user_code), { code: 'role_read_only' })
  t.match(await poll(code), { body: { error: 'authorization_pending' } })
})

void t.test('two control planes have the same codes, and no code itself is kept', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const masterKey = randomBytes(32)
  const here = await startTool(t, { file, masterKey })
  const there = await startApi(t, { file, masterKey, clock: here.clock })
  const code = await here.open({ machine: 'kims-laptop' })
  const kim = await here.person('acme')
  const elsewhere = there.services.consoleAccess.deviceCodes
  t.match(await elsewhere.look(code.user_code, 'ada'), { machine: 'kims-laptop' })
  const database = new Database(file, { readonly: true })
  const rows = JSON.stringify(database.prepare('SELECT * FROM device_codes').all())
  database.close()
  t.match(rows, 'kims-laptop')
  t.notMatch(rows, new RegExp(`${code.device_code}|${code.user_code}`))
  await kim.allow(code.user_code)
  const { device_code } = code
  const pollThere = () => there.call('POST', '/api/v1/cli/device-tokens', { device_code })
  const answers = await Promise.all([pollThere(), here.poll(code), pollThere(), here.poll(code)])
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 400, 400, 400], 'once, of both')
  t.match(await here.poll(code), { body: { error: 'expired_token' } })
})

void t.test('names are printable, and of a length that fits a page', async (t) => {
  const { ask, open, deviceCodes } = await startTool(t)
  const longest = 'k'.repeat(LIMITS.deviceNameCharactersMax)
  const application = 'Käsekuchen 🍰'
  const { user_code } = await open({ machine: longest, application })
  t.match(await deviceCodes.look(user_code, 'ada'), { machine: longest, application })
  for (const machine of [`${longest}k`, '', 'a\nb', 'a\u202eb', '\u001b[31m', 7])
    t.match(
      await ask('device-codes', { machine }),
      { status: 400, body: { error: 'field_invalid', field: 'machine' } },
      JSON.stringify(machine),
    )
})

void t.test('one network, one site and all together have so many open, and no more', async (t) => {
  const { ask, clock, services } = await startTool(t)
  const from = async (address: string) => (await ask('device-codes', {}, address)).status
  const { deviceCodesPerAddressMax: ofAddress, deviceCodesPerSiteMax: ofSite } = LIMITS
  for (let place = 0; place < ofAddress; place++) t.equal(await from('192.0.2.1'), 201)
  clock.advance(MINUTE_MS) // beyond what the rate refuses
  const refused = await ask('device-codes', {}, '192.0.2.1')
  t.match(refused, {
    status: 429,
    body: { error: 'rate_limited', detail: /waiting to be allowed/ },
  })
  t.equal(refused.body['retry_after'], (LIMITS.deviceCodeMs - MINUTE_MS) / SECOND_MS)
  t.equal(await from('192.0.2.2'), 201, 'others go on')

  const network = (place: number) => `2001:db8:1:${place}::1`
  for (let place = 0; place < ofSite; place++) t.equal(await from(network(place)), 201)
  t.equal(await from(network(ofSite)), 429)
  t.equal(await from('2001:db8:2::1'), 201)

  clock.advance(LIMITS.deviceCodeMs)
  t.equal(await from('192.0.2.1'), 201, 'what is over does not count')
  const { deviceCodesOpenMax: most, deviceCodesForOthers: reserved } = LIMITS
  const expiresAt = clock.nowMs() + LIMITS.deviceCodeMs
  const fill = (begin: number, end: number) =>
    services.store.change(async ({ queries, nowMs }) => {
      for (let place = begin; place < end; place++)
        await insertDeviceCode(queries, {
          ...{ ...NOBODYS, deviceHash: `device ${place}`, userCodeHash: `user ${place}` },
          createdAt: nowMs,
          expiresAt: expiresAt - (place === 1 ? MINUTE_MS : 0),
        })
    })
  await fill(1, most - reserved)
  t.equal(await from('192.0.2.1'), 429, 'what is left is for others')
  t.equal(await from('192.0.2.3'), 201)
  t.equal(await from('192.0.2.3'), 429, 'who has one now')
  await fill(most - reserved, most - 1)
  t.equal(await from('192.0.2.4'), 429)
  clock.advance(LIMITS.deviceCodeMs - MINUTE_MS)
  t.equal(await from('192.0.2.4'), 201, 'one is over')
})

void t.test('what was denied holds no place', async (t) => {
  const { ask, person, services, deviceCodes } = await startTool(t)
  const kim = await person('acme')
  const { store } = services
  const codes: string[] = []
  const asked = { machine: '', application: '', address: '192.0.2.1' }
  while (codes.length < LIMITS.deviceCodesPerAddressMax)
    codes.push((await deviceCodes.open(asked)).userCode)
  await t.rejects(deviceCodes.open(asked), { code: 'rate_limited' })
  await kim.deny(codes[0]!)
  await deviceCodes.open(asked)
  await t.rejects(deviceCodes.open(asked), { code: 'rate_limited' })
  await store.change(async ({ queries, nowMs }) => {
    const times = { createdAt: nowMs, expiresAt: nowMs + LIMITS.deviceCodeMs }
    for (let place = 0; place < LIMITS.deviceCodesOpenMax; place++) {
      const hashes = { deviceHash: `device ${place}`, userCodeHash: `user ${place}` }
      await insertDeviceCode(queries, { ...NOBODYS, ...hashes, ...times, state: 'denied' })
    }
  })
  t.equal((await ask('device-codes', {}, '192.0.2.9')).status, 201)
})

void t.test('a code that somebody made up waits for no turn to write', async (t) => {
  const { poll, open, clock, services } = await startTool(t)
  const over = await open()
  clock.advance(LIMITS.deviceCodeMs)
  const busy = Promise.withResolvers<void>()
  const writing = services.store.change(() => busy.promise)
  for (const code of [over, { device_code: 'sdc_made_up', user_code: '' }])
    t.match(await poll(code), { status: 400, body: { error: 'expired_token' } })
  busy.resolve()
  await writing
})

void t.test('an address asks for codes and polls so often', async (t) => {
  const { ask, open, poll, clock } = await startTool(t)
  const code = await open()
  for (let times = 0; times < LIMITS.rateDeviceTokens.burst; times++)
    t.equal((await poll(code)).status, 400)
  t.match(await poll(code), { status: 429, body: { error: 'rate_limited' } })
  t.equal((await poll(code, '192.0.2.9')).status, 400)
  for (let times = 1; times < LIMITS.rateDeviceCodes.burst; times++) await open()
  const refused = await ask('device-codes', {})
  t.match(refused, { status: 429, body: { error: 'rate_limited', retry_after: 30 } })
  t.notMatch(refused.body['detail'], /waiting to be allowed/)
  clock.advance(MINUTE_MS)
  t.equal((await poll(code)).status, 400)
})

void t.test('what is over is tidied up', async (t) => {
  const { open, clock, services, deviceCodes } = await startTool(t)
  await open()
  clock.advance(LIMITS.deviceCodeMs)
  await open()
  t.equal(await deviceCodes.prune(10), 0, 'one that ends in this very moment is gone next time')
  clock.advance(1)
  t.equal(await deviceCodes.prune(10), 1)
  t.ok(services.jobs.tidying.includes('consoleAccess'), 'where it is one of the jobs')
})
