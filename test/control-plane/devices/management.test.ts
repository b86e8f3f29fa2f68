/** What operators see of devices and do about them. */
import t from 'tap'
import { endSessionsOn } from '../../../control-plane/devices/sessions-on-devices.ts'
import { readCsv } from '../../../control-plane/requests/csv.ts'
import { SessionRevoked } from '../../../control-plane/sessions/sessions.ts'
import type { Queries } from '../../../control-plane/store/engine.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { insertRows } from '../../../control-plane/store/statements.ts'
import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { makePosture, random32, startDevices } from '../../support/devices.ts'

const DEVICES = '/tenants/acme/devices'
const REVOCATIONS = '/tenants/acme/device-revocations'
const MISSING = { status: 404, body: { error: 'device_not_found' } }
const REFUSED = { status: 401, body: { error: 'device_refused' } }

type World = Awaited<ReturnType<typeof startDevices>>

const begin = ({ services, clock }: World, sid: string, deviceId?: string) =>
  services.sessions.record({
    ...{ tenantId: 'acme', sid, userId: 'ada', ip: '192.0.2.1', userAgent: 'x', deviceId },
    ...{ issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + HOUR_MS },
  })

void t.test('a list says what each machine says of itself, and since when', async (t) => {
  const { machine, checkIn, operator, clock } = await startDevices(t)
  const one = await machine({ hostname: 'Desk-7', key_storage: 'tpm' })
  const began = new Date(clock.nowMs()).toISOString()
  await checkIn(one, { posture: one.posture })
  clock.advance(HOUR_MS)
  const later = new Date(clock.nowMs()).toISOString()
  one.posture = makePosture({ firewall: false })
  await checkIn(one, { posture: one.posture, age_s: 0 })
  const { body } = await operator('GET', `${DEVICES}/${one.deviceId}`)
  t.match(body, {
    ...{ device_id: one.deviceId, hostname: 'Desk-7', platform: 'linux', arch: 'x64' },
    ...{ agent: '0.2.0', key_storage: 'tpm', state: 'pending', suspicion: null, network: null },
    ...{ user_id: null, enrolled_at: began, seen_at: later, collected_at: later },
    posture: { facts: { firewall: { value: false }, tpm: { value: true } } },
    facts_since: { firewall: later, tpm: began, disk_encrypted: began },
    same_machine: [],
  })
  t.match((await operator('GET', DEVICES)).items, [body])
  t.match(await operator('GET', `${DEVICES}/dev_0000000000000000`), MISSING)
  t.match(await operator('GET', '/tenants/nobody/devices'), { status: 404 })
})

void t.test('lists are paged, filtered and searched', async (t) => {
  const world = await startDevices(t)
  const { machine, operator, clock } = world
  const hash = random32()
  const names = ['alpha', 'Beta', 'gamma', 'delta']
  const ids: string[] = []
  for (const hostname of names) {
    const said = hostname === 'alpha' || hostname === 'gamma' ? { machine_hash: hash } : {}
    ids.push((await machine({ hostname, ...said })).deviceId)
    clock.advance(1000)
  }
  const [alpha = '', beta = '', gamma = '', delta = ''] = ids
  const listed = async (query: string) =>
    (await operator('GET', `${DEVICES}?${query}`)).items.map((item) => item['device_id'])
  t.strictSame(await listed(''), [delta, gamma, beta, alpha])
  const first = await operator('GET', `${DEVICES}?limit=3`)
  t.equal(first.items.length, 3)
  t.strictSame(await listed(`limit=3&cursor=${first.next}`), [alpha])
  t.strictSame(await listed('q=bet'), [beta])
  t.strictSame(await listed(`q=${gamma}`), [gamma])
  t.strictSame(await listed('duplicates=true'), [gamma, alpha])
  t.strictSame((await operator('GET', `${DEVICES}/${alpha}`)).body['same_machine'], [gamma])
  t.strictSame(await listed('platform=windows'), [])
  await operator('POST', `${DEVICES}/${beta}/approve`, {})
  t.strictSame(await listed('state=approved'), [beta])
  t.strictSame(await listed('state=pending'), [delta, gamma, alpha])
  await operator('POST', `${DEVICES}/${gamma}/revoke`, {})
  t.strictSame(await listed('state=revoked'), [gamma])
  t.strictSame(await listed('duplicates=true'), [], 'who was revoked is nobody twice')
  t.match(await operator('GET', `${DEVICES}?state=lost`), { status: 400 })
})

