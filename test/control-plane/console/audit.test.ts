/** The audit trail on its page: who changed what, as a difference. */
import t from 'tap'
import { ACTION_NAMES } from '../../../control-plane/console/audit/entry.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR } from '../../support/control-plane.ts'

void t.test('a change of a user says what was and what is, and no password', async (t) => {
  const { services, person } = await startConsole(t)
  const operator = await person('operator')
  const path = '/console/tenants/acme/users/new'
  const password = 'a lantern on the long pier'
  const form = { email: 'ada@acme.test', username: '', name: 'Ada', password }
  t.equal((await operator.post(path, form)).status, 303)
  const { items } = await services.users.list('acme', { limit: 10, cursor: undefined })
  const userId = items[0]?.userId ?? ''
  const { users } = services
  const actor = { name: 'operator', requestId: 'r1' }
  await users.patch('acme', userId, { name: 'Ada Lovelace', isDisabled: true }, actor)
  await users.patch('acme', userId, { password: 'another lantern on the pier' }, actor)

  const { text } = await operator.get('/console/tenants/acme/audit')
  t.match(
    text,
    /<dt>Name<\/dt>[\s\S]*?<del>[\s\S]*?Ada<\/del>[\s\S]*?<ins>[\s\S]*?Ada Lovelace<\/ins>/,
  )
  t.match(text, /<dt>Disabled<\/dt>[\s\S]*?<ins>/)
  t.match(text, /<dt>Password<\/dt>[\s\S]*?changed/)
  t.notMatch(text, /lantern/)
})

void t.test('what is noted for programs is told in words', async (t) => {
  const { services, person } = await startConsole(t)
  const administrator = await person('acme')
  const [subject, not_before] = ['usr_0123456789abcdef', 1_700_000_000]
  await services.store.change(async (change) => {
    const about = (action: string, content: object) =>
      change.audit(
        { name: 'operator', requestId: 'r1' },
        { action, tenantId: 'acme', content: { ...content } },
      )
    await about('sessions.revoked', { subject, not_before, reason: 'admin' })
    await about('webhook.replayed', { failed_since: '2023-11-14T22:13:20.000Z' })
    await about('protection.on', { force: true, missing: ['key_installed'] })
    await about('alert.created', { email_language: 'de' })
  })
  const { text } = await administrator.get('/console/tenants/acme/audit')
  t.match(text, /<dt>Sessions from before<\/dt>\s*<dd>\s*2023-11-14 22:13:20 UTC/)
  t.match(text, /<dt>Checks missing<\/dt>\s*<dd>[^]*?Application has the public key/)
  t.match(text, /<dt>Email language<\/dt>\s*<dd>\s*German/)
  t.match(text, /<dt>Failed since<\/dt>\s*<dd>\s*2023-11-14 22:13:20 UTC/)
  t.notMatch(text, />Subject</, 'the person is the target')
  t.notMatch(text, /1700000000|Z<|T22/)
})

void t.test('a page of long lists holds nobody up', async (t) => {
  const { services, person } = await startConsole(t)
  const list = (more: number) => Array.from({ length: 500 + more }, (_, at) => `/part-${at}`)
  for (let at = 0; at < 100; at++)
    await services.store.change((change) =>
      change.audit(
        { name: 'operator', requestId: 'r1' },
        {
          action: 'policy.network.changed',
          tenantId: 'acme',
          content: { was: { deny: list(at) }, settings: { deny: list(at + 1) } },
        },
      ),
    )
  const administrator = await person('acme')
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  t.teardown(() => clearImmediate(next))
  const { items } = await services.auditTrail.list({ limit: 100, cursor: undefined })
  t.equal(items.length, 100)
  t.ok(turns >= 4, 'read a few at a time')
  const rest = await services.auditTrail.list({ limit: 30, cursor: undefined })
  t.equal(rest.items.length, 30)
  const behind = await services.auditTrail.list({ limit: 200, cursor: rest.next ?? undefined })
  const sequences = [...rest.items, ...behind.items].map(({ sequence }) => sequence)
  t.same(
    sequences,
    [...new Set(sequences)].sort((a, b) => b - a),
    'each once, the newest first',
  )
  t.equal(behind.next, null)

  const { stringify } = JSON
  let written = 0
  JSON.stringify = ((value: unknown, ...rest: []) => {
    if (Array.isArray(value) && value.length > 100) written++
    return stringify(value, ...rest)
  }) as typeof stringify
  t.teardown(() => (JSON.stringify = stringify))
  const { text } = await administrator.get('/console/tenants/acme/audit?limit=100')
  JSON.stringify = stringify
  t.match(text, /part-599/)
  t.notMatch(text, /part-42</)
  t.equal(written, 0, 'a list is compared item by item')
})

