/** A form that went stale while somebody typed: nothing is done, nothing is lost, and it says why. */
import t from 'tap'
import { CSRF_FIELD, FORM_ID_FIELD, isSecret } from '../../../control-plane/console/form-values.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { giveRole, startConsole, takeRole } from '../../support/console.ts'

const NEW = '/console/tenants/new'
const USERS = '/console/tenants/acme/users/new'
const BOB = {
  email: 'bob@acme.test',
  name: 'Bob <b>Builder</b>',
  username: '',
  password: 'hunter22',
}
const SHOWN = /value="Bob &lt;b&gt;Builder&lt;\/b&gt;"/
const OWN = { 'sec-fetch-site': 'same-origin' }

const proofsIn = (text: string) => ({
  [CSRF_FIELD]: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '',
  [FORM_ID_FIELD]: /name="form_id" value="([^"]+)"/.exec(text)?.[1] ?? '',
})

/** Where the link of a refusal leads after the sign-in. */
function returnIn(text: string): string {
  const [, href = ''] = /href="(\/console\/sign-in\?[^"]+)"/.exec(text) ?? []
  return new URL(href.replaceAll('&amp;', '&'), 'http://x').searchParams.get('return_to') ?? ''
}

void t.test('a fresh sign-in in one tab leaves the forms of the others good', async (t) => {
  const { services, person, signedIn } = await startConsole(t)
  const ada = await person('acme')
  const open = proofsIn((await ada.get(USERS)).text)
  const again = await signedIn(ada.userId) // the same browser, another tab: another session
  t.not(again.sessionId, ada.sessionId)
  t.match(await again.post(USERS, { ...BOB, password: '', ...open }), { status: 303 })
  t.ok(await services.users.byLogin('acme', BOB.email))
  const eve = await person('acme')
  const stolen = await eve.post(USERS, { ...BOB, email: 'eve@acme.test', ...open })
  t.match(stolen, { status: 403, text: /cross_site_form/ }, 'but nobody else')
})

void t.test('a form outlives neither its page nor its person', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const grace = await person('operator')
  const open = proofsIn((await grace.get(NEW)).text)
  clock.advance(LIMITS.consoleSessionMs)
  const { userId } = grace
  const later = await signedIn(userId)
  const form = { tenant_id: 'globex', name: 'Globex', ...open }
  t.equal((await later.post(NEW, form)).status, 422, 'as long as a session can be')
  clock.advance(1)
  const latest = await signedIn(userId)
  const stale = await latest.post(NEW, form, { headers: OWN })
  t.match(stale, { status: 409, text: /role="alert".*open for too long/s })
  t.match(stale.text, /value="Globex"/)
  t.equal(await services.tenants.find('globex'), undefined)
  t.match(await latest.post(NEW, form), { status: 403, text: /cross_site_form/ }, 'of nobody knows')
  const elsewhere = { headers: { ...OWN, origin: 'https://evil.example' } }
  t.match(await latest.post(NEW, form, elsewhere), { status: 403, text: /cross_site_form/ })
})

void t.test(
  'another person’s page in the same browser shows what was typed, once more',
  async (t) => {
    const { services, person } = await startConsole(t)
    const [ada, eve, other] = [await person('acme'), await person('acme'), await person('other')]
    const open = proofsIn((await ada.get(USERS)).text)
    const shown = await eve.post(USERS, { ...BOB, ...open }, { headers: OWN })
    t.match(shown, { status: 409, text: SHOWN })
    t.match(shown.text, /with another account/)
    t.notMatch(shown.text, BOB.password)
    t.equal(await services.users.byLogin('acme', BOB.email), undefined, 'nothing was done')
    const now = proofsIn(shown.text.slice(shown.text.indexOf(`action="${USERS}"`)))
    t.match(
      await eve.post(USERS, { ...BOB, password: '', ...now }),
      { status: 303 },
      'and is theirs',
    )
    const theirs = await other.post(USERS, { ...BOB, ...open }, { headers: OWN })
    t.match(theirs, { status: 404 }, 'whoever may not see the page sees no form either')
  },
)

