/** Six policies: each shown, tried on what has been, and saved from the page that shows the effect. */
import t from 'tap'
import { createPolicyReplay } from '../../../control-plane/accounts/policy-replay.ts'
import { POLICY_NAMES } from '../../../control-plane/policy/policies.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { failSignIns, signIns } from '../../support/sign-ins.ts'

const POLICIES = '/console/tenants/acme/policies'

async function startPolicies(t: Parameters<typeof startConsole>[0]) {
  const clock = movableClock()
  const world = await startConsole(t, { clock })
  const { services, person } = world
  const user = async (username: string) => {
    const email = `${username}@acme.test`
    return services.users.create('acme', { username, email, name: username, password: '' }, ACTOR)
  }
  return { ...world, clock, user, admin: await person('acme') }
}

/** What the button of a page's form would send, as a browser reads it. */
function formOf(text: string, action: string): Record<string, string | string[]> {
  const form =
    new RegExp(`<form method="post" action="${action}"[^]*?</form>`).exec(text)?.[0] ?? ''
  const fields: Record<string, string[]> = {}
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const isOff = /type="checkbox"/.test(input) && !/\schecked/.test(input)
    const name = /\sname="([^"]*)"/.exec(input)?.[1] ?? ''
    const value = /\svalue="([^"]*)"/.exec(input)?.[1] ?? 'on'
    if (!isOff) (fields[name] ??= []).push(value)
  }
  for (const [select] of form.matchAll(/<select[^]*?<\/select>/g))
    fields[/\sname="([^"]*)"/.exec(select)?.[1] ?? ''] = [
      /<option value="([^"]*)" selected/.exec(select)?.[1] ?? '',
    ]
  for (const [, name = '', text = ''] of form.matchAll(
    /<textarea[^>]*\sname="([^"]*)"[^>]*>\n?([^<]*)<\/textarea/g,
  ))
    fields[name] = [text]
  return Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [
      name,
      values.length === 1 ? (values[0] ?? '') : values,
    ]),
  )
}

void t.test('what would change is told as the form writes it', async (t) => {
  const { admin, services } = await startPolicies(t)
  const changes = (text: string) =>
    [...text.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)].map(([, label, values = '']) => [
      label,
      ...[...values.matchAll(/<\/span>(.*?)<\/(?:del|ins)>/gs)].map(([, value]) => value),
    ])
  const effect = async (name: string, form: Record<string, string | readonly string[]>) =>
    changes((await admin.post(`${POLICIES}/${name}/effect`, { ...form, days: '7' })).text)
  const session = {
    ...{ max_session_seconds: '8 h', idle_seconds: '2 h', session_binding: 'terminate' },
    ...{ concurrent_max: '3', when_full: 'end_oldest' },
  }
  const changed = [
    ['Idle timeout', '15 min', '2 h'],
    ['If the browser or network changes', 'Session continues', 'End the session everywhere'],
    ['Sessions per person', `Maximum of ${LIMITS.sessionsPerPersonMax}`, '3'],
  ]
  t.same(await effect('session', session), changed)
  await admin.post(`${POLICIES}/session`, session)
  const audit = (await admin.get('/console/tenants/acme/audit')).text
  t.same(changes(audit).slice(0, 3), changed, 'and the audit trail says it alike')
  t.match((await services.policies.of('acme')).session, { idle_seconds: 7200 })

  const rules = { min_length: '8', min_strength: '4', history: '0', max_age_days: '90 days' }
  const password = { sign_in: 'everyone', sign_up: 'off', break_glass: '', ...rules }
  t.same(await effect('password', password), [
    ['Minimum strength', '2: resists online guessing', '4: very hard to guess'],
    ['Reject passwords found in data breaches', 'yes', 'no'],
    ['Password expiry', 'Never', '90 days'],
  ])
  const failures = { user_failures: '10', address_failures: '100' }
  t.same(
    await effect('lockout', { ...failures, window_seconds: '90 s', pause_seconds: '15 min' }),
    [['Counting window', '15 min', '90 s']],
  )
  t.same(await effect('mfa', { mode: 'on_risk', risks: ['new_device'] }), [
    [
      'Second factor',
      'Optional: for people who have set one up',
      'On risk: for everyone, when a risk below applies',
    ],
    ['Risks', 'New network for this person'],
  ])
})

