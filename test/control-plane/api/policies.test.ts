import t from 'tap'
import { DEFAULT_POLICIES } from '../../../control-plane/policy/policies.ts'
import { desc, eq } from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { facts } from '../policy/facts.ts'

type Api = Awaited<ReturnType<typeof startApi>>

const eventsOf = async ({ services }: Api) =>
  (await services.store.read.select().from(schema.outbox)).map(({ event, content }) => ({
    event,
    content,
  }))

void t.test('who has decided nothing has the defaults', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme', { max_session_seconds: 100 })
  const answer = await api.operator('GET', '/tenants/acme/policies')
  t.equal(answer.status, 200)
  t.strictSame(answer.body, {
    ...DEFAULT_POLICIES,
    session: { ...DEFAULT_POLICIES.session, max_session_seconds: 100 },
  })
  t.match(await api.operator('GET', '/tenants/none/policies'), { status: 404 })
  t.match(await api.operator('GET', '/tenants/acme/policies/none'), {
    status: 404,
    body: { error: 'not_found' },
  })
})

void t.test('each policy is set, read again, told as an event and written down', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const settings = {
    password: { min_length: 12, history: 3 },
    lockout: { user_failures: 5, address_failures: 50, window_seconds: 60, pause_seconds: 30 },
    mfa: { mode: 'required' },
    network: { allow: ['10.0.0.0/8', '2001:db8::/32'], deny: ['10.1.0.0/16'] },
    device: { require: 'known', notify_new: false },
    session: { max_session_seconds: 60, concurrent_max: 2 },
  }
  for (const [name, policy] of Object.entries(settings)) {
    const before = DEFAULT_POLICIES[name as keyof typeof settings]
    const put = await api.operator('PUT', `/tenants/acme/policies/${name}`, policy)
    t.equal(put.status, 200, name)
    const { enforced, ...now } = put.body
    t.strictSame(now, { ...before, ...policy })
    t.equal(enforced !== undefined, name === 'session', 'gateways end by it what is too old')
    t.strictSame((await api.operator('GET', `/tenants/acme/policies/${name}`)).body, now)
    const event = (await eventsOf(api)).at(-1)
    t.equal(event?.event, `policy.${name}.updated`)
    const { lists, ...told } = event?.content as Record<string, unknown>
    t.strictSame(told, { settings: now, changed: Object.keys(policy) })
    t.equal(lists !== undefined, name === 'network')
  }
  t.match((await api.operator('GET', '/audit')).items[0], { action: 'policy.session.changed' })
  t.match((await api.operator('GET', '/tenants/acme')).body, { max_session_seconds: 60 })
})

void t.test('a policy that is put again forgets what it does not name', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  await api.operator('PUT', '/tenants/acme/policies/lockout', { user_failures: 3 })
  const put = await api.operator('PUT', '/tenants/acme/policies/lockout', { pause_seconds: 1 })
  t.strictSame(put.body, { ...DEFAULT_POLICIES.lockout, pause_seconds: 1 })
  await api.operator('PUT', '/tenants/acme/policies/session', { max_session_seconds: 60 })
  const session = await api.operator('PUT', '/tenants/acme/policies/session', { idle_seconds: 5 })
  t.match(session.body, { max_session_seconds: 60, idle_seconds: 5 }, 'but a tenant keeps its own')
})

void t.test('the lengths of a session are one setting, whichever way it is changed', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  await api.operator('PATCH', '/tenants/acme', { idle_seconds: 7, session_binding: 'step_up' })
  t.match(await api.operator('GET', '/tenants/acme/policies/session'), {
    body: { idle_seconds: 7, session_binding: 'step_up' },
  })
  t.match((await eventsOf(api)).at(-1), { event: 'policy.session.updated' })
  await api.operator('PATCH', '/tenants/acme', { name: 'Acme' })
  t.equal((await eventsOf(api)).length, 1, 'a name is no policy')
})

