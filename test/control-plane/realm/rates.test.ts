/** What anybody can make a realm write, and how often. */
import t from 'tap'
import { countedAs } from '../../../shared/client-address.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ADA, Browser, relyingParty, signIn, startWorld, type World } from './realm-world.ts'

const plenty = { burst: 100, perSecond: 100 }
const three = { burst: 3, perSecond: 0.1 }

const written = async ({ store }: World) =>
  (await store.read.select().from(schema.realmRecords)).length

t.test('a loop of authorize requests is stopped before it writes', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, {
    clock,
    rates: { authorize: three, signIn: plenty, account: plenty },
  })
  const [acme, bolt] = [await world.tenant('acme'), await world.tenant('bolt')]
  const { url } = await (await relyingParty(acme)).begin()
  const browser = new Browser(world.baseUrl)
  for (let count = 0; count < 3; count++) t.equal((await browser.once(url)).status, 303)
  const before = await written(world)
  const refused = await browser.once(url)
  t.equal(refused.status, 429)
  t.equal(refused.headers.get('retry-after'), '10')
  t.match(refused.headers.get('content-type'), /text\/html/)
  t.match(await refused.text(), /Wait a few seconds/)
  const other = await (await relyingParty(bolt)).begin()
  for (const spelling of [other.url, `${acme.issuer}/authorize/${'x'.repeat(21)}`])
    t.equal((await browser.once(spelling)).status, 429, 'counted over all tenants and ways')
  const json = await browser.once(url, { headers: { accept: 'application/json' } })
  t.match(await json.json(), { error: 'rate_limited' })
  t.equal(await written(world), before)
  clock.advance(10_000)
  t.equal((await browser.once(url)).status, 303, 'after Retry-After there is one more')
  t.equal((await browser.once(url)).status, 429)
})

t.test('passwords are tried so often from one address, and no further', async (t) => {
  const world = await startWorld(t, {
    clock: movableClock(Date.now()), // a slow machine is owed more tries meanwhile
    rates: { authorize: plenty, signIn: three, account: plenty },
  })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const page = await browser.visit((await (await relyingParty(acme)).begin()).url)
  const attempt = () => browser.submit(page.url, { ...ADA, password: 'wrong' })
  for (let count = 0; count < 3; count++) t.equal((await attempt()).response.status, 422)
  const { response } = await attempt()
  t.equal(response.status, 429)
  t.equal(response.headers.get('retry-after'), '10')
  t.equal((await browser.visit(page.url)).response.status, 200, 'the page itself is still there')
})

t.test('with the rates as they are a crowd behind one address signs in', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const crowd = Array.from({ length: 20 }, () => signIn(new Browser(world.baseUrl), acme))
  t.equal((await Promise.all(crowd)).length, 20)
})

t.test('an IPv6 client is counted by its /64, in any spelling', (t) => {
  t.equal(countedAs('2001:db8:1:2:3:4:5:6'), countedAs('2001:db8:1:2::1'))
  t.not(countedAs('2001:db8:1:2::1'), countedAs('2001:db8:1:3::1'))
  t.equal(countedAs('2001:db8::2:3:4:5:6'), '2001:db8:0:2::/64', 'wherever the zeros are')
  t.equal(countedAs('2001::2:3:4:5:6'), '2001:0:0:2::/64')
  t.equal(countedAs('::1'), '0:0:0:0::/64')
  t.equal(countedAs('192.0.2.1'), '192.0.2.1')
  t.end()
})
