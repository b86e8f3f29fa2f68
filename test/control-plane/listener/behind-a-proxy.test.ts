/**
 * TLS ends at a proxy of the operator's, so every connection is from its address. With the proxy
 * named, lockout, policies and records are about the people behind it.
 */
import t from 'tap'
import { systemClock } from '../../../shared/clock.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { startPublicServer } from '../../support/public-server.ts'
import { Browser, PASSWORD, relyingParty, userNamed } from '../realm/realm-world.ts'

const ATTACKER = '203.0.113.66'
const VICTIM = '198.51.100.7'
const PROXY = '127.0.0.1'

async function startBehindProxy(t: Parameters<typeof startPublicServer>[0]) {
  const world = await startPublicServer(t, { clock: systemClock, trustedProxies: [PROXY] })
  const { tenants, users } = world.services
  const made = await world.tenant('acme')
  await tenants.publish('acme', ACTOR)
  const ada = await users.create('acme', userNamed('ada'), ACTOR)
  const tenant = {
    ...made,
    clientId: made.client_id,
    clientSecret: made.client_secret,
    issuer: `${world.baseUrl}/auth/realms/acme`,
    redirectUri: 'http://acme.localhost:8000/service/callback',
  }
  /** What the proxy passes on: what the client said, and whom the proxy has it from. */
  async function from(client: string, password = PASSWORD, said = '192.0.2.200') {
    const browser = new Browser(world.baseUrl)
    const headers = { 'x-forwarded-for': `${said}, ${client}` }
    const flow = await (await relyingParty(tenant)).begin()
    const page = await browser.visit(flow.url, { headers })
    return browser.submit(page.url, { username: 'ada', password }, headers)
  }
  return { ...world, ada, from }
}

const isIn = ({ url }: { url: string }) => url.startsWith('http://acme.localhost:8000/')

t.test('who guesses is blocked by their own address, and nobody else is', async (t) => {
  const { ada, from, operator, services } = await startBehindProxy(t)
  const lockout = { user_failures: 100, address_failures: 3 }
  await services.policies.put('acme', 'lockout', lockout, ACTOR)
  for (let count = 0; count < 3; count++) await from(ATTACKER, 'wrong-wrong-wrong')
  t.equal((await from(ATTACKER)).response.status, 429)
  t.ok(isIn(await from(VICTIM)), 'the victim signs in through the same proxy')
  const { items } = await operator('GET', '/tenants/acme/address-blocks')
  t.match(items, [{ address: ATTACKER }])
  const [past] = await services.attempts.newestOf('acme', ada.userId)
  t.match(past, { ip: VICTIM, outcome: 'signed_in' })
})

t.test('network policies judge the client and not the proxy', async (t) => {
  const { from, services } = await startBehindProxy(t)
  await services.policies.put('acme', 'network', { deny: ['203.0.113.0/24'] }, ACTOR)
  t.equal((await from(ATTACKER)).response.status, 403)
  t.ok(isIn(await from(VICTIM)))
  await services.policies.put('acme', 'network', { allow: ['127.0.0.0/8'] }, ACTOR)
  t.equal((await from(VICTIM)).response.status, 403, 'the network of the proxy opens nothing')
  t.equal((await from(VICTIM, PASSWORD, PROXY)).response.status, 403, 'nor does a forged chain')
})