void t.test(
  'what a form shows is what it sends: saved as it stands, nothing is different',
  async (t) => {
    const { services, admin } = await startPolicies(t)
    t.match(
      (await admin.get(POLICIES)).text,
      /Passwords.*Lockout.*Second factor.*Networks.*Devices.*Sessions/s,
    )
    await services.policies.put(
      'acme',
      'network',
      { deny: ['192.0.2.0/24', '2001:db8::/32'] },
      ACTOR,
    )
    await services.policies.put('acme', 'mfa', { mode: 'on_risk', risks: ['new_device'] }, ACTOR)
    await services.policies.put('acme', 'session', { concurrent_max: 3 }, ACTOR)
    await services.policies.put(
      'acme',
      'password',
      { max_age_days: 90, refuse_breached: false },
      ACTOR,
    )
    const before = await services.policies.of('acme')
    for (const name of POLICY_NAMES) {
      const { text } = await admin.get(`${POLICIES}/${name}`)
      const sent = formOf(text, `${POLICIES}/${name}/effect`)
      const effect = await admin.post(`${POLICIES}/${name}/effect`, sent)
      t.match(effect, { status: 200, text: /This is the same as the current policy/ }, name)
      const { days: _, ...policy } = sent
      t.match(await admin.post(`${POLICIES}/${name}`, policy), { status: 303 }, name)
    }
    t.strictSame(await services.policies.of('acme'), before)
  },
)

void t.test(
  'the effect says how many sign-ins would have been refused, whose, and saves it then',
  async (t) => {
    const { services, clock, admin, user } = await startPolicies(t)
    const [ada, bob] = [await user('ada'), await user('bob')]
    await signIns(services, ada, 9, { ip: '192.0.2.7' })
    await signIns(services, bob, 3, { ip: '198.51.100.4' })
    clock.advance(60_000)
    const typed = { allow: '192.0.2.0/24\r\n127.0.0.1', deny: '', days: '7' }
    const effect = await admin.post(`${POLICIES}/network/effect`, typed)
    t.match(effect.text, '3 of 12 sign-ins of the last 7 days would end differently, for 1 person.')
    t.match(effect.text, /bob.*198\.51\.100\.4.*signed in.*network not allowed/s)
    t.match(effect.text, /<ins>.*192\.0\.2\.0\/24/s, 'what would change, as a diff')
    t.notMatch(effect.text, 'role="alert"', 'who looks at it is let in')
    t.same((await services.policies.of('acme')).network.allow, [], 'looking changes nothing')
    const saving = formOf(effect.text, `${POLICIES}/network`)
    const saved = await admin.post(`${POLICIES}/network`, saving)
    t.match((await admin.get(saved.location)).text, 'Networks policy saved.')
    t.same((await services.policies.of('acme')).network, {
      allow: ['192.0.2.0/24', '127.0.0.1'],
      deny: [],
    })
    const lifted = await admin.post(`${POLICIES}/network/effect`, {
      allow: '',
      deny: '',
      days: '7',
    })
    t.match(lifted.text, 'No longer refused: 3.')
  },
)

void t.test('who would lock themselves out is told so before', async (t) => {
  const { admin, services } = await startPolicies(t)
  const ask = async (form: Record<string, string>, address: string) =>
    (await admin.post(`${POLICIES}/network/effect`, { days: '7', ...form }, { address })).text
  const only = { allow: '192.0.2.0/24', deny: '' }
  const refused = await ask(only, '203.0.113.9')
  t.match(refused, /role="alert".*blocks your own address, 203\.0\.113\.9/s)
  t.match(refused, 'Save anyway (blocks you)')
  t.match(await ask(only, '::ffff:203.0.113.9'), 'blocks your own address, 203.0.113.9')
  t.notMatch(await ask(only, '::ffff:192.0.2.9'), 'role="alert"')
  t.match(
    await ask({ allow: '', deny: '203.0.113.0/24' }, '203.0.113.9'),
    'blocks your own address',
  )
  t.same((await services.policies.of('acme')).network.allow, [])
})

