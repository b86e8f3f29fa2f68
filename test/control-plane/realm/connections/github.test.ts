/** People come in by GitHub: by their number, with the address that GitHub has seen to be theirs. */
import t, { type Test } from 'tap'
import { apiOf } from '../../../../control-plane/connections/github.ts'
import { ACTOR, Browser, startWorld } from '../realm-world.ts'
import { isAskingForPassword } from '../steps.ts'
import { activeConnection, atProvider, identitiesOf, startNames, usersOf } from './connected.ts'
import { OCTOCAT, startGithub } from './github-peer.ts'

const ACTIVE = { state: 'active', role: 'member', organization: { login: 'Acme-Corp', id: 7 } }

async function start(t: Test, wished: { organization?: string } = {}) {
  const peer = await startGithub(t)
  const names = startNames()
  const world = await startWorld(t, { receivers: peer.receivers, resolveTxt: names.resolveTxt })
  const tenant = await world.tenant('acme')
  const preset = { preset: 'github', name: 'GitHub', ...wished } as const
  const connection = await activeConnection(world, 'acme', peer, preset)
  const comes = async (person: Parameters<typeof peer.signIn>[1], instead = {}) => {
    const one = await atProvider(world, tenant, connection)
    return { ...one, back: await one.browser.visit(peer.signIn(one.to, person, instead)) }
  }
  return { peer, names, world, tenant, connection, comes }
}

t.test('by their number, whatever they are called by now', async (t) => {
  const { comes, peer, world } = await start(t)
  const first = await comes(OCTOCAT)
  const query = new URL(first.to).searchParams
  t.equal(new URL(first.to).pathname, '/login/oauth/authorize')
  t.equal(query.get('scope'), 'read:user user:email')
  t.equal(query.get('code_challenge_method'), 'S256')
  t.match(query.get('state'), /^.{43,}$/)
  const claims = await first.claims(first.back.url)
  t.match(claims, { email: 'octocat@company.example', name: 'The Octocat', acr: 'aal1' })
  t.match(await identitiesOf(world), [{ subject: '583231', issuer: peer.issuer }])
  t.ok(
    peer.asked.every(({ path, userAgent }) => path.startsWith('/login') || userAgent !== undefined),
  )

  const renamed = {
    ...OCTOCAT,
    user: { ...OCTOCAT.user, login: 'hexacat', name: null },
    emails: [],
  }
  const again = await comes(renamed)
  t.equal((await again.claims(again.back.url)).sub, claims.sub)
  const squatter = { ...OCTOCAT, user: { ...OCTOCAT.user, id: 99 } }
  t.ok(isAskingForPassword((await comes(squatter)).back.html), 'the name of before is nobody')
})

t.test('an address that nobody has shown to be theirs is none', async (t) => {
  const { comes, world, names, connection } = await start(t)
  await names.prove(world, connection)
  await world.users.create(
    'acme',
    { username: 'octo', email: 'octocat@company.example', name: 'O', password: '' },
    { name: 'test', requestId: '' },
  )
  const [old, primary] = OCTOCAT.emails
  for (const [name, emails] of Object.entries({
    'not verified': [old, { ...primary, verified: false }],
    'verified, as a text': [{ ...primary, verified: 'true' }],
    'not the primary one': [{ ...primary, primary: false }],
    'none at all': [],
    'nothing that is a list': { email: 'octocat@company.example' },
    'the public one of the profile': [],
  })) {
    const user = { ...OCTOCAT.user, email: 'octocat@company.example' }
    const { back } = await comes({ user, emails })
    t.ok([400, 403].includes(back.response.status), name)
  }
  t.equal((await usersOf(world)).length, 2)
  t.strictSame(await identitiesOf(world), [])
  t.ok(isAskingForPassword((await comes(OCTOCAT)).back.html), 'one that was verified some day')
  t.strictSame(await identitiesOf(world), [])
})

t.test('a verified address of a proven domain connects whom the organization has', async (t) => {
  const { comes, world, names, connection } = await start(t, { organization: 'acme-corp' })
  await names.prove(world, connection)
  await world.users.create(
    'acme',
    { username: 'octo', email: 'octocat@company.example', name: 'O', password: '' },
    { name: 'test', requestId: '' },
  )
  const { back, claims } = await comes({ ...OCTOCAT, memberships: { 'acme-corp': ACTIVE } })
  t.match(await claims(back.url), { email: 'octocat@company.example' })
  t.equal((await identitiesOf(world)).length, 1)
})

t.test('nobody is let in by a number that is none', async (t) => {
  const { comes, world } = await start(t)
  for (const id of ['583231', 0, -1, 1.5, 2 ** 60, null, undefined, {}]) {
    const { back } = await comes({ ...OCTOCAT, user: { ...OCTOCAT.user, id } })
    t.equal(back.response.status, 400, JSON.stringify(id))
  }
  t.equal((await usersOf(world)).length, 1)
})

