/** Settings of a tenant: for operators alone, each change with its receipt. */
import t from 'tap'
import { ACTOR } from '../../support/control-plane.ts'
import { startConsole, type Person } from '../../support/console.ts'

const AT = '/console/tenants/acme/settings'

const fieldIn = (text: string, name: string) =>
  new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(text)?.[1] ?? ''

/** What a browser would send of the page as it is, but for what is typed. */
async function filled(person: Person, typed: Record<string, string> = {}) {
  const { text } = await person.get(AT)
  return {
    name: 'acme',
    mode: 'gateway',
    hostnames: 'acme.localhost',
    origin: 'http://127.0.0.1:9000',
    sealed: '',
    excluded: '',
    health: '/health',
    max_session_seconds: '28800',
    idle_seconds: '900',
    session_binding: 'off',
    time_zone: 'UTC',
    seen: fieldIn(text, 'seen'),
    ...typed,
  }
}

void t.test(
  'operators find it in the navigation; administrators do not, nor by address',
  async (t) => {
    const { person } = await startConsole(t)
    const [grace, ada] = [await person('operator'), await person('acme')]
    t.match((await grace.get('/console/tenants/acme')).text, `href="${AT}"`)
    t.notMatch((await ada.get('/console/tenants/acme')).text, AT)
    for (const path of ['', '/suspend', '/delete'])
      t.equal((await ada.get(AT + path)).status, 404, path)
    for (const path of ['', '/plan', '/licence', '/suspend', '/activate', '/delete'])
      t.equal((await ada.post(AT + path, { name: 'acme' })).status, 404, path)
  },
)

void t.test('settings are saved, with who did it and what was there before', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const typed = {
    name: 'Acme & Sons',
    hostnames: 'acme.localhost\r\nwww.acme.localhost',
    sealed: '/internal',
    excluded: '/assets, /robots.txt',
    max_session_seconds: '3600',
    session_binding: 'step_up',
    time_zone: 'Europe/Berlin',
  }
  const saved = await grace.post(AT, await filled(grace, typed))
  t.match(saved, { status: 303, location: `${AT}?done=` })
  t.match((await grace.get(saved.location)).text, /Settings saved.*once it is published/s)
  t.match(await services.tenants.get('acme'), {
    name: 'Acme & Sons',
    hostnames: ['acme.localhost', 'www.acme.localhost'],
    sealed: ['/internal'],
    excluded: ['/assets', '/robots.txt'],
    maxSessionSeconds: 3600,
    sessionBinding: 'step_up',
    timeZone: 'Europe/Berlin',
  })
  const [entry] = (await services.auditTrail.list({ limit: 1 }, { tenantId: 'acme' })).items
  t.match(entry, { actor: /^console:/, content: { from: { name: 'acme' } } })
  const { text } = await grace.get(AT)
  t.match(text, 'value="Acme &amp; Sons"')
  t.match(text, /value="step_up"\s+selected/)
})

void t.test('every wrong field is told at once, and one that is missing as well', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const typed = { origin: 'nowhere', health: 'x', idle_seconds: 'soon', mode: 'magic' }
  const wrong = await grace.post(AT, await filled(grace, typed))
  t.equal(wrong.status, 422)
  for (const name of Object.keys(typed)) t.match(wrong.text, `id="${name}-error"`, name)
  t.match(wrong.text, 'Fix 4 fields')
  const { name: _, ...without } = await filled(grace)
  t.match(await grace.post(AT, without), { status: 422, text: /id="name-error"/ })
  const { idle_seconds: __, ...lacking } = await filled(grace)
  t.match(await grace.post(AT, lacking), { status: 422, text: /id="idle_seconds-error"/ })
  const taken = await grace.post(AT, await filled(grace, { hostnames: 'other.localhost' }))
  t.match(taken, { status: 409, text: /already uses this hostname/ })
  t.match(await services.tenants.get('acme'), { name: 'acme', hostnames: ['acme.localhost'] })
})

void t.test('what somebody else has saved meanwhile is not undone', async (t) => {
  const { services, person } = await startConsole(t)
  const [grace, alan] = [await person('operator'), await person('operator')]
  const stale = await filled(grace, { name: 'Renamed' })
  await alan.post(AT, await filled(alan, { sealed: '/internal' }))
  const refused = await grace.post(AT, stale)
  t.match(refused, {
    status: 409,
    text: /Someone changed these settings after you opened the page/,
  })
  t.match(refused.text, 'Sealed paths: /internal', 'what is there now')
  t.match(refused.text, 'value="Renamed"', 'and what was typed')
  t.match(await services.tenants.get('acme'), { name: 'acme', sealed: ['/internal'] })
  const seen = fieldIn(refused.text, 'seen')
  const again = { ...stale, seen, sealed: '/internal' }
  t.equal((await grace.post(AT, again)).status, 303, 'with both in mind it is saved')
  t.match(await services.tenants.get('acme'), { name: 'Renamed', sealed: ['/internal'] })
})