void t.test('of a list that changed it shows what is told of it, and how many more', async (t) => {
  const { services, person } = await startConsole(t)
  const deny = Array.from({ length: 30 }, (_, at) => `10.1.0.${at}`)
  const actor = { name: 'operator', requestId: 'r1' }
  await services.policies.put('acme', 'network', { deny }, actor)
  await services.policies.put('acme', 'network', { deny: deny.slice(1).reverse() }, actor)
  await services.policies.put('acme', 'network', { deny: deny.slice(1) }, actor)
  const { text } = await (await person('acme')).get('/console/tenants/acme/audit')
  t.match(text, /<dt>Block<\/dt>[\s\S]*?10\.1\.0\.9[\s\S]*?and 20 more/)
  t.match(text, /<del>[^<]*<span[^>]*>was <\/span>10\.1\.0\.0<\/del>/)
  t.match(text, /<dt>Block<\/dt>\s*<dd>\s*order changed/)
})

void t.test('details are read without brackets, and do not repeat the target', async (t) => {
  const { services, person } = await startConsole(t)
  const user = { username: 'ada', email: 'ada@acme.test', name: 'Ada', password: '' }
  const { userId } = await services.users.create('acme', user, ACTOR)
  await services.store.change(async (change) => {
    const checks = { sign_in_started: 'fail', signed_out: 'skip' }
    const content = { complete: false, checks }
    await change.audit(ACTOR, { action: 'integration.checked', tenantId: 'acme', content })
  })
  await services.store.change(async (change) => {
    const content = { user_id: userId, idle_seconds: 900, device_id: 'd1', is_new: true }
    const realm = { name: 'realm', requestId: 'r1' }
    await change.audit(realm, { action: 'device.forgotten', tenantId: 'acme', content })
  })
  const { text } = await (await person('acme')).get('/console/tenants/acme/audit')
  t.match(text, />\s*Sign-in pages\s*</)
  const names = [...text.matchAll(/<dt>([^<]*)<\/dt>/g)].map(([, name]) => name)
  t.match(names, ['Role', 'Idle timeout', 'Device ID', 'New', 'Complete', 'Checks'])
  t.match(text, 'sign_in_started: fail, signed_out: skip')
  t.match(text, /Created a user[^]*?#sign-ins"[^>]*>Ada</)
  t.notMatch(text, new RegExp(`<dd>\\s*${userId}`))
})

void t.test(
  'an alert that changed says what it was and is, in the words of its form',
  async (t) => {
    const { services, person } = await startConsole(t)
    const { alerts, store } = services
    const rule = { windowSeconds: 300, coolDownSeconds: 3600, isEnabled: true, threshold: 5 }
    const { alertId } = await alerts.create('acme', { ...rule, metric: 'lockouts' }, ACTOR)
    await alerts.patch('acme', alertId, { windowSeconds: 900, isEnabled: false }, ACTOR)
    await store.change((change) => {
      const content = { metric: 'step_ups', coolDownSeconds: 60 }
      return change.audit(ACTOR, { action: 'alert.created', tenantId: 'acme', content })
    })
    const { text } = await (await person('acme')).get('/console/tenants/acme/audit')
    const told = text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
    t.match(
      told,
      /Changed an alert — Metric Lockouts Within was 5 min is 15 min Enabled was yes is no/,
    )
    t.match(told, /Created an alert .*Metric Lockouts .*Within 5 min/)
    t.match(told, 'Metric Second factors requested Cooldown 1 min', 'as it was noted before')
    t.notMatch(told, /windowSeconds|\bseconds\b|is_enabled/)
  },
)

void t.test('who was let in to the console is named, though no user of the tenant', async (t) => {
  const { person } = await startConsole(t)
  const admin = await person('acme')
  const { text } = await admin.get('/console/tenants/acme/audit?action=console.role_given')
  t.match(text, new RegExp(`Granted console access.*<span title="${admin.userId}">[Pp]erson`, 's'))
  t.notMatch(text, `users/${admin.userId}`, 'and leads to no page of the tenant')
})

void t.test(
  'a hostname that is claimed is noticed on its page, and told in the trail',
  async (t) => {
    const { services, person } = await startConsole(t)
    const ada = await person('acme')
    const PAGE = '/console/tenants/acme/hostnames'
    const noticed = async ({ location }: { location: string }) => (await ada.get(location)).text
    const added = await ada.post(PAGE, { hostname: 'shop.example.com' })
    t.match(await noticed(added), /shop\.example\.com added\. Now show that it is yours/)
    const checked = await ada.post(`${PAGE}/shop.example.com/check`)
    t.match(await noticed(checked), /No proof found for shop\.example\.com yet/)
    const withdrawn = await ada.post(`${PAGE}/shop.example.com/withdraw`)
    t.match(await noticed(withdrawn), /shop\.example\.com withdrawn/)
    const claim = await services.hostnames.claim('acme', 'www.example.com', ACTOR)
    await services.tenants.addProvenHostname(claim, 'dns', ACTOR)
    await services.tenants.removeHostname('acme', 'www.example.com', ACTOR)
    const trail = (await ada.get('/console/tenants/acme/audit')).text
    for (const words of [
      'Added a hostname, to be proven',
      'Withdrew a hostname',
      'Proved a hostname',
      'Removed a hostname',
    ])
      t.match(trail, words)
    t.match(trail, 'shop.example.com')
    for (const action of ['hostname.unproven', 'hostname.stopped'])
      t.ok(ACTION_NAMES.includes(action), action)
  },
)