void t.test(
  'a ticket may say whose the device is, and an administrator whose it becomes',
  async (t) => {
    const world = await startDevices(t)
    const { machine, operator, services, ticket, enrol, person } = world
    const [ada, bob] = [await person('ada'), await person('bob')]
    const one = await machine({}, { user_id: ada })
    t.match(await operator('GET', `${DEVICES}?user_id=${ada}`), {
      items: [{ device_id: one.deviceId, user_id: ada }],
    })
    const path = `${DEVICES}/${one.deviceId}`
    t.match(await operator('PATCH', path, { owner: bob }), { body: { user_id: bob } })
    t.match(await operator('PATCH', path, { owner: 'usr_nobody' }), {
      status: 404,
      body: { error: 'user_not_found', field: 'owner' },
    })
    t.match(await operator('PATCH', path, { owner: null }), { body: { user_id: null } })
    const claim = (userId: string) =>
      services.store.change((change) =>
        services.enrolledDevices.claim(change, 'acme', one.deviceId, userId, {
          name: userId,
          requestId: 'r',
        }),
      )
    await claim(ada)
    await claim(bob)
    t.match(await operator('GET', path), { body: { user_id: ada } }, 'the first who comes')
    t.match(await services.enrolledDevices.ofPerson('acme', ada), [{ deviceId: one.deviceId }])

    await operator('PATCH', path, { approved: true })
    const waiting = await ticket({ user_id: ada })
    await operator('DELETE', `/tenants/acme/users/${ada}`)
    t.match(await operator('GET', path), { body: { user_id: null, state: 'pending' } })
    t.match(await enrol(waiting.ticket, one.own), { status: 401 }, 'nor is there a ticket for them')
  },
)

void t.test(
  'revoked is revoked: the key opens nothing, and what was begun on it ends',
  async (t) => {
    const world = await startDevices(t)
    const { machine, checkIn, operator, services, clock } = world
    const [one, other] = [await machine(), await machine()]
    await checkIn(one)
    await begin(world, 'on-one', one.deviceId)
    await begin(world, 'on-other', other.deviceId)
    await begin(world, 'elsewhere')
    const answer = await operator('POST', `${DEVICES}/${one.deviceId}/revoke`, {})
    t.match(answer, { status: 200, body: { sessions: 1, enforced: { gateways: 0, of: 0 } } })
    const ended = async (sid: string) => (await services.sessions.find('acme', sid))?.endReason
    t.equal(await ended('on-one'), 'device_revoked')
    t.equal(await ended('on-other'), null)
    t.equal(await ended('elsewhere'), null)
    t.match(await services.revocations.revokedState('acme'), { sids: { 'on-one': Number } })
    await t.rejects(begin(world, 'late', one.deviceId), SessionRevoked, 'nor does one begin on it')
    t.match(await checkIn(one), REFUSED)
    t.match(await operator('PATCH', `${DEVICES}/${one.deviceId}`, { approved: true }), {
      status: 409,
      body: { error: 'device_revoked' },
    })
    t.match(
      await operator('POST', `${DEVICES}/${one.deviceId}/revoke`, {}),
      { status: 200 },
      'again',
    )

    t.match(await operator('DELETE', `${DEVICES}/${other.deviceId}`), { status: 204 })
    t.equal(await ended('on-other'), 'device_revoked')
    t.match(await operator('GET', `${DEVICES}/${other.deviceId}`), MISSING)
    t.match(await checkIn(other), REFUSED)
    clock.advance(LIMITS.deviceRevokedKeptMs + DAY_MS)
    await services.jobs.run()
    t.match(await operator('GET', `${DEVICES}/${one.deviceId}`), MISSING, 'after a month')
  },
)

void t.test('many are revoked together, or none of them', async (t) => {
  const world = await startDevices(t)
  const { machine, operator, tenant, checkIn } = world
  const all = [await machine(), await machine()]
  const device_ids = all.map(({ deviceId }) => deviceId)
  const nobodys = { device_ids: [...device_ids, 'dev_0000000000000000'] }
  t.match(await operator('POST', REVOCATIONS, nobodys), MISSING)
  t.match(await checkIn(all[0]!), { status: 200 })
  await tenant('other')
  t.match(await operator('POST', '/tenants/other/device-revocations', { device_ids }), MISSING)
  t.match(await operator('DELETE', `/tenants/other/devices/${device_ids[0]}`), MISSING)
  t.match(await operator('POST', REVOCATIONS, { device_ids }), { body: { device_ids } })
  t.match(await checkIn(all[0]!), REFUSED)
  const most = LIMITS.devicesRevokedAtOnceMax
  const ids = (count: number) => Array.from({ length: count }, () => device_ids[0])
  t.match(await operator('POST', REVOCATIONS, { device_ids: ids(most) }), { status: 200 })
  t.match(await operator('POST', REVOCATIONS, { device_ids: ids(most + 1) }), {
    status: 400,
    body: { field: 'device_ids' },
  })
})