void t.test(
  'what a policy cannot hold is refused by its name, and nothing is written',
  async (t) => {
    const api = await startApi(t)
    await api.tenant('acme')
    const cases: [string, object, string][] = [
      ['password', { min_length: 7 }, 'min_length'],
      ['password', { min_strength: 5 }, 'min_strength'],
      ['password', { max_age_days: 0 }, 'max_age_days'],
      ['password', { history: LIMITS.passwordHistoryMax + 1 }, 'history'],
      ['lockout', { user_failures: 0 }, 'user_failures'],
      ['lockout', { pause_seconds: 1.5 }, 'pause_seconds'],
      ['lockout', { window_seconds: '900' }, 'window_seconds'],
      ['mfa', { mode: 'sometimes' }, 'mode'],
      ['mfa', { risks: ['weather'] }, 'risks'],
      ['mfa', { risks: ['new_device', 'new_device'] }, 'risks'],
      ['network', { allow: ['10.0.0.0/33'] }, 'allow'],
      ['network', { deny: ['example.com'] }, 'deny'],
      ['network', { deny: Array(LIMITS.networksPerPolicyMax + 1).fill('10.0.0.1') }, 'deny'],
      ['device', { require: 'mine' }, 'require'],
      ['session', { concurrent_max: 0 }, 'concurrent_max'],
      ['session', { max_session_seconds: 0 }, 'max_session_seconds'],
      ['session', { beyond: 1 }, 'beyond'],
    ]
    for (const [name, body, field] of cases) {
      const answer = await api.operator('PUT', `/tenants/acme/policies/${name}`, body)
      t.match(
        answer,
        { status: 400, body: { error: 'field_invalid', field } },
        JSON.stringify(body),
      )
    }
    t.strictSame(await eventsOf(api), [])
    t.match(await api.operator('PUT', '/tenants/none/policies/mfa', {}), { status: 404 })
  },
)

void t.test('of two that set the session policy at once neither undoes the other', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  await Promise.all([
    api.operator('PUT', '/tenants/acme/policies/session', { max_session_seconds: 60 }),
    api.operator('PUT', '/tenants/acme/policies/session', { idle_seconds: 5 }),
    api.operator('PATCH', '/tenants/acme', { session_binding: 'terminate' }),
  ])
  t.match(await api.operator('GET', '/tenants/acme/policies/session'), {
    body: { max_session_seconds: 60, idle_seconds: 5, session_binding: 'terminate' },
  })
})

void t.test('fewer sessions at once end the oldest of everybody who has more', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const { sessions, clock } = api.services
  const atMs = clock.nowMs()
  const begin = async (userId: string, sid: string, createdAt: number) => {
    await sessions.record({
      tenantId: 'acme',
      sid,
      userId,
      ip: '192.0.2.7',
      userAgent: 'test',
      issuedAtMs: atMs,
      expiresAtMs: atMs + 3_600_000,
    })
    const { store } = api.services
    await store.change(({ queries }) =>
      queries.update(schema.sessions).set({ createdAt }).where(eq(schema.sessions.sid, sid)),
    )
  }
  await begin('ada', 'a1', 1)
  await begin('ada', 'a2', 2)
  await begin('ada', 'a3', 3)
  await begin('bob', 'b1', 1)
  await api.operator('PUT', '/tenants/acme/policies/session', { concurrent_max: 2 })
  const { items } = await api.operator('GET', '/tenants/acme/sessions')
  t.strictSame(
    items.filter((item) => item['ended_at'] !== null).map((item) => item['sid']),
    ['a1'],
  )
})