void t.test('who was signed out gets back what was typed, after signing in', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const ada = await person('acme')
  const open = proofsIn((await ada.get(USERS)).text)
  clock.advance(LIMITS.consoleIdleMs + 1)
  const over = await ada.post(USERS, { ...BOB, ...open })
  t.match(over, { status: 401, text: /What you typed is kept for an hour/ })
  t.notMatch(over.text, 'Builder', 'a page for somebody who is not signed in')
  const at = returnIn(over.text)
  t.match(at, /^\/console\/unsent\?form=[\w-]{32}$/)

  const back = await signedIn(ada.userId)
  const page = await back.get(at)
  t.match(page, { status: 200, text: SHOWN })
  t.match(page.text, /role="alert".*You were signed out when you sent this form/s)
  t.match(page.text, /Passwords and keys are never kept/)
  t.notMatch(page.text, BOB.password)
  t.equal(await services.users.byLogin('acme', BOB.email), undefined)
  const now = proofsIn(page.text.slice(page.text.indexOf(`action="${USERS}"`)))
  t.match(await back.post(USERS, { ...BOB, password: '', ...now }), { status: 303 })

  for (const role of ['acme', 'operator'] as const)
    t.equal((await (await person(role)).get(at)).status, 404, 'nobody else gets it')
  clock.advance(LIMITS.consoleKeptFormMs + 1)
  t.equal((await (await signedIn(ada.userId)).get(at)).status, 404, 'nor later')
  t.equal(await services.consoleAccess.keptForms.prune(10), 1, 'nothing of it stays')
})

void t.test(
  'who had to confirm who they are is told so calmly, and of no other change',
  async (t) => {
    const clock = movableClock()
    const { person, signedIn } = await startConsole(t, { clock })
    const grace = await person('operator')
    const path = '/console/tenants/acme/settings'
    const open = proofsIn((await grace.get(path)).text)
    clock.advance(LIMITS.consoleFreshMs + 1)
    const refused = await grace.post(path, { name: 'Acme of tomorrow', ...open })
    t.match(refused, { status: 403, text: /Confirm it’s you/ })
    const page = await (await signedIn(grace.userId)).get(returnIn(refused.text))
    t.match(page, { status: 200, text: /role="status".*Thanks for confirming it’s you/s })
    t.match(page.text, 'value="Acme of tomorrow"')
    t.notMatch(page.text, /role="alert"|saved values differ/)
  },
)

void t.test('who may only look by now gets no form back', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const ada = await person('acme')
  const open = proofsIn((await ada.get(USERS)).text)
  clock.advance(LIMITS.consoleIdleMs + 1)
  const at = returnIn((await ada.post(USERS, { ...BOB, ...open })).text)
  const back = await signedIn(ada.userId)
  t.equal((await back.get(at)).status, 200)
  await takeRole(services, ada.userId, 'acme')
  await giveRole(services, ada.userId, 'acme', true)
  t.match(await back.get(at), { status: 403, text: /role_read_only/ })
})

void t.test('what is kept is sealed, without secrets, and not much of one person', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const ada = await person('acme')
  const open = proofsIn((await ada.get(USERS)).text)
  clock.advance(LIMITS.consoleIdleMs + 1)
  const kept: string[] = []
  for (let sent = 0; sent <= LIMITS.consoleKeptFormsPerPersonMax; sent++) {
    clock.advance(1)
    kept.push(returnIn((await ada.post(USERS, { ...BOB, ...open })).text))
  }
  const back = await signedIn(ada.userId)
  t.equal((await back.get(kept[0] ?? '')).status, 404, 'the oldest is forgotten')
  for (const at of kept.slice(1)) t.equal((await back.get(at)).status, 200)
  const id = (kept[1] ?? '').split('=')[1] ?? ''
  const form = await services.consoleAccess.keptForms.open(ada.userId, id)
  t.notMatch(JSON.stringify(form), BOB.password)
  t.equal((await back.get('/console/unsent')).status, 404)
  t.equal((await back.get(`/console/unsent?form=${'A'.repeat(32)}`)).status, 404)
})

void t.test('strangers leave nothing behind, whatever they send', async (t) => {
  const clock = movableClock()
  const { services, ask, person } = await startConsole(t, { clock })
  const ada = await person('acme')
  const open = proofsIn((await ada.get(USERS)).text)
  const post = { method: 'POST' }
  const forged = { ...open, csrf: open.csrf?.replace(/\.[^.]+$/, `.${'A'.repeat(22)}`) ?? '' }
  for (const form of [{}, BOB, { ...BOB, ...forged }, { ...BOB, csrf: open.csrf ?? '' }]) {
    const answer = await ask(USERS, '', { ...post, form })
    t.match(answer, { status: 401 })
    t.notMatch(answer.text, /is kept/)
  }
  const headers = { origin: 'https://evil.example' }
  const foreign = await ask(USERS, '', { ...post, form: { ...BOB, ...open }, headers })
  t.match(foreign, { status: 403, text: /cross_site_form/ })
  const script = await ask(USERS, '', { ...post, form: { ...BOB, ...open }, isJson: true })
  t.match(script, { status: 401, text: /console_session_over/ }, 'a script keeps its own')
  clock.advance(LIMITS.consoleKeptFormMs + 1)
  t.equal(await services.consoleAccess.keptForms.prune(10), 0)
})

