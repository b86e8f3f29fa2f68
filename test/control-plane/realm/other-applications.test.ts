/** Applications beside the tenant's own, which sign people in by its realm. */
import { createHash, createPublicKey, randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import t from 'tap'
import { toldClaims } from '../../../control-plane/realm/clients/told-claims.ts'
import { insertMembers } from '../../../control-plane/store/queries/access.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { proveToken } from '../../../shared/enforcement/token.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { until } from '../../support/newcomer.ts'
import { startOwnRealm as start } from './connections/own-realm.ts'
import { ACTOR, ADA, exchange } from './realm-world.ts'

t.test(
  'what another application gets is no session of the tenant, and nobody else’s',
  async (t) => {
    const { world, alpha, client, connectionId, toAlpha, activate, local, own } = await start(t)
    await activate()
    const { by, there } = await toAlpha()
    const answer = await by.submit(there.url, { ...ADA, password: 'wrong' })
    t.notOk(answer.url.startsWith(own), 'no password, no code')
    // the application's own flow: a code of its, shown by it
    const verifier = randomBytes(32).toString('base64url')
    const ask = (changes: Record<string, string> = {}) =>
      `${alpha.issuer}/authorize?${new URLSearchParams({
        ...{ client_id: client.clientId, redirect_uri: `${own}/callback`, response_type: 'code' },
        ...{ scope: 'openid profile email', state: 's', code_challenge_method: 'S256' },
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        ...changes,
      }).toString()}`
    for (const wrong of [
      { redirect_uri: `${own}/callback/` },
      { redirect_uri: 'https://evil.example/callback' },
      { redirect_uri: alpha.redirectUri },
    ])
      t.equal((await by.once(ask(wrong))).status, 400, JSON.stringify(wrong))
    const page = await by.visit(ask())
    const sent = await by.once(page.url, { method: 'POST', body: new URLSearchParams(ADA) })
    const resumed = await by.once(new URL(sent.headers.get('location') ?? '', page.url).href)
    const code = new URL(resumed.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const redirectUri = `${own}/callback`
    const issuer = local(alpha.issuer)
    const grant = { code, code_verifier: verifier, redirect_uri: redirectUri }
    const asApplication = await exchange({ ...alpha, issuer }, grant)
    t.equal(asApplication.status, 400, 'the tenant’s application gets nothing for it')
    const another = await by.once(ask({ prompt: 'none' }))
    const next = new URL(another.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const wrongSecret = { ...alpha, issuer, clientId: client.clientId }
    t.equal(
      (await exchange(wrongSecret, { ...grant, code: next })).status,
      401,
      'by no secret of its',
    )
    const right = { ...wrongSecret, clientSecret: client.clientSecret }
    const answered = await exchange(right, { ...grant, code: next })
    t.equal(answered.status, 200)
    const { id_token: token = '' } = (await answered.json()) as { id_token?: string }
    t.match(decodeJwt(token), {
      aud: client.clientId,
      sub: alpha.ada.userId,
      email_verified: false,
    })
    const published = await world.keys.publicKeys('alpha')
    const keys = new Map(published.map(({ kid, pem }) => [kid, createPublicKey(pem)]))
    const trust = { issuer: alpha.issuer, audience: alpha.clientId, keys }
    t.equal(proveToken(token, trust), 'audience_wrong')
    await world.realmClients.remove('alpha', client.clientId, ACTOR)
    t.equal((await by.once(ask())).status, 400, 'and by one that is deleted nobody signs in')
    t.ok(connectionId)
  },
)

t.test('each application is signed out to its own addresses, by a token of its own', async (t) => {
  const { alpha, client, own, comes, activate, proveEmail, endOf, browser, atAlpha } =
    await start(t)
  await proveEmail()
  await activate()
  const { token: ofBeta, claims } = await comes()
  const { token: ofAlpha } = await atAlpha()
  const to = (parameters: Record<string, string>, tenant = alpha) =>
    browser().once(`${tenant.issuer}/logout?${new URLSearchParams(parameters).toString()}`)
  const uri = { post_logout_redirect_uri: `${own}/signed-out` }
  const home = { post_logout_redirect_uri: `${new URL(alpha.redirectUri).origin}/` }
  const named = { client_id: client.clientId }
  for (const wrong of [
    { ...named, ...home },
    { client_id: alpha.clientId, ...uri },
    { ...named, post_logout_redirect_uri: 'https://evil.example/' },
    { client_id: `cli_${'0'.repeat(32)}`, ...uri },
    { id_token_hint: ofBeta, ...uri },
    { id_token_hint: ofAlpha, ...named, ...uri },
  ])
    t.equal((await to(wrong)).status, 400, JSON.stringify(wrong))
  const right = await to({ ...named, ...uri })
  t.equal(right.headers.get('location'), `${own}/signed-out`, 'of nobody who is signed in')
  t.equal(await endOf('beta', claims?.sid), undefined, 'nobody was signed out by any of it')
})

t.test('applications are registered in bounds, and another tenant’s are nobody’s', async (t) => {
  const { world, client } = await start(t)
  const { clientId } = client
  const of = ['beta', clientId] as const
  await t.rejects(world.realmClients.get(...of), { code: 'client_not_found' })
  await t.rejects(world.realmClients.remove(...of, ACTOR), { code: 'client_not_found' })
  t.equal(await world.realmClients.find(...of), undefined)
  t.equal(await world.realmClients.isSecret(...of, client.clientSecret), false)
  t.equal(await world.realmClients.isSecret('alpha', clientId, client.clientSecret), true)
  const wished = {
    ...{ name: 'More', redirectUris: ['https://more.example/'], postLogoutRedirectUris: [] },
    ...{ backchannelLogoutUri: null, isToldGroups: false },
  }
  for (let count = 1; count < LIMITS.realmClientsPerTenantMax; count++)
    await world.realmClients.create('alpha', wished, ACTOR)
  await t.rejects(world.realmClients.create('alpha', wished, ACTOR), { code: 'clients_full' })
  await t.rejects(world.realmClients.create('nobody', wished, ACTOR), { code: 'tenant_not_found' })
  const kept = await world.store.read.select().from(schema.realmClients)
  t.notMatch(JSON.stringify(kept), client.clientSecret)
})

t.test('groups are told to whom the administrator wants, and never cut', async (t) => {
  const { world, alpha, comes, activate, proveEmail } = await start(t)
  await proveEmail()
  await activate()
  const teams = async (claims: { sub?: string } | undefined) =>
    (await world.personAttributes.list('beta', claims?.sub ?? '')).length
  t.equal(await teams((await comes()).claims), 1)
  const { userId } = alpha.ada
  await world.store.change(({ queries }) =>
    insertMembers(
      queries,
      Array.from({ length: LIMITS.realmClientGroupsMax }, (_, at) => {
        const group = `g${at}`
        return { tenantId: 'alpha', group, userId, source: 'local' as const, createdAt: 1 }
      }),
    ),
  )
  const { claims } = await comes()
  t.equal(await teams(claims), 1, 'one too many: nothing is said of groups, and nothing changes')
  const whose = { userId, tenantId: 'alpha' } as Parameters<typeof toldClaims>[1]
  const asked = { clientId: undefined, use: 'id_token' }
  t.notOk('groups' in (await toldClaims(world, whose, asked)), 'nor in a token of the application')
  const other = await world.realmClients.create(
    'alpha',
    {
      ...{ name: 'Other', redirectUris: ['https://other.example/'], postLogoutRedirectUris: [] },
      ...{ backchannelLogoutUri: null, isToldGroups: false },
    },
    ACTOR,
  )
  const ada = await world.users.get('alpha', userId)
  const few = { ...ada, userId: 'usr_of_none' }
  const { clientId } = other
  t.notOk('groups' in (await toldClaims(world, few, { clientId, use: 'id_token' })))
})

t.test('one session is for all applications of a browser, and each hears of its own', async (t) => {
  const { world, comes, activate, proveEmail, endOf, atAlpha, browser } = await start(t)
  await proveEmail()
  await activate()
  const shared = await atAlpha()
  const there = await comes(shared.by)
  t.ok(there.claims, 'whoever is signed in at the one is asked for nothing')
  t.notMatch(there.there.html, /name="password"/)
  const alone = await atAlpha(browser())
  const told = async () =>
    (await world.store.read.select().from(schema.clientSessions)).map(({ sid }) => sid)
  t.same(await told(), [shared.claims?.sid], 'the very session, and no other')
  await world.revocations.revoke('alpha', { sid: String(alone.claims?.sid) }, ACTOR)
  const notices = await world.store.read.select().from(schema.logoutNotices)
  t.same(notices, [], 'of one that it has no token of it hears nothing')
  await world.revocations.revoke('alpha', { sid: String(shared.claims?.sid) }, ACTOR)
  await until('the session is over', async () => {
    await world.logoutNotices.send()
    return (await endOf('beta', there.claims?.sid)) === 'upstream_logout'
  })
})
