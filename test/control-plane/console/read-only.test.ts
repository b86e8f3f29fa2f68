/**
 * Who may look and not change: every page and every form of the table, so that one that a colleague
 * adds is walked with the others; how somebody gets this role, and what it never gives.
 */
import t from 'tap'
import type { Declaration } from '../../../control-plane/console/route.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { CONSOLE_PASSWORD, giveRole, startConsole } from '../../support/console.ts'

const addressOf = ({ path }: Declaration) =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => (name === 'tenant_id' ? 'acme' : 'nobody'))
const nameOf = ({ method, path }: Declaration) => `${method} ${path}`

/** A person who has signed in just now, and may look at one tenant, or at all of them. */
async function viewerOf(world: Awaited<ReturnType<typeof startConsole>>, tenantId: string) {
  const someone = await world.person(undefined)
  await giveRole(world.services, someone.userId, tenantId, true)
  return someone
}

void t.test('no form is taken from who may only look, whoever it is about', async (t) => {
  const world = await startConsole(t)
  const people = [await viewerOf(world, 'acme'), await viewerOf(world, '')]
  for (const { declaration } of world.routes) {
    const { method, role } = declaration
    if (method !== 'POST' || (role !== 'operator' && role !== 'tenant')) continue
    for (const [index, someone] of people.entries()) {
      const answer = await someone.post(addressOf(declaration))
      const isHidden = role === 'operator' && index === 0
      const expected = isHidden ? { status: 404 } : { status: 403, text: /role_read_only/ }
      t.match(answer, expected, nameOf(declaration))
    }
  }
})

