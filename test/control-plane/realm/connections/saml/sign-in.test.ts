/** People come in by SAML, in the same funnel as by any other connection. */
import t from 'tap'
import { identitiesOf, usersOf } from '../connected.ts'
import { answerTo, away, comeBack, GRACE, startSaml } from './connected-by-saml.ts'
import { ENTITY_ID } from './saml-peer.ts'

t.test('a person who is new comes in, and the next time as the same person', async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const first = await away(world, tenant, connection)
  t.match(first.page.html, 'Continue with Company')
  t.match(first.to, /^https:\/\/idp\.company\.example\/sso\?tenant=1&SAMLRequest=/)
  const back = await comeBack(world, first, answerTo(first.sent, key))
  const claims = await first.claims(back.url)
  t.match(claims, { email: 'grace@company.example', name: 'Grace Hopper', acr: 'aal1' })
  t.match(await identitiesOf(world), [{ issuer: ENTITY_ID, subject: 'grace-1' }])

  const again = await away(world, tenant, connection)
  const renamed = { ...GRACE, attributes: { email: ['hopper@company.example'] } }
  const second = await comeBack(world, again, answerTo(again.sent, key, renamed))
  t.equal((await again.claims(second.url)).sub, claims.sub, 'whatever their address is by now')
  t.equal((await usersOf(world)).length, 2)
})
