/** Responses that are right in themselves, and are brought by, to or for somebody else. */
import t from 'tap'
import { updateConnection } from '../../../../../control-plane/store/queries/connections.ts'
import { forgetSamlClaimsBefore } from '../../../../../control-plane/store/queries/saml.ts'
import { schema } from '../../../../../control-plane/store/schema.ts'
import { createSamlProtocol } from '../../../../../control-plane/connections/saml/protocol.ts'
import { Browser, startWorld } from '../../realm-world.ts'
import { identitiesOf, usersOf } from '../connected.ts'
import {
  activeSaml,
  answerTo,
  away,
  comeBack,
  GRACE,
  post,
  startSaml,
} from './connected-by-saml.ts'
import { posted } from './saml-peer.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { clockOf } from '../../../../support/clocks.ts'

const MALLORY = { nameId: 'mallory', attributes: { email: ['mallory@company.example'] } }

t.test('a response counts once, at whichever control plane it comes in', async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const { file, masterKey, baseUrl } = world
  const other = await startWorld(t, { file, masterKey, baseUrl })
  const person = await away(world, tenant, connection)
  const xml = answerTo(person.sent, key)
  const here = { tenantId: 'acme', connectionId: connection.connectionId }
  const doors = [world, other].map(({ store, clock }) =>
    createSamlProtocol({ store, clock, baseUrl }),
  )
  const all = await Promise.allSettled(
    [...doors, ...doors].map((door) => door.receive(here, posted(xml))),
  )
  const taken = all.filter(({ status }) => status === 'fulfilled')
  const refused = all.filter(({ status }) => status === 'rejected')
  t.equal(taken.length, 1, 'by one of two control planes')
  t.same(
    refused.map((one) => String((one as PromiseRejectedResult).reason)),
    Array.from({ length: 3 }, () => 'ProviderProblem: the response has been used before'),
  )
  // signed anew around the same assertion, it is another document and the same assertion
  t.match(
    (await post(world, person.sent, xml.replace(' Version', '  Version'))).html,
    /used before/,
  )

  const next = await away(world, tenant, connection)
  const answer = await post(world, next.sent, answerTo(next.sent, key))
  t.equal(answer.status, 303)
  const twins = await Promise.all(
    [1, 2, 3].map(async () => {
      const twin = new Browser(world.baseUrl)
      twin.remember(next.browser.cookies)
      return (await twin.once(answer.to)).status
    }),
  )
  t.strictSame(twins.sort(), [303, 410, 410], 'the way back is one as well')
  const rows = await world.store.read.select().from(schema.samlAnswers)
  t.ok(
    rows.some(({ claims }) => claims === null),
    'what was taken is kept no longer',
  )
})

t.test('what nobody comes for is forgotten, and counts no second time', async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const person = await away(world, tenant, connection)
  const xml = answerTo(person.sent, key)
  const { to, status } = await post(world, person.sent, xml)
  t.equal(status, 303)
  const rows = async () => {
    const all = await world.store.read.select().from(schema.samlAnswers)
    return all.map(({ claims }) => claims !== null)
  }
  const forget = (beforeMs: number) =>
    world.store.change(({ queries }) => forgetSamlClaimsBefore(queries, beforeMs, 100))
  t.equal(await forget(Date.now()), 0, 'its browser may be on its way')
  t.same(await rows(), [true])
  const later = Date.now() + (LIMITS.samlAnswerSecondsMax + 1) * 1000
  t.same([await forget(later), await forget(later)], [1, 0])
  t.same(await rows(), [false], 'its id stays')
  t.match((await post(world, person.sent, xml)).html, /used before/)
  t.match((await person.browser.visit(to)).html, /used before/)
})

t.test('a provider that says a great deal fills no database', async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const person = await away(world, tenant, connection)
  const attributes = { ...GRACE.attributes, note: ['x'.repeat(LIMITS.samlClaimsCharactersMax)] }
  const answer = await post(
    world,
    person.sent,
    answerTo(person.sent, key, { ...GRACE, attributes }),
  )
  t.match(answer.html, /send fewer attributes/)
  t.same(await world.store.read.select().from(schema.samlAnswers), [])
})

t.test('the answer to the request of another browser (login CSRF)', async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const mallory = await away(world, tenant, connection)
  const grace = await away(world, tenant, connection)
  // Mallory has Grace's browser post what the provider has said of Mallory
  const planted = await post(world, mallory.sent, answerTo(mallory.sent, key, MALLORY))
  t.equal(planted.status, 303)
  const there = await grace.browser.visit(planted.to)
  t.equal(there.response.status, 400)
  t.match(there.html, /cookie/i)
  // or brings her state and his answer together
  const state = grace.sent.requestId.slice(1)
  const mixed = new URL(planted.to)
  mixed.searchParams.set('state', state)
  const refused = await grace.browser.visit(mixed.href)
  t.equal(refused.response.status, 400)
  t.match(refused.html, /of another sign-in/)
  t.strictSame(await identitiesOf(world), [])
  // and whoever finds the address of Grace's answer has nothing without her cookie
  const again = await away(world, tenant, connection)
  const hers = await post(world, again.sent, answerTo(again.sent, key))
  t.equal((await mallory.browser.visit(hers.to)).response.status, 400)
  const back = await again.browser.visit(hers.to)
  t.match(await again.claims(back.url), { email: 'grace@company.example' }, 'it is still hers')
})