void t.test('a second factor for all is told in people who are asked, not refused', async (t) => {
  const { services, admin, user } = await startPolicies(t)
  await signIns(services, await user('ada'), 4, { facts: { factors: ['totp'], proof: 'totp' } })
  await signIns(services, await user('bob'), 2)
  const { text } = await admin.post(`${POLICIES}/mfa/effect`, {
    mode: 'required',
    risks: ['new_network'],
    days: '1',
  })
  t.match(text, '2 of 6 sign-ins of the last day would end differently, for 1 person.')
  t.match(text, 'Asked for more before they are signed in: 2.')
  t.match(text, /asked to set up a second factor/)
  await admin.post(`${POLICIES}/mfa`, formOf(text, `${POLICIES}/mfa`))
  const { mfa } = await services.policies.of('acme')
  t.strictSame(mfa, { mode: 'required', risks: ['new_network'] }, 'saved as it was looked at')
})

void t.test('lockout is tried on failures as they came', async (t) => {
  const { services, admin, user } = await startPolicies(t)
  await failSignIns(services, await user('ada'), 8)
  const form = {
    user_failures: '5',
    address_failures: '100',
    window_seconds: '900',
    pause_seconds: '900',
  }
  const { text } = await admin.post(`${POLICIES}/lockout/effect`, { ...form, days: '7' })
  t.match(text, '3 of 8 sign-ins of the last 7 days would end differently, for 1 person.')
  t.match(text, /wrong password.*account locked/s)
})

void t.test('a session policy reaches the gateways, and what is empty has a meaning', async (t) => {
  const { services, admin } = await startPolicies(t)
  await services.policies.put('acme', 'session', { concurrent_max: 3 }, ACTOR)
  const form = {
    max_session_seconds: '3600',
    idle_seconds: '600',
    session_binding: 'terminate',
    concurrent_max: '',
    when_full: 'refuse',
  }
  const saved = await admin.post(`${POLICIES}/session`, form)
  t.match(
    (await admin.get(saved.location)).text,
    /policy saved\..*once it is published/s,
    'a receipt',
  )
  t.strictSame((await services.policies.of('acme')).session, {
    max_session_seconds: 3600,
    idle_seconds: 600,
    session_binding: 'terminate',
    concurrent_max: null,
    when_full: 'refuse',
  })
  await admin.post(`${POLICIES}/password`, {
    ...{ sign_in: 'everyone', sign_up: 'off', break_glass: '', min_length: '12' },
    min_strength: '3',
    history: '0',
    max_age_days: '',
  })
  t.match((await services.policies.of('acme')).password, {
    min_length: 12,
    refuse_breached: false,
    max_age_days: null,
  })
})

void t.test('what is wrong stands beside its field, with what was typed', async (t) => {
  const { admin, services } = await startPolicies(t)
  const before = await services.policies.of('acme')
  const hostile = '"></textarea><script>alert(1)</script>'
  for (const step of ['/effect', '']) {
    const days = step === '' ? {} : { days: '7' }
    const network = await admin.post(`${POLICIES}/network${step}`, {
      allow: hostile,
      deny: '',
      ...days,
    })
    t.match(network, { status: 422, text: /id="allow-error">Must be addresses or networks/ })
    t.match(network.text, '&lt;script&gt;alert(1)')
    t.notMatch(network.text, '<script>alert')
    const password = await admin.post(`${POLICIES}/password${step}`, {
      ...{ sign_in: 'everyone', sign_up: 'off', break_glass: '', min_length: '3' },
      min_strength: '2',
      history: 'many',
      max_age_days: '0',
      ...days,
    })
    t.match(password, { status: 422, text: /Fix 3 fields/ })
    t.match(password.text, 'value="many"')
  }
  t.match(await admin.post(`${POLICIES}/device/effect`, { require: 'any', days: '99' }), {
    status: 422,
  })
  const alone = {
    sign_in: 'break_glass',
    sign_up: 'off',
    break_glass: '',
    min_length: '8',
    min_strength: '2',
  }
  t.match(await admin.post(`${POLICIES}/password`, { ...alone, history: '0', max_age_days: '' }), {
    ...{ status: 409, text: /No connection is active, so nobody could sign in/ },
  })
  t.equal((await admin.get(`${POLICIES}/nothing`)).status, 404)
  t.strictSame(await services.policies.of('acme'), before)
})