t.test('a code of another browser, flow or verifier is worth nothing', async (t) => {
  const { comes, peer, world, tenant, connection } = await start(t)
  const mine = await atProvider(world, tenant, connection)
  const url = peer.signIn(mine.to, OCTOCAT)
  t.equal((await new Browser(world.baseUrl).visit(url)).response.status, 400, 'another browser')
  t.equal((await comes(OCTOCAT, { state: 'x'.repeat(50) })).back.response.status, 400, 'state')
  t.equal((await comes(OCTOCAT, { state: null })).back.response.status, 400, 'no state')
  t.equal((await comes(OCTOCAT, { iss: 'https://mallory.example' })).back.response.status, 400)
  t.equal((await comes(OCTOCAT, { error: 'access_denied' })).back.response.status, 400)
  t.notOk(
    peer.asked.some(({ path }) => path.startsWith('/login')),
    'no code was shown to anybody',
  )

  const theirs = await atProvider(world, tenant, connection)
  const code = new URL(peer.signIn(theirs.to, OCTOCAT)).searchParams.get('code')
  const swapped = await comes(OCTOCAT, { code })
  t.equal(swapped.back.response.status, 400, 'the code of another verifier')
  t.match(swapped.back.html, /bad_verification_code/)
  t.strictSame(await identitiesOf(world), [])
})

t.test('with an organization its members come in, and nobody else', async (t) => {
  const { comes, world } = await start(t, { organization: 'acme-corp' })
  const as = (memberships: unknown) => ({ ...OCTOCAT, memberships: { 'acme-corp': memberships } })
  for (const [name, person] of Object.entries({
    'no member': OCTOCAT,
    'invited only': as({ ...ACTIVE, state: 'pending' }),
    'of another one': as({ ...ACTIVE, organization: { login: 'other' } }),
    'says nothing': as({}),
    'says no number': as({ ...ACTIVE, organization: { login: 'acme-corp' } }),
    'no application may ask': { ...as(ACTIVE), membershipStatus: 403 },
    'the server is broken': { ...as(ACTIVE), membershipStatus: 500 },
  })) {
    const { back, to } = await comes(person)
    t.equal(back.response.status, 400, name)
    t.equal(new URL(to).searchParams.get('scope'), 'read:user user:email read:org')
  }
  t.strictSame(await identitiesOf(world), [])
  const { back, claims } = await comes(as(ACTIVE))
  t.match(await claims(back.url), { email: 'octocat@company.example' })
})

t.test('an organization is its number, whoever has its name by now', async (t) => {
  const { comes, world, connection } = await start(t, { organization: 'acme-corp' })
  const of = (id: number, person: object = OCTOCAT) => {
    const membership = { ...ACTIVE, organization: { login: 'acme-corp', id } }
    return { ...person, memberships: { 'acme-corp': membership } }
  }
  const squatter = {
    user: { ...OCTOCAT.user, login: 'squatter', id: 99 },
    emails: [{ email: 'squatter@elsewhere.example', primary: true, verified: true }],
  }
  const { connectionId } = connection
  const known = () => world.connections.get('acme', connectionId)
  t.equal((await known()).organizationId, null)
  const first = await comes(of(7))
  await first.claims(first.back.url)
  t.equal((await known()).organizationId, '7', 'the first membership says which it is')
  const stolen = await comes(of(8, squatter))
  t.equal(stolen.back.response.status, 400)
  t.match(stolen.back.html, /another organization has this name by now/)
  t.equal((await identitiesOf(world)).length, 1)
  const again = await comes(of(7))
  t.match(await again.claims(again.back.url), { email: 'octocat@company.example' })

  // two that come at the same moment, as the first ever
  await world.connections.patch('acme', connectionId, { organization: 'other' }, ACTOR)
  const unknown = await known()
  t.equal(unknown.organizationId, null, 'another name is another organization')
  t.ok(await world.connections.keepOrganization(unknown, '8'))
  t.notOk(await world.connections.keepOrganization(unknown, '9'))
  t.equal((await known()).organizationId, '8')
})

t.test('what can be set, and where its API is', async (t) => {
  const { world } = await start(t)
  const settings = {
    ...{ preset: 'github' as const, name: 'x', clientId: 'x', clientSecret: 'x' },
    ...{ hostedDomain: null, createsPeople: true, mfaValues: [], issuer: 'https://github.com' },
  }
  const actor = { name: 'test', requestId: '' }
  const create = (wished: object) =>
    world.connections.create('acme', { ...settings, ...wished }, actor)
  for (const [field, wished] of [
    ['issuer', { issuer: 'https://github.company.example/login' }],
    ['issuer', { issuer: 'http://github.company.example' }],
    ['organization', { organization: '../../user' }],
    ['organization', { organization: '-acme' }],
    ['organization', { organization: null }],
    ['organization', { preset: 'oidc', issuer: 'https://id.example', organization: 'acme' }],
    ['issuer', { preset: 'oidc', issuer: 'https://github.com' }],
    ['hosted_domain', { organization: 'acme', hostedDomain: 'acme.com' }],
  ] as const)
    await t.rejects(
      create(wished),
      { code: 'field_invalid', fields: { field } },
      JSON.stringify(wished),
    )
  const made = await create({ organization: 'acme-corp' })
  t.match(made, { organization: 'acme-corp', state: 'draft' })
  const { connectionId } = made
  await t.rejects(world.connections.patch('acme', connectionId, { organization: null }, actor), {
    code: 'field_invalid',
    fields: { field: 'organization' },
  })
  t.ok(await create({ organization: null, createsPeople: false }), 'who has an account here')
  t.equal(apiOf('https://github.com'), 'https://api.github.com')
  t.equal(apiOf('https://acme.ghe.com'), 'https://api.acme.ghe.com')
  t.equal(apiOf('https://github.acme.com:8443'), 'https://github.acme.com:8443/api/v3')
  t.equal(apiOf('https://evil-ghe.com'), 'https://evil-ghe.com/api/v3')
})