void t.test('no page offers a form to who may only look, and all others are there', async (t) => {
  const world = await startConsole(t)
  for (const tenantId of ['acme', '']) {
    const someone = await viewerOf(world, tenantId)
    let seen = 0
    for (const { declaration } of world.routes) {
      const { method, role, path, isForForm, needsFreshSignIn = false } = declaration
      if (method !== 'GET' || (role !== 'tenant' && (role !== 'operator' || tenantId !== '')))
        continue
      const answer = await someone.get(addressOf(declaration))
      const isForm = isForForm ?? needsFreshSignIn
      if (isForm) {
        t.match(answer, { status: 403, text: /role_read_only/ }, nameOf(declaration))
        continue
      }
      if (/\{(?!tenant_id)/.test(path)) continue
      seen += 1
      t.equal(answer.status, 200, nameOf(declaration))
      if (path.endsWith('/branding/frame')) continue // a picture of the sign-in page
      if (!(answer.headers.get('content-type') ?? '').includes('html')) continue
      const actions = [...answer.text.matchAll(/<form method="post" action="([^"]+)"/g)]
      const offered = actions
        .map(([, action]) => action)
        .filter((one) => one !== '/console/sign-out')
      t.same(offered, [], nameOf(declaration))
      t.notMatch(answer.text, /href="[^"]*\/(?:new|edit|remove|end-all)["?]/, nameOf(declaration))
    }
    t.ok(seen > 10, `${seen} pages`)
  }
})

void t.test('settings stand there to be read, as fields that cannot be changed', async (t) => {
  const world = await startConsole(t)
  const someone = await viewerOf(world, 'acme')
  const { text } = await someone.get('/console/tenants/acme/policies/password')
  t.match(text, /<fieldset class="plain" disabled>.*name="min_length"/s)
  t.notMatch(text, /<button[^>]*type="submit"[^>]*>\s*Save/)
})

void t.test('a policy is looked at by who may not edit it', async (t) => {
  const world = await startConsole(t)
  const policies = '/console/tenants/acme/policies'
  const link = (word: string) => new RegExp(`policies/mfa">${word}<span`)
  t.match((await (await viewerOf(world, 'acme')).get(policies)).text, link('View'))
  t.match((await (await world.person('acme')).get(policies)).text, link('Edit'))
})

void t.test('a role is chosen with the invitation, and changed later', async (t) => {
  const mails: { text: string }[] = []
  const send = async (mail: { text: string }) => void mails.push(mail)
  const mailTransport = { send, close: () => undefined }
  const world = await startConsole(t, { mailTransport })
  const { services, person } = world
  const { roles, people, invitations } = services.consoleAccess
  const ada = await person('acme')
  const at = '/console/tenants/acme/administrators'
  await ada.post(at, { email: 'bob@example.test', read_only: 'on' })
  await services.mails.deliver()
  const link = /link=([\w-]+)/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  t.match(await invitations.look(link), { isReadOnly: true, tenantName: 'acme' })
  await invitations.acceptAsNew(link, { name: 'Bob', password: CONSOLE_PASSWORD }, 'request')
  const bob = await services.users.byLogin('console', 'bob@example.test')
  const bobId = bob?.userId ?? ''
  t.match(await roles.of(bobId), { tenantIds: ['acme'], changes: [] })
  t.match((await ada.get(at)).text, /Bob.*Viewer/s)

  t.match((await ada.get(`${at}/${bobId}/role`)).text, /is a viewer of acme now.*checked/s)
  const up = await ada.post(`${at}/${bobId}/role`, {})
  t.match((await ada.get(up.location)).text, 'Bob is now an administrator.')
  t.match(await roles.of(bobId), { changes: ['acme'] })
  await ada.post(`${at}/${bobId}/role`, { read_only: 'on' })
  t.match(await roles.of(bobId), { changes: ['acme'] }, 'ada could not sign in to take over')
  const grace = await person('operator')
  const [path, form] = [`/console/people/${bobId}/role`, { tenant_id: 'acme', read_only: 'on' }]
  t.match(await grace.get(`${path}?tenant_id=acme`), {
    status: 200,
    text: /an administrator of acme/,
  })
  t.match(await grace.post(path, form), { status: 303 })
  t.match(await roles.of(bobId), { changes: [] })
  const audit = await services.auditTrail.list({ limit: 5 }, { tenantId: 'acme' })
  t.match(audit.items[0], {
    action: 'console.role_changed',
    content: { user_id: bobId, from: { role: 'administrator' }, to: { role: 'viewer' } },
  })
  t.match(await people.get(bobId, 'acme'), { role: 'viewer' })
})

void t.test('who may only look is nobody who runs anything', async (t) => {
  const world = await startConsole(t)
  const { services, person } = world
  const { people, links, roles, invitations } = services.consoleAccess
  const watcher = await viewerOf(world, '')
  t.match(await roles.of(watcher.userId), { isOperator: true, changes: [] })
  t.match(await links.make(false, ACTOR), { url: /link=/ }, 'there is no operator yet')
  const grace = await person('operator')
  const last = people.setRole(grace.userId, undefined, true, ACTOR)
  await t.rejects(last, { code: 'last_operator' }, 'the last one stays one')
  t.match(await roles.of(grace.userId), { changes: 'everything' })
  const viewer = await viewerOf(world, 'acme')
  const inviter = { userId: viewer.userId, actor: ACTOR, language: 'en' }
  const invited = invitations.invite('acme', 'eve@example.test', inviter)
  await t.rejects(invited, { code: 'tenant_not_found' }, 'and gives nothing')
  t.match(await viewer.get('/console/tenants/other'), { status: 404 })
})

void t.test('an administrator who accepts to look loses nothing', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  await giveRole(services, ada.userId, 'other', true)
  t.match(await services.consoleAccess.roles.of(ada.userId), {
    tenantIds: ['acme', 'other'],
    changes: ['acme'],
  })
  t.match(await ada.post('/console/tenants/other/sessions/end-all'), { status: 403 })
  t.match(await ada.post('/console/tenants/acme/sessions/end-all'), { status: 303 })
})

void t.test('who may look at all tenants is in their own what they are there', async (t) => {
  const world = await startConsole(t)
  await world.person('operator')
  const ada = await world.person('acme')
  await giveRole(world.services, ada.userId, '', true)
  t.match(await world.services.consoleAccess.roles.of(ada.userId), {
    isOperator: true,
    changes: ['acme'],
  })
  const directory = '/console/tenants/acme/directory'
  const connection = {
    ...{ kind: 'postgres', host: '127.0.0.1', port: '1', database: 'app', username: 'reader' },
    ...{ password: 'secret', tls: 'off', ca_pem: '', query: 'SELECT id FROM people WHERE id = $1' },
    ...{ column_id: 'id', column_username: 'id', column_email: 'id', column_name: 'id' },
    ...{ column_password_hash: 'id', column_disabled: '', login: '' },
  }
  const tried = await ada.post(`${directory}/try`, connection)
  t.match(tried, { status: 404 }, 'an operator begins, and nobody is dialled')
  t.match((await ada.get(directory)).text, /Ask an operator of this service/)
  const administrators = `/console/tenants/acme/administrators/${ada.userId}`
  const last = await ada.post(`${administrators}/remove`)
  t.match(last, { status: 409, text: /last_administrator/ })
  const kept = await ada.post(`${administrators}/role`, { read_only: 'on' })
  t.match(kept, { status: 409, text: /last_administrator/ })
})