void t.test('replay: what another policy would have decided', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const { store, clock } = api.services
  const nowMs = clock.nowMs()
  let count = 0
  const attempt = (ago: number, others: object, given: Parameters<typeof facts>[0] = {}) => {
    const at = nowMs - ago * 1000
    const { failures: _, ...known } = facts({ at: Math.floor(at / 1000), ...given })
    return {
      signInId: `s${count++}`,
      tenantId: 'acme',
      at,
      userId: 'usr_ada',
      loginHash: 'ada',
      ip: '192.0.2.7',
      countedAs: '192.0.2.7',
      userAgent: 'test',
      isFailure: false,
      isKnownDevice: true,
      outcome: 'signed_in' as const,
      reason: '',
      facts: { ...known },
      ...others,
    }
  }
  const wrong = { isFailure: true, outcome: 'asking' as const, reason: 'credentials_wrong' }
  const rows = [
    attempt(40 * 86_400, {}),
    ...[50, 49, 48].map((ago) => attempt(ago, wrong, { password: 'wrong' })),
    attempt(40, {}),
    attempt(30, {}, { factors: ['totp'], proof: 'totp' }),
    attempt(20, { ip: '198.51.100.9', loginHash: 'bob' }, { address: '198.51.100.9' }),
  ]
  await store.change(({ queries }) => queries.insert(schema.signIns).values(rows))
  const replay = (name: string, policy: object, days = 7) =>
    api.operator('POST', `/tenants/acme/policies/${name}/replay`, { days, policy })

  t.match(await replay('network', {}), {
    status: 200,
    body: { sign_ins: 6, same: 6, differences: [], examples: [], truncated: false },
  })
  t.match(await replay('mfa', { mode: 'required' }), {
    body: {
      policy: 'mfa',
      days: 7,
      sign_ins: 6,
      same: 4,
      differences: [{ before: 'signed_in_aal1', after: 'enrolment_needed', count: 2 }],
      examples: [{ sign_in_id: 's4', user_id: 'usr_ada', ip: '192.0.2.7' }, { sign_in_id: 's6' }],
    },
  })
  t.match(await replay('network', { deny: ['198.51.100.0/24'] }), {
    body: { differences: [{ before: 'signed_in_aal1', after: 'network_denied', count: 1 }] },
  })
  t.match(await replay('lockout', { user_failures: 3, pause_seconds: 15 }), {
    body: { same: 5, differences: [{ after: 'user_paused', count: 1 }] },
  })
  await api.operator('PUT', '/tenants/acme/policies/network', { allow: ['203.0.113.0/24'] })
  const put = {
    body: {
      differences: [
        { before: 'network_not_allowed', after: 'credentials_wrong', count: 3 },
        { after: 'signed_in_aal1' },
        { after: 'signed_in_aal2' },
      ],
    },
  }
  t.match(await replay('network', { deny: ['10.0.0.0/8'] }), put, 'what it leaves out is gone')
  await api.operator('PUT', '/tenants/acme/policies/network', {})
  t.match(await replay('mfa', { mode: 'required' }, 31), { body: { sign_ins: 6 } })
  t.match(await replay('mfa', { mode: 'never' }), { status: 400, body: { field: 'policy' } })
  t.match(await replay('mfa', {}, LIMITS.replayDaysMax + 1), {
    status: 400,
    body: { field: 'days' },
  })
  t.equal((await eventsOf(api)).length, 2, 'it changes nothing')
  t.match((await api.operator('GET', '/tenants/acme/policies/mfa')).body, { mode: 'optional' })
})

void t.test('a network policy says so where a proxy hides everybody’s address', async (t) => {
  for (const [options, isHidden] of [
    [{ baseUrl: 'https://id.example.com' }, true],
    [{ baseUrl: 'https://id.example.com', trustedProxies: ['10.0.0.1'] }, false],
    [{}, false],
  ] as const) {
    const api = await startApi(t, options)
    await api.tenant('acme')
    const of = async (method: string, path: string, body?: object) =>
      (await api.operator(method, `/tenants/acme/policies${path}`, body)).headers.get('warning')
    for (const warning of [
      await of('GET', ''),
      await of('GET', '/network'),
      await of('PUT', '/network', { deny: ['192.0.2.0/24'] }),
    ])
      t.equal(warning?.includes('control_plane.trusted_proxies') ?? false, isHidden)
    t.equal(await of('GET', '/lockout'), null)
  }
})

const netsFrom = (second: number, count: number) =>
  Array.from({ length: count }, (_, at) => `10.${second}.${at >> 8}.${at & 255}`)