void t.test('people are named by username or email, and kept by their IDs', async (t) => {
  const { services, admin, user } = await startPolicies(t)
  const [ada, eve] = [(await user('ada')).userId, (await user('eve')).userId]
  const path = `${POLICIES}/device`
  const typed = { ...formOf((await admin.get(path)).text, `${path}/effect`), days: '7' }
  const emergency = (break_glass: string) => admin.post(`${path}/effect`, { ...typed, break_glass })
  const effect = (await emergency('Ada\neve@acme.test')).text
  t.match(effect, /Emergency access.*ada.*eve/s)
  const saved = formOf(effect, path)
  t.equal((await admin.post(path, saved)).status, 303)
  t.strictSame((await services.policies.of('acme')).device.break_glass, [ada, eve])
  t.match((await admin.get(path)).text, /<textarea[^>]*name="break_glass"[^>]*>\s*ada\s+eve/)
  const nobody = await emergency('nobody at all')
  t.match(nobody, { status: 422, text: /id="break_glass-error">No user has the username or email/ })
})

void t.test('an effect is worked out once at a time for a tenant, and not for long', async (t) => {
  const { services, clock, user, admin, person } = await startPolicies(t)
  await signIns(services, await user('ada'), 3)
  const typed = formOf((await admin.get(`${POLICIES}/network`)).text, `${POLICIES}/network/effect`)
  const send = () => admin.post(`${POLICIES}/network/effect`, typed)
  const operator = await person('operator')
  const { csrf: _, form_id: __, ...theirs } = typed
  const { network } = await services.policies.of('acme')
  const { of } = services.policies
  const gate = Promise.withResolvers<void>()
  const whole = t.intercept(services.policies, 'of', {
    configurable: true,
    value: (tenantId: string) => {
      whole.restore() // only the first, which is under way then
      return gate.promise.then(() => of(tenantId))
    },
  })
  const first = services.replayPolicy('acme', 'network', network, 7)
  const second = await send()
  t.equal(second.status, 429, 'the second waits for its turn')
  t.match(second.text, 'Another effect of this tenant')
  const theirPath = `${POLICIES}/network/effect`.replace('acme', 'other')
  t.equal((await operator.post(theirPath, theirs)).status, 200, 'another tenant does not')
  gate.resolve()
  await first
  t.equal((await send()).status, 200, 'then it is asked again')

  let asked = 0
  const steadyMs = () => clock.steadyMs() + (++asked > 1 ? LIMITS.replayMsMax + 1 : 0)
  const slow = createPolicyReplay({ ...services, clock: { ...clock, steadyMs } })
  t.match(await slow('acme', 'network', network, 7), { isCut: true }, 'what takes long is cut')
  t.match(await services.replayPolicy('acme', 'network', network, 7), {
    isCut: false,
    signIns: 3,
  })
})

void t.test('the network policy says when it cannot work', async (t) => {
  for (const [options, isHidden] of [
    [{ baseUrl: 'https://id.example.com' }, true],
    [{ baseUrl: 'https://id.example.com', trustedProxies: ['10.0.0.1'] }, false],
  ] as const) {
    const { person, ask } = await startConsole(t, options)
    const cookie = `__Host-service_console=${(await person('acme')).sessionId}`
    for (const path of ['', '/network']) {
      const { text } = await ask(`${POLICIES}${path}`, cookie)
      t.equal(text.includes('Network policies can’t work yet'), isHidden, path)
    }
    const other = await ask(`${POLICIES}/lockout`, cookie)
    t.notMatch(other.text, /Network policies/)
  }
})
