/** Whoever signs out here is sent to sign out at the provider as well (RP-Initiated Logout 1.0). */
import t from 'tap'
import { schema } from '../../../../control-plane/store/schema.ts'
import { Browser, PASSWORD, signIn } from '../realm-world.ts'
import { activeConnection, GRACE } from './connected.ts'
import { CLIENT } from './provider-peer.ts'
import { startSigningOut } from './signing-out.ts'

t.test(
  'whoever signs out here is sent there, and comes back to where they were to go',
  async (t) => {
    const { comes, peer, connection, tenant, world, isAlive } = await startSigningOut(t, {
      signsOut: true,
    })
    peer.publish({ end_session_endpoint: `${peer.issuer}/logout?x=1` })
    const person = await comes({ sid: 'there' })
    const grant = await person.flow.finish(person.back.url)
    const { origin } = new URL(tenant.redirectUri)
    const url = new URL(`${tenant.issuer}/logout`)
    url.searchParams.set('id_token_hint', String(grant.id_token))
    url.searchParams.set('post_logout_redirect_uri', `${origin}/`)
    const sent = await person.browser.once(url.href)
    t.equal(sent.status, 303)
    const to = new URL(sent.headers.get('location') ?? '')
    t.equal(to.origin + to.pathname, `${peer.issuer}/logout`)
    t.equal(to.searchParams.get('x'), '1')
    t.equal(to.searchParams.get('client_id'), CLIENT.clientId)
    const own = `${tenant.issuer}/connections/${connection.connectionId}/signed-out`
    t.equal(to.searchParams.get('post_logout_redirect_uri'), own)
    t.match(to.searchParams.get('id_token_hint'), /^ey.*\..*\./)
    t.notOk(await isAlive(grant.claims()?.sid), 'over here before')

    const state = to.searchParams.get('state') ?? ''
    const back = await person.browser.once(`${own}?state=${state}`)
    t.equal(back.headers.get('location'), `${origin}/`)
    const page = await person.browser.visit(`${own}?state=${state}x`)
    t.match(page, { response: { status: 200 }, html: /signed out/i })
    const other = await activeConnection(world, 'acme', peer, { name: 'Other' })
    const elsewhere = own.replace(connection.connectionId, other.connectionId)
    t.equal(
      (await person.browser.once(`${elsewhere}?state=${state}`)).status,
      200,
      'of another one',
    )
  },
)

t.test('nobody is sent anywhere where that is not wished, or cannot be', async (t) => {
  const leave = async (
    { comes, tenant }: Awaited<ReturnType<typeof startSigningOut>>,
    came = comes({ sid: 'there' }),
  ) => {
    const person = await came
    const grant = await person.flow.finish(person.back.url)
    const query = new URLSearchParams({ id_token_hint: String(grant.id_token) })
    return person.browser.once(`${tenant.issuer}/logout?${query.toString()}`)
  }
  const off = await startSigningOut(t)
  off.peer.publish({ end_session_endpoint: `${off.peer.issuer}/logout` })
  t.equal((await leave(off)).status, 200, 'it is off')
  const kept = (await off.world.store.read.select().from(schema.upstreamSessions))[0]
  t.match(kept, { subject: GRACE.sub, upstreamSid: 'there' })

  const none = await startSigningOut(t, { signsOut: true })
  t.equal((await leave(none)).status, 200, 'the provider has no such place')
  const odd = await startSigningOut(t, { signsOut: true })
  odd.peer.publish({ end_session_endpoint: 'http://id.company.example/logout' })
  t.equal((await leave(odd)).status, 200, 'one that cannot be used keeps nobody out')
  const { world, tenant } = odd
  const ada = await signIn(
    new Browser(world.baseUrl),
    tenant,
    {},
    { username: 'ada', password: PASSWORD },
  )
  t.ok(ada)
})
