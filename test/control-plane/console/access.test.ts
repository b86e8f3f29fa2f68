/**
 * Every page and every action of the console, by the table that mounts them, against everybody who
 * has no business there. A page that a colleague adds is walked with the others.
 */
import t from 'tap'
import type { Declaration } from '../../../control-plane/console/route.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startConsole, takeRole } from '../../support/console.ts'

const PARAMETERS: Readonly<Record<string, string>> = { tenant_id: 'acme' }

/** With ids that there are, or that nobody has. */
function addressOf({ path }: Declaration): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => PARAMETERS[name] ?? 'nobody')
}

/** A redirect, and what is only there for somebody who has sent a form. */
const ABOUT_NOTHING = ['/console', '/console/receipt', '/console/unsent']

const nameOf = ({ method, path }: Declaration) => `${method} ${path}`
const isClosed = ({ role }: Declaration) => role !== 'anyone'

void t.test('who is not signed in is sent to sign in, and learns nothing else', async (t) => {
  const { routes, ask } = await startConsole(t)
  for (const { declaration } of routes.filter((route) => isClosed(route.declaration))) {
    const { method } = declaration
    const path = addressOf(declaration)
    const answer = await ask(path, '', { method, ...(method === 'POST' && { form: {} }) })
    if (method === 'GET') {
      t.equal(answer.status, 302, nameOf(declaration))
      const wanted = `/console/sign-in?return_to=${encodeURIComponent(path)}`
      t.equal(answer.location, wanted, nameOf(declaration))
      const script = await ask(path, '', { isJson: true })
      t.match(script, { status: 401, text: /console_session_over/ }, nameOf(declaration))
    } else t.match(answer, { status: 401, text: /Sign in and go back/ }, nameOf(declaration))
  }
})

void t.test(
  'an administrator of another tenant finds nothing, like somebody without a role',
  async (t) => {
    const { routes, person } = await startConsole(t)
    const people = [await person('other'), await person(undefined)]
    const closed = routes.filter(
      ({ declaration: { role } }) => role === 'tenant' || role === 'operator',
    )
    t.ok(closed.length > 3)
    for (const { declaration } of closed)
      for (const someone of people) {
        const path = addressOf(declaration)
        const answer =
          declaration.method === 'GET' ? await someone.get(path) : await someone.post(path)
        const nowhere = await someone.get('/console/tenants/acme/nowhere')
        t.equal(answer.status, 404, nameOf(declaration))
        const withoutId = (text: string) => text.replaceAll(/request [\w-]+|value="[\w.-]+"/g, '')
        t.equal(withoutId(answer.text), withoutId(nowhere.text), `${nameOf(declaration)}: alike`)
      }
  },
)