void t.test('who has to prove it again finds the form as it was', async (t) => {
  const clock = movableClock()
  const { person, signedIn } = await startConsole(t, { clock })
  const ada = await person('acme')
  const open = proofsIn((await ada.get(USERS)).text)
  clock.advance(LIMITS.consoleFreshMs + 1)
  const asked = await ada.post(USERS, { ...BOB, ...open })
  t.match(asked, {
    status: 403,
    text: /<h1[^>]*>Confirm it’s you.*go on with the form.*What you typed is kept/s,
  })
  t.match(asked.text, /fresh=yes/)
  const at = returnIn(asked.text)
  t.match(await ada.get(at), { status: 303, location: /fresh=yes/ }, 'nor shown before that')
  const fresh = await signedIn(ada.userId)
  t.match(await fresh.get(at), { status: 200, text: SHOWN })
})

void t.test('a role that has gone meanwhile shows no form', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const ada = await person('acme')
  const open = proofsIn((await ada.get(USERS)).text)
  clock.advance(LIMITS.consoleIdleMs + 1)
  const at = returnIn((await ada.post(USERS, { ...BOB, ...open })).text)
  await takeRole(services, ada.userId, 'acme')
  t.equal((await (await signedIn(ada.userId)).get(at)).status, 404)
})

void t.test(
  'what a colleague changed meanwhile is not undone by a form that came back',
  async (t) => {
    const clock = movableClock()
    const { services, person, signedIn } = await startConsole(t, { clock })
    const { tenants } = services
    const path = '/console/tenants/acme/settings'
    const grace = await person('operator')
    const { text } = await grace.get(path)
    const fields = [...text.matchAll(/<(?:input|textarea|select)[^>]*name="(\w+)"[^>]*/g)]
    const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? ''
    t.ok(fields.length > 5 && seen !== '')
    const tenant = await tenants.get('acme')
    const form = {
      seen,
      name: 'Acme of Grace',
      mode: tenant.mode,
      hostnames: tenant.hostnames.join('\n'),
      origin: tenant.origin,
      sealed: '',
      excluded: '',
      health: tenant.health,
      max_session_seconds: '3600',
      idle_seconds: 'soon',
      session_binding: 'off',
      time_zone: 'UTC',
    }
    await tenants.patch('acme', { sealed: ['/internal', '/secret'] }, { name: 'b', requestId: 'b' })
    const wrong = await grace.post(path, form)
    t.match(wrong, { status: 422 })
    t.match(wrong.text, `name="seen" value="${seen}"`, 'still no more than they had seen')
    t.match(await grace.post(path, { ...form, idle_seconds: '900' }), { status: 409 })
    clock.advance(LIMITS.consoleIdleMs + 1)
    const over = await grace.post(path, form)
    const back = await (await signedIn(grace.userId)).get(returnIn(over.text))
    t.match(back.text, /differ from your form.*\/internal, \/secret/s)
  },
)

/** Nothing is typed there: an id that the page has put in. */
const NOTHING_TYPED = [
  '/console/alert-emails/confirm',
  '/console/alert-emails/stop',
  '/console/alert-emails/stop/{link}',
  '/console/people/{user_id}/remove',
  '/console/people/{user_id}/role',
  '/console/tenants/{tenant_id}/address-blocks/lift',
  '/console/tenants/{tenant_id}/administrators/{user_id}/role',
  '/console/tenants/{tenant_id}/groups/{group}/remove',
  '/console/tenants/{tenant_id}/integration/go-live',
  '/console/tenants/{tenant_id}/rules/save',
  '/console/tenants/{tenant_id}/sessions/{sid}/end',
]

void t.test(
  'every form with something to type can show itself again, without secrets',
  async (t) => {
    const { routes } = await startConsole(t)
    const forms = routes.filter(({ declaration: { form = {} } }) => Object.keys(form).length > 0)
    const silent = forms.filter(({ again }) => again === undefined)
    t.same(silent.map(({ declaration: { path } }) => path).sort(), NOTHING_TYPED)
    for (const { declaration } of forms)
      for (const [name, kind] of Object.entries(declaration.form ?? {}))
        if (/password$|^private_key|secret$/.test(name)) t.ok(isSecret(kind), declaration.path)
  },
)