/** With how many statements were asked for; of those that are prepared, none. */
function counted(queries: Queries) {
  const asked = { count: 0 }
  const count = (target: Queries, name: string | symbol) => {
    if (['select', 'insert', 'update', 'delete'].includes(String(name))) asked.count++
    return Reflect.get(target, name) as unknown
  }
  return { asked, queries: new Proxy(queries, { get: count }) }
}

void t.test('a hundred sessions end by as many statements as one', async (t) => {
  const world = await startDevices(t)
  const { machine, services, tenant } = world
  const { store } = services
  const all = [await machine(), await machine(), await machine()]
  const logout = { backchannelLogoutUri: 'http://127.0.0.1:9000/logout' }
  await services.tenants.patch('acme', logout, { name: 'operator', requestId: 'r' })
  await tenant('other')
  const sids = all.flatMap(({ deviceId }, at) =>
    ['a', 'b', 'c', 'd'].map((name) => ({ sid: `${name}${at}`, deviceId })),
  )
  for (const { sid, deviceId } of sids) await begin(world, sid, deviceId)
  const record = { payloadSealed: '', expiresAt: Number.MAX_SAFE_INTEGER }
  const records = [...sids.map(({ sid }) => sid), 'elsewhere'].flatMap((sid) => [
    { tenantId: 'acme', model: 'AccessToken', idHash: sid, sid, ...record },
    { tenantId: 'acme', model: 'Interaction', idHash: sid, sid, ...record },
    { tenantId: 'other', model: 'AccessToken', idHash: sid, sid, ...record },
  ])
  await store.change(({ queries }) => insertRows(queries, schema.realmRecords, records))
  const ids = all.map(({ deviceId }) => deviceId)
  const end = (deviceIds: string[]) =>
    store.change(async (change) => {
      const { asked, queries } = counted(change.queries)
      await endSessionsOn({ ...change, queries }, 'acme', deviceIds, 'device_revoked')
      return asked.count
    })
  const alone = await machine()
  await begin(world, 'alone', alone.deviceId)
  t.equal(await end(ids), await end([alone.deviceId]))
  for (const { sid } of sids) {
    t.match(await services.sessions.find('acme', sid), { endReason: 'device_revoked' }, sid)
    t.match((await services.revocations.revokedState('acme')).sids, { [sid]: Number })
  }
  const left = await store.read.select().from(schema.realmRecords)
  t.equal(left.length, records.length - sids.length, 'tokens of theirs, and of nobody else')
  const told = (await store.read.select().from(schema.outbox))
    .filter(({ event }) => event === 'session.revoked')
    .sort((a, b) => a.sequence - b.sequence)
    .map(({ content }) => content as { sid: string })
  const names = [...sids.map(({ sid }) => sid), 'alone'].sort()
  t.strictSame(told.map(({ sid }) => sid).sort(), names)
  t.match(told, [{ sessions: 1, reason: 'device_revoked', not_before: Number }])
  const notices = await store.read.select().from(schema.logoutNotices)
  t.strictSame(notices.map(({ sid }) => sid).sort(), names)
})

void t.test(
  'a suspicion stands until it is cleared, and then both are watched again',
  async (t) => {
    const { machine, checkIn, operator, nonce } = await startDevices(t)
    const one = await machine()
    await checkIn(one)
    const copy = { ...one, bootId: random32() }
    await checkIn(copy)
    await checkIn(one)
    const path = `${DEVICES}/${one.deviceId}`
    t.match(await operator('GET', path), {
      body: { state: 'suspect_clone', suspicion: 'boot_returned' },
    })
    t.match((await operator('GET', `${DEVICES}?state=suspect_clone`)).items, [{}])
    await operator('PATCH', path, { approved: true })
    t.match(await checkIn(one), { status: 409 }, 'approval does not help')
    t.match(await operator('PATCH', path, { cleared: true }), { body: { state: 'approved' } })
    t.match(await checkIn({ ...one, prev: random32() }), {
      status: 409,
      body: { error: 'device_chain_lost' },
    })
    t.match(await checkIn(one), { status: 200 }, 'with what it had')
    t.match(await checkIn(copy), { status: 409, body: { error: 'device_suspect_clone' } })
    await operator('PATCH', path, { cleared: true })
    t.match(await checkIn({ ...one, prev: await nonce(one.deviceId) }), { status: 200 })
    const { items } = await operator('GET', '/audit')
    t.match(
      items.find(({ action }) => action === 'device.suspected'),
      {
        actor: `device:${one.deviceId}`,
        details: { address: '192.0.2.1' },
      },
    )
  },
)