void t.test('plan and licence, with dates that are checked', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const plan = await grace.post(`${AT}/plan`, { plan: 'premium' })
  t.match((await grace.get(plan.location)).text, 'Plan changed to premium.')
  t.equal((await services.tenants.get('acme')).plan, 'premium')
  t.match(await grace.post(`${AT}/plan`, { plan: 'gold' }), { status: 422, text: /plan-error/ })

  const dates = { grace_from: '2026-02-01T00:00:00Z', expires_at: '2026-03-01T00:00:00Z' }
  await grace.post(`${AT}/licence`, { state: 'active', ...dates, blocks_signin_when_expired: 'on' })
  t.match(await services.tenants.get('acme'), {
    licence: 'active',
    licenceBlocksSignin: false,
    licenceExpiryBlocks: true,
    licenceGraceFrom: Date.parse(dates.grace_from),
    licenceExpiresAt: Date.parse(dates.expires_at),
  })
  t.match((await grace.get(AT)).text, 'value="2026-03-01"')
  const typed = { grace_from: '2026-02-01', expires_at: ' 2026-03-01 14:30 ' }
  await grace.post(`${AT}/licence`, { state: 'active', ...typed })
  t.match(await services.tenants.get('acme'), {
    licenceGraceFrom: Date.parse(dates.grace_from),
    licenceExpiresAt: Date.parse('2026-03-01T14:30:00Z'),
  })
  t.match((await grace.get(AT)).text, 'value="2026-03-01 14:30"', 'and read again as it is shown')
  for (const [wrong, field] of [
    [{ ...dates, expires_at: '2026-01-15T00:00:00Z' }, 'expires_at'],
    [{ ...dates, grace_from: '2020-01-01T00:00:00Z' }, 'grace_from'],
    [{ ...dates, grace_from: 'tomorrow' }, 'grace_from'],
    [{ ...dates, grace_from: '2026-02-30' }, 'grace_from'],
  ] as const) {
    const answer = await grace.post(`${AT}/licence`, { state: 'active', ...wrong })
    t.match(answer, { status: 422, text: new RegExp(`id="${field}-error"`) }, JSON.stringify(wrong))
  }
  const none = { grace_from: '', expires_at: '', blocks_signin: 'on' }
  await grace.post(`${AT}/licence`, { state: 'expired', ...none })
  t.match((await grace.get(AT)).text, 'New sign-ins are refused because of the license')
  t.match(await services.tenants.get('acme'), { licence: 'expired', licenceExpiresAt: null })
})

void t.test('a tenant is suspended and activated, asked first', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  t.match((await grace.get(AT)).text, /Draft: .*Publish tenant/s)
  t.match(await grace.post(`${AT}/suspend`), { status: 409 }, 'a draft cannot be')
  await services.tenants.publish('acme', ACTOR)
  t.match((await grace.get(`${AT}/suspend`)).text, /Suspend acme\?.*acme\.localhost.*503/s)
  const suspended = await grace.post(`${AT}/suspend`)
  t.match((await grace.get(suspended.location)).text, /acme is suspended\..*No gateway/s)
  t.match((await grace.get(AT)).text, 'Reactivate tenant')
  const on = await grace.post(`${AT}/activate`)
  t.match((await grace.get(on.location)).text, 'acme is active again.')
  t.equal((await services.tenants.get('acme')).status, 'published')
})

void t.test('a tenant is deleted only by whoever types its name, with a fresh proof', async (t) => {
  const { services, person, signedIn } = await startConsole(t)
  const grace = await person('operator')
  await services.tenants.publish('acme', ACTOR)
  await services.tenants.patch('acme', { name: 'Acme "Sons"' }, ACTOR)
  const page = await grace.get(`${AT}/delete`)
  t.match(page.text, /Delete Acme &quot;Sons&quot;\?.*acme\.localhost.*404.*users are deleted/s)
  for (const name of ['', 'acme', 'Acme'])
    t.match(
      await grace.post(`${AT}/delete`, { name }),
      { status: 422, text: /id="name-error">The name doesn’t match. Type it exactly as shown/ },
      `“${name}”`,
    )
  t.ok(await services.tenants.find('acme'))
  const old = await signedIn(grace.userId, services.clock.nowMs() - 3600_000)
  t.match(await old.post(`${AT}/delete`, { name: 'Acme "Sons"' }), { status: 403 })
  t.match(await old.get(`${AT}/delete`), { status: 302, location: /fresh=yes/ })
  const gone = await grace.post(`${AT}/delete`, { name: 'Acme "Sons"' })
  t.match(gone, { status: 303, location: /^\/console\/tenants\?done=/ })
  t.match((await grace.get(gone.location)).text, /is deleted\..*No gateway is connected/s)
  t.equal(await services.tenants.find('acme'), undefined)
  t.equal((await grace.get(AT)).status, 404)
})

void t.test('what is set in Policies, too, is called the same in both places', async (t) => {
  const { person } = await startConsole(t)
  const grace = await person('operator')
  for (const page of [AT, '/console/tenants/acme/policies/session']) {
    const { text } = await grace.get(page)
    for (const words of [
      'Maximum session length',
      'Idle timeout',
      'If the browser or network changes',
    ])
      t.match(text, new RegExp(`<label [^>]*>${words}`), `${page}: ${words}`)
    for (const words of [
      'Session continues',
      'Sign in again with a second factor',
      'End the session everywhere',
    ])
      // prettier-ignore
      t.match(text, new RegExp(`<option [^>]*>\\s*${words}`), `${page}: ${words}`)
  }
})