void t.test('an administrator sees their tenant, and no page of operators', async (t) => {
  const { routes, person } = await startConsole(t)
  const ada = await person('acme')
  for (const { declaration } of routes.filter(({ declaration: { method } }) => method === 'GET')) {
    if (!isClosed(declaration) || declaration.needsFreshSignIn === true) continue
    const isOwnId = !/\{(?!tenant_id)/.test(declaration.path)
    const { status } = await ada.get(addressOf(declaration))
    if (declaration.role === 'operator') t.equal(status, 404, nameOf(declaration))
    else if (declaration.role === 'tenant' && isOwnId) t.equal(status, 200, nameOf(declaration))
    else t.ok(status < 500, nameOf(declaration))
  }
})

void t.test('operators open every page of every tenant, but none that is not there', async (t) => {
  const { routes, person } = await startConsole(t)
  const grace = await person('operator')
  for (const { declaration } of routes) {
    const { method, path } = declaration
    if (method !== 'GET' || !isClosed(declaration)) continue
    if (!/\{(?!tenant_id)/.test(path) && !ABOUT_NOTHING.includes(path))
      t.equal((await grace.get(addressOf(declaration))).status, 200, nameOf(declaration))
    if (!path.includes('{tenant_id}')) continue
    for (const nobody of ['nobody', 'console'])
      t.equal(
        (await grace.get(addressOf({ ...declaration, path: path.replace('{tenant_id}', nobody) })))
          .status,
        404,
        `${nameOf(declaration)} of ${nobody}`,
      )
  }
})

void t.test('a session that is over is none, whatever ended it', async (t) => {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, { clock })
  const { users, revocations } = services
  const actor = { name: 'test', requestId: 'test' }
  const isIn = async (someone: { get(path: string): Promise<{ status: number }> }) =>
    (await someone.get('/console/tenants')).status === 200

  const idle = await person('operator')
  t.ok(await isIn(idle))
  clock.advance(LIMITS.consoleIdleMs - 1)
  t.ok(await isIn(idle), 'within the idle time')
  clock.advance(LIMITS.consoleIdleMs)
  t.notOk(await isIn(idle), 'and behind it')

  const long = await person('operator')
  const steps = LIMITS.consoleSessionMs / (LIMITS.consoleIdleMs / 2)
  for (let step = 1; step < steps; step++) {
    clock.advance(LIMITS.consoleIdleMs / 2)
    t.ok(await isIn(long), 'used all day')
  }
  clock.advance(LIMITS.consoleIdleMs / 2)
  t.notOk(await isIn(long), 'but not for longer than that')

  const ended = await person('operator')
  await revocations.revoke('console', { sid: ended.sid }, actor)
  t.notOk(await isIn(ended), 'its session of the realm was ended')

  const revoked = await person('operator')
  await revocations.revoke('console', { subject: revoked.userId }, actor)
  t.notOk(await isIn(revoked), 'all sessions of the person were ended')

  const disabled = await person('operator')
  await users.patch('console', disabled.userId, { isDisabled: true }, actor)
  t.notOk(await isIn(disabled), 'the account was disabled')

  const removed = await person('operator')
  await users.remove('console', removed.userId, actor)
  t.notOk(await isIn(removed), 'the account is gone')

  const demoted = await person('operator')
  t.ok(await isIn(demoted))
  await takeRole(services, demoted.userId, '')
  t.equal((await demoted.get('/console/tenants')).status, 404, 'who is no operator any more')

  const other = await signedIn(demoted.userId)
  const out = await other.post('/console/sign-out')
  t.match(out, { status: 303, location: '/console/signed-out' })
  for (const path of ['/console', '/install'])
    t.match(out.headers.get('set-cookie'), `service_console=; Path=${path}; Max-Age=0; HttpOnly`)
  t.equal((await other.get('/console')).status, 302, 'signed out')
  const session = await services.sessions.find('console', other.sid)
  t.equal(session?.endReason, 'signed_out', 'in the realm as well')
})

void t.test('a form from elsewhere is refused before anything is looked at', async (t) => {
  const { routes, person } = await startConsole(t)
  const grace = await person('operator')
  const eve = await person('operator')
  const forgeries: readonly (readonly [string, Record<string, string>, Record<string, string>])[] =
    [
      ['another origin', { origin: 'https://evil.example' }, {}],
      ['no origin at all', { origin: 'null' }, {}],
      ['cross-site', { 'sec-fetch-site': 'cross-site' }, {}],
      ['same-site, as a subdomain is', { 'sec-fetch-site': 'same-site' }, {}],
      ['without a token', {}, { csrf: '' }],
      [
        'with somebody else’s token',
        {},
        { csrf: tokenIn((await eve.get('/console/tenants')).text) },
      ],
      ['with a form id of nobody', {}, { form_id: 'AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA' }],
    ]
  for (const { declaration } of routes) {
    if (declaration.method !== 'POST' || !isClosed(declaration)) continue
    for (const [how, headers, form] of forgeries) {
      const answer = await grace.post(addressOf(declaration), form, { headers })
      t.match(answer, { status: 403, text: /cross_site_form/ }, `${nameOf(declaration)}: ${how}`)
    }
  }
})

const tokenIn = (text: string) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? 'none'

/**
 * What may be changed by whoever finds a browser open: it can be taken back, harms nobody, or must
 * not wait. Everything else asks who is there; a new action that does not is put here on purpose.
 */
const WITHOUT_A_FRESH_SIGN_IN = [
  '{tenant}/hostnames/{hostname}/check',
  '{tenant}/hostnames/{hostname}/withdraw',
  '/console/sign-out',
  '/console/device/deny',
  '/console/keys/order-certificate',
  '/console/people/{user_id}/resend-invitation',
  '/console/tenants/new',
  '{tenant}/publish',
  '{tenant}/probe',
  '{tenant}/sign-in-trial',
  '{tenant}/integration/probe',
  '{tenant}/integration/complete',
  '{tenant}/integration/go-live',
  '{tenant}/keys/order-certificate',
  '{tenant}/keys/prepare',
  '{tenant}/settings/activate',
  // who is there already: ended for a while, or let in again
  '{tenant}/sessions/{sid}/end',
  '{tenant}/users/{user_id}/end-sessions',
  '{tenant}/users/{user_id}/invite',
  '{tenant}/users/{user_id}/unlock',
  '{tenant}/sign-ups/{sign_up_id}/approve',
  '{tenant}/sign-ups/{sign_up_id}/refuse',
  '{tenant}/users/{user_id}/enable',
  '{tenant}/address-blocks/lift',
  // can be taken back
  '{tenant}/branding',
  // asks and changes nothing
  '{tenant}/policies/device/effect',
  '{tenant}/policies/lockout/effect',
  '{tenant}/policies/mfa/effect',
  '{tenant}/policies/network/effect',
  '{tenant}/policies/password/effect',
  '{tenant}/policies/session/effect',
  '{tenant}/rules/new',
  '{tenant}/rules/{at}',
  '{tenant}/rules/networks',
  '{tenant}/rules/json',
  '{tenant}/branding/preview',
  '{tenant}/alerts/preview',
  '{tenant}/connections/{connection_id}/domains/{domain}/check',
  '{tenant}/directory/check',
  // who is told of what has been counted
  '{tenant}/alerts/new',
  '{tenant}/alerts/{alert_id}',
  '{tenant}/alerts/{alert_id}/remove',
  // to an address that is set up already
  '{tenant}/webhooks/{webhook_id}/test',
  '{tenant}/webhooks/{webhook_id}/pause',
  '{tenant}/webhooks/{webhook_id}/resume',
  '{tenant}/webhooks/{webhook_id}/replay',
  '{tenant}/webhooks/{webhook_id}/deliveries/{delivery_id}/replay',
]

void t.test('what may be changed without a fresh proof is chosen, and listed', async (t) => {
  const { routes } = await startConsole(t)
  const found = routes
    .map(({ declaration }) => declaration)
    .filter(({ method, role }) => method === 'POST' && role !== 'anyone')
    .filter(({ needsFreshSignIn }) => needsFreshSignIn !== true)
    .map(({ path }) => path.replace('/console/tenants/{tenant_id}', '{tenant}'))
  t.same(found.sort(), [...WITHOUT_A_FRESH_SIGN_IN].sort())
})

void t.test('what asks for a fresh proof gets one first', async (t) => {
  const clock = movableClock()
  const { routes, person } = await startConsole(t, { clock })
  const grace = await person('operator')
  clock.advance(LIMITS.consoleFreshMs + 1)
  for (const { declaration } of routes) {
    if (declaration.needsFreshSignIn !== true) continue
    const path = addressOf(declaration)
    const answer = declaration.method === 'GET' ? await grace.get(path) : await grace.post(path)
    if (declaration.method === 'GET')
      t.match(
        answer,
        { status: 302, location: /^\/console\/sign-in\?.*fresh=yes/ },
        nameOf(declaration),
      )
    else t.match(answer, { status: 403, text: /Sign in again/ }, nameOf(declaration))
  }
})

void t.test('pages that are read and changed say what a change takes, in time', async (t) => {
  const clock = movableClock()
  const { person } = await startConsole(t, { clock })
  const grace = await person('operator')
  const pages = ['/console/people?tenant_id=acme', '/console/tenants/acme/settings']
  const asks = /href="\/console\/sign-in\?return_to=[^"]+&amp;fresh=yes"/
  for (const path of pages) t.notMatch((await grace.get(path)).text, asks, path)
  clock.advance(LIMITS.consoleFreshMs + 1)
  for (const path of pages) {
    const { status, text } = await grace.get(path)
    t.equal(status, 200, 'is there to be read')
    t.match(text, asks, path)
    t.match(text, `return_to=${encodeURIComponent(path)}`, 'and leads back')
  }
})