void t.test('people remove their own, and nobody else’s', async (t) => {
  const world = await startDevices(t)
  const { services, machine, checkIn, person } = world
  const [ada, bob] = [await person('ada'), await person('bob')]
  const one = await machine({}, { user_id: ada })
  await begin(world, 'on-one', one.deviceId)
  const by = (userId: string) =>
    services.enrolledDevices.removeOwn('acme', userId, one.deviceId, {
      name: userId,
      requestId: '',
    })
  await t.rejects(by(bob), { code: 'device_not_found' })
  t.match(await by(ada), { sessions: 1 })
  t.match(await checkIn(one), REFUSED)
  t.strictSame(await services.enrolledDevices.ofPerson('acme', ada), [])
})

void t.test('a file has all of them, and runs in no spreadsheet', async (t) => {
  const { machine, checkIn, operator, clock } = await startDevices(t)
  const one = await machine({ hostname: '=cmd|"/c calc"!A1,' })
  await checkIn(one, { posture: one.posture })
  clock.advance(1)
  await machine()
  const { body, headers } = await operator('GET', `${DEVICES}.csv`)
  t.equal(headers.get('content-disposition'), 'attachment; filename="devices-acme.csv"')
  const read = readCsv(String(body['text']))
  if (read.kind === 'wrong') throw new Error(read.problem)
  const [head = [], ...lines] = read.lines.map(({ cells }) => cells)
  t.equal(lines.length, 2)
  const at = (name: string) => lines[1]?.[head.indexOf(name)]
  t.match(
    [at('device_id'), at('hostname'), at('firewall'), at('os')],
    [one.deviceId, /^'=cmd/, 'true', 'debian'],
  )
  t.match(await operator('GET', '/tenants/nobody/devices.csv'), { status: 404 })
})

void t.test('a tenant takes its devices and tickets with it', async (t) => {
  const { machine, checkIn, operator, ticket, enrol, tenant, services } = await startDevices(t)
  const one = await machine()
  await checkIn(one, { posture: one.posture })
  const { ticket: secret } = await ticket()
  await operator('DELETE', '/tenants/acme')
  t.match(await checkIn(one), REFUSED)
  t.match(await enrol(secret, one.own), { status: 401 })
  await services.jobs.run()
  await tenant('acme')
  t.strictSame((await operator('GET', DEVICES)).items, [])
})

void t.test('the key that agents know us by is rotated, and not twice in a month', async (t) => {
  const { machine, checkIn, operator, services, clock } = await startDevices(t)
  const path = '/device-keys/rotate'
  const one = await machine()
  const known = async () => {
    const { body } = await checkIn(one)
    const { keys } = body['challenge_jwks'] as { keys: { kid: string }[] }
    return keys.map(({ kid }) => kid)
  }
  const signer = async () => {
    const jws = await services.challengeKeys.sign('dev-chal+jwt', {})
    const header = Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()
    return (JSON.parse(header) as { kid: string }).kid
  }
  const [first = '', second = ''] = await known()
  t.equal(await signer(), first)
  const rotated = await operator('POST', path, {})
  t.match(rotated, { status: 200, body: { current: second } })
  t.equal(await signer(), second, 'which machines have known since they enrolled')
  const third = String(rotated.body['next'])
  t.strictSame(await known(), [second, third])
  clock.advance(LIMITS.deviceKeysRotatedMsMin - 1)
  t.match(await operator('POST', path, {}), { status: 409, body: { error: 'rotation_state' } })
  t.equal(await signer(), second)
  t.match(await operator('POST', path, { force: true }), { body: { current: third } })
  clock.advance(LIMITS.deviceKeysRotatedMsMin)
  t.match(await operator('POST', path, {}), { status: 200 })
  const audit = await operator('GET', '/audit?action=device_challenge_keys.rotated')
  t.equal(audit.items.length, 3)
})