void t.test('a policy that holds already is no change, whoever says it again', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const { store } = api.services
  const settings = {
    network: { deny: netsFrom(1, 1000), allow: netsFrom(2, 1000) },
    session: { max_session_seconds: 60, concurrent_max: 2 },
    mfa: { mode: 'required', risks: ['new_device'] },
  }
  for (const [name, policy] of Object.entries(settings)) {
    const put = () => api.operator('PUT', `/tenants/acme/policies/${name}`, policy)
    const first = await put()
    const trail = (await api.operator('GET', '/audit')).items.length
    const revision = await store.revision()
    const events = (await eventsOf(api)).length
    const again = await put()
    t.strictSame({ ...again.body, enforced: 0 }, { ...first.body, enforced: 0 }, name)
    t.equal((await eventsOf(api)).length, events, `${name}: nobody is told`)
    t.equal(await store.revision(), revision, `${name}: nothing for gateways`)
    t.equal((await api.operator('GET', '/audit')).items.length, trail, `${name}: nothing written`)
  }
  const defaults = { ...DEFAULT_POLICIES.password }
  const given = () => api.operator('PUT', '/tenants/acme/policies/password', defaults)
  const before = (await eventsOf(api)).length
  await given()
  await given()
  t.equal((await eventsOf(api)).length, before + 1, 'defaults that somebody decides are decided')
})

void t.test('of long lists what came and what went is told, and how much', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const put = (policy: object) => api.operator('PUT', '/tenants/acme/policies/network', policy)
  const most = LIMITS.listEntriesToldMax
  const [deny, allow] = [netsFrom(1, 1000), netsFrom(2, 1000)]
  await put({ deny, allow })
  const said = async () => {
    const event = (await eventsOf(api)).at(-1)?.content as Record<string, unknown>
    const [entry] = await api.services.store.read
      .select()
      .from(schema.audit)
      .orderBy(desc(schema.audit.sequence))
      .limit(1)
    return { event, audit: entry!.content }
  }
  const first = await said()
  const came = (all: readonly string[]) => ({
    ...{ count: 1000, added: all.slice(0, most), added_count: 1000 },
    ...{ removed: [], removed_count: 0 },
  })
  const told = { changed: ['allow', 'deny'], lists: { allow: came(allow), deny: came(deny) } }
  t.strictSame(first.event, { settings: {}, ...told })
  const lists = { allow: { added: allow }, deny: { added: deny } }
  t.match(first.audit, { settings: {}, was: {}, lists }, 'the trail has all of them')

  await put({ allow, deny: [...deny.slice(1), '192.0.2.1'] })
  const { event, audit } = await said()
  const changed = {
    changed: ['deny'],
    lists: {
      deny: {
        ...{ count: 1000, added: ['192.0.2.1'], added_count: 1 },
        ...{ removed: ['10.1.0.0'], removed_count: 1 },
      },
    },
  }
  t.strictSame(event, { settings: {}, ...changed })
  t.strictSame(audit, { settings: {}, ...changed, was: {} })

  await put({ allow: [], deny: ['192.0.2.1'] })
  t.match(
    (await said()).event,
    { settings: { allow: [], deny: ['192.0.2.1'] } },
    'a short one whole',
  )
  for (const row of await api.services.store.read.select().from(schema.outbox))
    t.ok(JSON.stringify(row.content).length < 4096)
})

void t.test('the trail of long lists of paths has an end, and nothing hides in it', async (t) => {
  const api = await startApi(t)
  await api.tenant('acme')
  const paths = Array.from({ length: 200 }, (_, at) => `/${'x'.repeat(400)}-${at}`)
  paths[199] = '/admin'
  t.equal((await api.operator('PATCH', '/tenants/acme', { sealed: paths })).status, 200)
  const entries = await api.services.store.read.select().from(schema.audit)
  const changed = entries.findLast(({ action }) => action === 'tenant.changed')
  const told = { count: 200, removed_count: 1 }
  t.match(changed?.content, { changed: ['sealed'], from: {}, to: {}, lists: { sealed: told } })
  const { sealed } = (changed?.content as { lists: Record<string, { added: string[] }> }).lists
  t.ok(sealed!.added.includes('/admin'), 'behind as many others as fit')
  const bytes = JSON.stringify(sealed!.added).length
  t.ok(bytes > LIMITS.auditListBytesMax / 2 && bytes < 1.1 * LIMITS.auditListBytesMax)
})
