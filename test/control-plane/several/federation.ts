/** A sign-in by a provider begins at one control plane and ends at another, and counts once over both. */
import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { Browser } from '../realm/realm-world.ts'
import { begin } from '../realm/steps.ts'
import { activeConnection, atProvider, GRACE, startNames } from '../realm/connections/connected.ts'
import { CLIENT, startPeer } from '../realm/connections/provider-peer.ts'
import { startTwoRealms } from './nodes.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

async function start(t: Test) {
  const peer = await startPeer(t)
  const names = startNames()
  const options = { receivers: peer.receivers, resolveTxt: names.resolveTxt }
  const { here, there } = await startTwoRealms(t, options)
  const tenant = await here.tenant('acme')
  const connection = await activeConnection(here, 'acme', peer)
  return { peer, names, here, there, tenant, connection }
}

t.test('with each step at another control plane, by the domain of the address', async (t) => {
  const { peer, names, here, there, tenant, connection } = await start(t)
  await names.prove(there, connection)
  for (const round of [1, 2]) {
    const person = await begin(here, tenant)
    const sent = await person.sendOnce({ username: GRACE.email as string })
    t.match(sent.url, `${peer.issuer}/authorize`, `round ${round}`)
    const back = await person.browser.visit(peer.signIn(sent.url, GRACE))
    t.match(await person.claims(back.url), { email: GRACE.email })
  }
})

t.test('an answer, and a logout token, count once over both, also at the same time', async (t) => {
  const { peer, here, there, tenant, connection } = await start(t)
  const one = await atProvider(here, tenant, connection)
  const url = peer.signIn(one.to, { ...GRACE, sid: 'there' })
  const answers = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const twin = new Browser(here.baseUrl)
      twin.remember(one.browser.cookies)
      return { twin, answer: await twin.once(url) }
    }),
  )
  t.same(answers.map(({ answer }) => answer.status).sort(), [303, 410, 410, 410])
  t.equal(peer.asked.filter((path) => path === '/token').length, 1)
  const [winner] = answers.filter(({ answer }) => answer.status === 303)
  const to = new URL(winner?.answer.headers.get('location') ?? '', here.baseUrl).href
  const back = await winner?.twin.visit(to)
  const { sid } = await one.claims(back?.url ?? '')

  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: peer.issuer, aud: CLIENT.clientId, iat: now, exp: now + 60, sid: 'there' }
  const token = await new SignJWT({ ...claims, jti: randomUUID(), events: { [EVENT]: {} } })
    .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'logout+jwt' })
    .sign(peer.privateKey)
  const path = `/auth/realms/acme/connections/${connection.connectionId}/back-channel-logout`
  const sent = await Promise.all(
    [1, 2, 3, 4].map(() =>
      new Browser(here.baseUrl).once(here.baseUrl + path, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      }),
    ),
  )
  t.same(sent.map(({ status }) => status).sort(), [200, 400, 400, 400])
  for (const node of [here, there]) {
    const row = await node.sessions.find('acme', sid as string)
    t.equal(row?.endReason, 'upstream_logout')
  }
})