t.test('the answer to a request that nobody has made', async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const { sent, browser } = await away(world, tenant, connection)
  const made = { ...sent, requestId: `_${'x'.repeat(50)}` }
  const answer = await post(world, sent, answerTo(made, key))
  t.equal((await browser.visit(answer.to)).response.status, 400)
  const strange = { ...sent, requestId: '_short' }
  t.match((await post(world, sent, answerTo(strange, key))).html, /no request of ours/)

  // what the provider begins is begun again by the application, and counts for nothing itself
  const unsolicited = answerTo(sent, key, MALLORY, { inResponseTo: null, confirmedFor: null })
  const begun = await post(world, sent, unsolicited, { RelayState: 'https://evil.example/' })
  t.same([begun.status, begun.to], [303, 'http://acme.example:8000/'])
  const half = answerTo(sent, key, MALLORY, { inResponseTo: null })
  t.equal((await post(world, sent, half)).to, 'http://acme.example:8000/')
  t.strictSame(await identitiesOf(world), [])
  t.equal((await usersOf(world)).length, 1)
})

t.test("another connection, and another tenant's", async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const twin = await activeSaml(world, 'acme', [key.certificate], { name: 'Twin' })
  const { updatedAt } = connection // as if both had been made in the same moment
  await world.store.change(({ queries }) =>
    updateConnection(queries, 'acme', twin.connectionId, { updatedAt }),
  )
  const other = await world.tenant('other')
  const foreign = await activeSaml(world, 'other', [key.certificate])
  const person = await away(world, tenant, connection)
  const xml = answerTo(person.sent, key)
  const moved = (url: string, to: { connectionId: string }, tenantId = 'acme') =>
    url.replace(connection.connectionId, to.connectionId).replace('/acme/', `/${tenantId}/`)

  const atTwin = { acsUrl: moved(person.sent.acsUrl, twin) }
  t.match((await post(world, atTwin, xml)).html, /Destination/)
  const forTwin = { ...person.sent, ...atTwin, audience: moved(person.sent.audience, twin) }
  const mixed = await post(world, atTwin, answerTo(forTwin, key))
  t.equal(mixed.status, 303, 'right in itself')
  const back = await person.browser.visit(mixed.to)
  t.equal(back.response.status, 400)
  t.match(back.html, /of another connection/)
  const redirected = moved(mixed.to, connection).replace(twin.connectionId, connection.connectionId)
  const again = await away(world, tenant, connection)
  const hijack = new URL(redirected)
  hijack.searchParams.set('state', again.sent.requestId.slice(1))
  t.equal((await again.browser.visit(hijack.href)).response.status, 400)

  const atOther = { acsUrl: moved(person.sent.acsUrl, foreign, 'other') }
  t.match((await post(world, atOther, xml)).html, /Destination/)
  const unknown = { acsUrl: moved(person.sent.acsUrl, connection, 'other') }
  t.equal((await post(world, unknown, xml)).status, 404, "tenant A's connection for B")
  t.equal((await away(world, other, foreign)).sent.acsUrl, atOther.acsUrl)
  t.strictSame(await identitiesOf(world), [])
})

t.test('late, after a change, with another form, and what is too large', async (t) => {
  let aheadMs = 0
  const clock = clockOf(() => Date.now() + aheadMs)
  const { world, tenant, key, connection } = await startSaml(t, { clock })
  const late = await away(world, tenant, connection)
  const answer = await post(world, late.sent, answerTo(late.sent, key))
  aheadMs = 121_000
  const back = await late.browser.visit(answer.to)
  t.equal(back.response.status, 400, 'the browser goes on at once, or not at all')
  aheadMs = 0
  const changed = await away(world, tenant, connection)
  await world.samlConnections.patch(
    'acme',
    connection.connectionId,
    { emailAttribute: 'mail' },
    {
      name: 'olga',
      requestId: '',
    },
  )
  t.match((await comeBack(world, changed, answerTo(changed.sent, key))).html, /changed meanwhile/)

  const send = (body: string | URLSearchParams, type?: string) =>
    new Browser(world.baseUrl).once(late.sent.acsUrl, {
      method: 'POST',
      body,
      ...(type !== undefined && { headers: { 'content-type': type } }),
    })
  t.equal((await send('{}', 'application/json')).status, 400)
  t.equal((await send(new URLSearchParams({ SAMLRequest: 'x' }))).status, 400)
  const twice = new URLSearchParams([
    ['SAMLResponse', posted(answerTo(late.sent, key, MALLORY))],
    ['SAMLResponse', posted(answerTo(late.sent, key, GRACE))],
  ])
  t.equal((await send(twice)).status, 400)
  t.equal((await send(new URLSearchParams({ SAMLResponse: 'A'.repeat(600_000) }))).status, 400)
  t.equal((await new Browser(world.baseUrl).once(late.sent.acsUrl)).status, 404, 'never by GET')
  t.strictSame(await identitiesOf(world), [])
})

t.test('what a response says is in no log and no address', async (t) => {
  const { world, tenant, key, connection } = await startSaml(t)
  const person = await away(world, tenant, connection)
  const answer = await post(world, person.sent, answerTo(person.sent, key))
  await person.browser.visit(answer.to)
  const evil = await away(world, tenant, connection)
  await comeBack(world, evil, answerTo(evil.sent, key).replace('grace-1', 'mallory'))
  t.notMatch(world.logged.join(''), /grace@company|SAMLResponse|mallory|grace-1/)
  t.notMatch(answer.to, /grace/)
})