void t.test('every page is under a policy that lets nothing in, and is kept nowhere', async (t) => {
  const { routes, person, ask } = await startConsole(t)
  const grace = await person('operator')
  for (const { declaration } of routes.filter(({ declaration: { method } }) => method === 'GET')) {
    const path = addressOf(declaration)
    if (path.endsWith('/branding/frame')) continue // of the realm, and judged in branding.test.ts
    const answer = isClosed(declaration) ? await grace.get(path) : await ask(path, '')
    if (!(answer.headers.get('content-type') ?? '').includes('text/html')) continue
    const policy = answer.headers.get('content-security-policy') ?? ''
    for (const part of [
      /default-src 'none'/,
      /form-action 'self'/,
      /frame-ancestors 'none'/,
      /base-uri 'none'/,
    ])
      t.match(policy, part, nameOf(declaration))
    t.notMatch(policy, /unsafe|\*|data:/, nameOf(declaration))
    t.notMatch(
      answer.text,
      /<style|\sstyle="|<script>|\son[a-z]+="/,
      `${nameOf(declaration)}: nothing inline`,
    )
    t.equal(answer.headers.get('cache-control'), 'no-store', nameOf(declaration))
    t.equal(answer.headers.get('referrer-policy'), 'same-origin', nameOf(declaration))
    t.ok(answer.headers.get('x-request-id'), nameOf(declaration))
  }
})

void t.test('oversized forms and queries are refused on every route', async (t) => {
  const { routes, person } = await startConsole(t)
  const grace = await person('operator')
  for (const { declaration } of routes) {
    if (!isClosed(declaration)) continue
    const path = addressOf(declaration)
    if (declaration.method === 'POST') {
      const large = await grace.post(path, { large: 'x'.repeat(LIMITS.consoleFormBytesMax) })
      t.equal(large.status, 413, nameOf(declaration))
      const twice = await grace.post(path, { name: ['a', 'b'] })
      t.ok(twice.status >= 400 && twice.status < 500, `${nameOf(declaration)}: a field twice`)
    } else
      for (const query of [
        '?cursor=%00',
        '?q=a&q=b',
        `?q=${'x'.repeat(5000)}`,
        '?done=x.y',
        '?limit=-1',
      ])
        t.ok(
          (await grace.get(path + query)).status < 500,
          `${nameOf(declaration)} ${query.slice(0, 20)}`,
        )
  }
})
