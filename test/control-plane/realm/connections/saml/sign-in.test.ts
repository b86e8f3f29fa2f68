/** People come in by SAML, in the same funnel as by any other connection. */
import { verify } from 'node:crypto'
import { decodeJwt } from 'jose'
import t from 'tap'
import { insertAttributes } from '../../../../../control-plane/store/queries/attributes.ts'
import { publicKeyOf } from '../../../../../control-plane/connections/saml/certificates.ts'
import { readXml } from '../../../../../control-plane/connections/saml/xml.ts'
import { schema } from '../../../../../control-plane/store/schema.ts'
import { ACTOR, ADA, Browser, relyingParty } from '../../realm-world.ts'
import { begin, enrolApp, isAskingForCode, isAskingForPassword } from '../../steps.ts'
import { identitiesOf, usersOf } from '../connected.ts'
import {
  activeSaml,
  answerTo,
  away,
  comeBack,
  GRACE,
  post,
  SETTINGS,
  startSaml,
} from './connected-by-saml.ts'
import {
  ENTITY_ID,
  metadataXml,
  newSigningKey,
  requestIn,
  SSO_URL,
  type Person,
} from './saml-peer.ts'

const MFA = 'http://schemas.microsoft.com/claims/multipleauthn'

type Came = Awaited<ReturnType<typeof startSaml>>

async function come({ world, tenant, key, connection }: Came, person: Person = GRACE) {
  const one = await away(world, tenant, connection)
  return { ...one, back: await comeBack(world, one, answerTo(one.sent, key, person)) }
}

t.test('a person who is new comes in, and the next time as the same person', async (t) => {
  const came = await startSaml(t)
  const { world, tenant, connection } = came
  const first = await come(came)
  t.match(first.page.html, 'Continue with Company')
  t.ok(first.to.startsWith(`${SSO_URL}&SAMLRequest=`), 'what is in its address stays')
  t.same([first.sent.isForced, first.sent.url.searchParams.has('Signature')], [false, false])
  const claims = await first.claims(first.back.url)
  t.match(claims, { email: 'grace@company.example', name: 'Grace Hopper', acr: 'aal1' })
  t.match(await identitiesOf(world), [{ issuer: ENTITY_ID, subject: 'grace-1' }])

  const renamed = { ...GRACE, attributes: { email: ['hopper@company.example'] } }
  const again = await come(came, renamed)
  t.equal((await again.claims(again.back.url)).sub, claims.sub, 'whatever their address is by now')
  t.equal((await usersOf(world)).length, 2)
  const gone = await away(world, tenant, connection)
  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  t.equal((await comeBack(world, gone, answerTo(gone.sent, came.key))).status, 400)
})

t.test('an account that is here first is connected by whoever can open it', async (t) => {
  const came = await startSaml(t)
  const { world, tenant } = came
  const mine = { ...GRACE, attributes: { email: ['ada@example.test'] } }
  const { browser, back, claims } = await come(came, mine)
  t.ok(isAskingForPassword(back.html))
  t.match(back.html, /There is already an account/)
  t.strictSame(await identitiesOf(world), [])
  const done = await browser.submit(back.url, ADA)
  t.equal((await claims(done.url)).sub, tenant.ada.userId)
  t.match(await identitiesOf(world), [{ subject: 'grace-1', userId: tenant.ada.userId }])
})

t.test('an attribute that identifies people, and what may not', async (t) => {
  const settings = { subjectAttribute: 'urn:oid', emailAttribute: 'mail', nameAttribute: 'full' }
  const came = await startSaml(t, {}, settings)
  const { world } = came
  const said = (attributes: Record<string, string[]>, nameId = 'x'): Person => {
    return {
      nameId,
      nameIdFormat: null,
      attributes: { mail: ['g@company.example'], ...attributes },
    }
  }
  for (const person of [
    said({}),
    said({ 'urn:oid': ['one', 'two'] }),
    said({ 'urn:oid': [] }),
    said({ 'urn:oid': ['G@Company.example'] }),
    said({ 'urn:oid': ['with space'] }),
  ])
    t.equal((await come(came, person)).back.status, 400)
  t.strictSame(await identitiesOf(world), [])
  const { back, claims, sent } = await come(came, said({ 'urn:oid': ['77'], full: ['Grace H.'] }))
  t.notMatch(sent.xml, 'NameIDPolicy')
  t.match(await claims(back.url), { email: 'g@company.example', name: 'Grace H.' })
  t.match(await identitiesOf(world), [{ subject: '77' }])

  const byNameId = await startSaml(t)
  const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
  for (const nameIdFormat of [null, transient]) {
    const refused = await come(byNameId, { ...GRACE, nameIdFormat })
    t.match(refused.back.html, /NameID is not persistent/)
  }
  t.match((await come(byNameId)).sent.xml, 'nameid-format:persistent')
})

t.test('a NameID of another name space is nobody’s here', async (t) => {
  const came = await startSaml(t)
  const { world, tenant, connection } = came
  for (const other of [
    { nameQualifier: 'https://idp.mallory.example' },
    { spNameQualifier: 'https://other.company.example' },
    { nameQualifier: '' },
    { nameQualifier: ENTITY_ID, spNameQualifier: ENTITY_ID },
  ])
    t.match((await come(came, { ...GRACE, ...other })).back.html, /NameID is qualified for another/)
  t.strictSame(await identitiesOf(world), [])
  const { audience } = (await away(world, tenant, connection)).sent
  const own = { nameQualifier: ENTITY_ID, spNameQualifier: audience }
  const { back, claims } = await come(came, { ...GRACE, ...own })
  const { sub } = await claims(back.url)
  const again = await come(came)
  t.equal((await again.claims(again.back.url)).sub, sub, 'said or not, it is the same')
  t.equal((await identitiesOf(world)).length, 1)
})

t.test('whose address an attribute is counts once it was tested', async (t) => {
  const { world, connection } = await startSaml(t)
  const { connectionId } = connection
  const patch = (settings: object) =>
    world.samlConnections.patch('acme', connectionId, settings, ACTOR)
  t.equal((await patch({ nameAttribute: 'cn' })).state, 'active')
  t.equal((await patch({ emailAttribute: null })).state, 'active', 'as before')
  t.equal((await patch({ emailAttribute: 'otherMailbox' })).state, 'draft')
})

t.test('a second factor is asked for here, unless it is mapped', async (t) => {
  const came = await startSaml(t)
  const { world, connection } = came
  const first = await come(came)
  const { sub } = await first.claims(first.back.url)
  await enrolApp(world, came.tenant, sub)
  await world.policies.put('acme', 'mfa', { mode: 'required', risks: [] }, ACTOR)
  const strong = { ...GRACE, authnContext: MFA }
  t.ok(isAskingForCode((await come(came, strong)).back.html), 'nobody has mapped it')
  const { connectionId } = connection
  await world.samlConnections.patch('acme', connectionId, { mfaValues: [MFA] }, ACTOR)
  t.ok(isAskingForCode((await come(came)).back.html), 'another one')
  const mapped = await come(came, strong)
  t.match(await mapped.claims(mapped.back.url), { sub, acr: 'aal2', amr: ['mfa'] })
  // an attribute of that name is no claim
  const attributes = { ...GRACE.attributes, acr: [MFA], amr: [MFA] }
  t.ok(isAskingForCode((await come(came, { ...GRACE, attributes })).back.html))
})

t.test(
  'a proof is as old as the provider says, and asked for anew where that is wanted',
  async (t) => {
    const came = await startSaml(t)
    const { world, tenant, key, connection } = came
    const hoursAgo = Date.now() - 2 * 3_600_000
    const old = await come(came, { ...GRACE, authnInstant: hoursAgo })
    const { id_token: token = '' } = await old.flow.finish(old.back.url)
    t.equal(decodeJwt(token).auth_time, Math.floor(hoursAgo / 1000))
    const fresh = await away(world, tenant, connection, { prompt: 'login' })
    t.ok(fresh.sent.isForced)
    const back = await comeBack(world, fresh, answerTo(fresh.sent, key))
    t.match(await fresh.claims(back.url), { email: 'grace@company.example' })
  },
)

t.test('groups come and go as they are mapped, and no others', async (t) => {
  const groups = [
    { value: 'Finance Team', group: 'finance' },
    { value: 'Heads', group: 'finance' },
    { value: 'Ops', group: 'ops' },
  ]
  const came = await startSaml(t, {}, { groupsAttribute: 'groups', groups })
  const { world } = came
  for (const name of ['finance', 'ops', 'admins'])
    await world.groups.create('acme', { name }, ACTOR)
  const inGroups = (...values: string[]): Person => {
    return { ...GRACE, attributes: { ...GRACE.attributes, groups: values } }
  }
  const held = async () => {
    const rows = await world.store.read.select().from(schema.groupMembers)
    return rows.map(({ group, source }) => `${group} (${source})`).sort()
  }
  const { back, claims } = await come(came, inGroups('Heads', 'admins', 'Ops'))
  const { sub } = await claims(back.url)
  t.same(await held(), ['finance (connection)', 'ops (connection)'], 'never by a name alone')
  const mine = { tenantId: 'acme', group: 'ops', userId: sub, source: 'local' } as const
  await world.groups.add(mine, ACTOR)
  await come(came)
  t.equal((await held()).length, 3, 'a provider that says nothing changes nothing')
  await come(came, inGroups('Finance Team'))
  t.same(await held(), ['finance (connection)', 'ops (local)'], 'others stay')
  await world.groups.remove('acme', 'ops', ACTOR)
  await come(came, inGroups('Ops'))
  t.same(await held(), [], 'a group that is gone is not there')
  const audit = await world.store.read.select().from(schema.audit)
  t.ok(audit.some(({ action }) => action === 'group.member_added'))
})

t.test('attributes come and go as they are mapped, and end with their mapping', async (t) => {
  const attributes = [
    { attribute: 'department', claim: 'http://acme.example/dept' },
    { attribute: 'floor', claim: 'floor' },
  ]
  const came = await startSaml(t, {}, { attributes })
  const { world, connection } = came
  const with_ = (more: Record<string, string[]>): Person => {
    return { ...GRACE, attributes: { ...GRACE.attributes, ...more } }
  }
  const { back, claims } = await come(came, with_({ 'http://acme.example/dept': ['audit', 'tax'] }))
  const { sub } = await claims(back.url)
  const held = async () =>
    (await world.personAttributes.list('acme', sub)).map(
      ({ name, value, source }) => `${name}=${value} (${source})`,
    )
  const both = ['department=audit (connection)', 'department=tax (connection)']
  t.same(await held(), both)
  await come(came, with_({ floor: ['3'] }))
  t.same(await held(), [...both, 'floor=3 (connection)'], 'what is not said is not changed')
  await come(came, with_({ 'http://acme.example/dept': ['tax'] }))
  t.same(await held(), [both[1], 'floor=3 (connection)'])
  const mapping = { attributes: [attributes[1]!] }
  await world.samlConnections.patch('acme', connection.connectionId, mapping, ACTOR)
  t.same(await held(), ['floor=3 (connection)'], 'nothing maps the department any more')
  const left = { tenantId: 'acme', userId: sub, name: 'left', value: 'x', createdAt: 1 }
  const leave = () =>
    world.store.change(({ queries }) =>
      insertAttributes(queries, [{ ...left, source: 'connection' }]),
    )
  await leave()
  await world.samlConnections.patch('acme', connection.connectionId, mapping, ACTOR)
  t.same(await held(), ['floor=3 (connection)'], 'nor what a process that ended has left')
  await leave()
  await world.connections.patch('acme', connection.connectionId, { attributes: [] }, ACTOR)
  t.same(await held(), [])
})

t.test(
  'a test sign-in shows each attribute and what it comes to, and lets nobody in',
  async (t) => {
    const { world, tenant } = await startSaml(t)
    const key = await newSigningKey()
    const settings = { ...SETTINGS, metadata: metadataXml([key.certificate]) }
    const { connectionId } = await world.samlConnections.create('acme', settings, ACTOR)
    const activate = () => world.connections.activate('acme', connectionId, ACTOR)
    await t.rejects(activate(), { code: 'connection_not_tested' })
    const { browser } = await begin(world, tenant)
    const of = { tenantId: 'acme', connectionId }
    const tested = async (person: Person) => {
      const { url } = world.connectionTickets.linkFor(world.baseUrl, of, 'olga')
      const sent = requestIn((await browser.once(url)).headers.get('location') ?? '')
      return browser.visit((await post(world, sent, answerTo(sent, key, person))).to)
    }
    const attributes = { ...GRACE.attributes, department: ['<b>x'], __proto__: ['p'] }
    const failing = await tested({ ...GRACE, nameIdFormat: null, attributes })
    t.match(failing.html, /NameID is not persistent/)
    t.match(failing.html, /attribute department/, 'what there would be to choose')
    await t.rejects(activate(), { code: 'connection_not_tested' })
    const page = await tested({ ...GRACE, attributes })
    t.match(page.html, /The test passed/)
    t.match(page.html, /&lt;b&gt;x/)
    t.match(page.html, /grace-1/)
    t.equal((await usersOf(world)).length, 1)
    t.match(await activate(), { state: 'active' })
  },
)

t.test('a request is signed, with the key in our own metadata', async (t) => {
  const { world, tenant, connection } = await startSaml(t, {}, { signsRequests: true })
  const { sent, browser } = await away(world, tenant, connection)
  const response = await browser.once(sent.audience)
  t.match(response.headers.get('content-type'), 'application/samlmetadata+xml')
  const metadata = await response.text()
  t.match(metadata, `Location="${sent.acsUrl}"`)
  t.match(metadata, `entityID="${sent.audience}"`)
  t.match(metadata, 'AuthnRequestsSigned="true"')
  readXml(metadata.replace(/^<\?.*\n/, '').trim(), {
    elementsMax: 20,
    depthMax: 8,
    attributesMax: 40,
  })
  const certificate = /<X509Certificate>([^<]+)/.exec(metadata)?.[1] ?? ''
  const [signed = '', signature = ''] = sent.url.search
    .replace('?tenant=1&', '')
    .split('&Signature=')
  const bytes = Buffer.from(decodeURIComponent(signature), 'base64')
  t.ok(verify('sha256', Buffer.from(signed), publicKeyOf(certificate), bytes))
  const unsigned = await activeSaml(world, 'acme', [certificate])
  const other = await away(world, tenant, unsigned)
  t.notMatch(await (await browser.once(other.sent.audience)).text(), 'X509Certificate')
})

t.test('two certificates at once, and then the new one alone', async (t) => {
  const came = await startSaml(t)
  const { world, key, connection } = came
  const { connectionId } = connection
  const next = await newSigningKey()
  const upload = (...certificates: string[]) =>
    world.samlConnections.patch(
      'acme',
      connectionId,
      { metadata: metadataXml(certificates) },
      ACTOR,
    )
  t.equal((await come({ ...came, key: next })).back.status, 400, 'nobody knows it yet')
  const both = await upload(key.certificate, next.certificate)
  t.same([both.state, both.certificates.length], ['active', 2])
  const [old, now] = [await come(came), await come({ ...came, key: next })]
  t.equal((await old.claims(old.back.url)).sub, (await now.claims(now.back.url)).sub)
  t.equal((await upload(next.certificate)).state, 'active')
  t.equal((await come(came)).back.status, 400, 'the old one counts no more')
  const audit = await world.store.read.select().from(schema.audit)
  const changes = audit.filter(({ action }) => action === 'connection.changed')
  t.match(JSON.stringify(changes.at(-1)), /certificates_removed/)
  const foreign = await newSigningKey()
  t.equal(
    (await upload(foreign.certificate)).state,
    'draft',
    'with none in common it is another one',
  )
})

t.test('where it is required, people come by SAML alone, in one step', async (t) => {
  const came = await startSaml(t)
  const { world, tenant, key, connection } = came
  const required = { sign_in: 'break_glass', break_glass: [] } as const
  await world.policies.put('acme', 'password', required, ACTOR)
  const arrive = async () => {
    const flow = await (await relyingParty(tenant)).begin()
    const browser = new Browser(world.baseUrl)
    const sent = await browser.once(flow.url)
    const { href: url } = new URL(sent.headers.get('location') ?? '', world.baseUrl)
    const claims = async (callback: string) => (await flow.finish(callback)).claims()
    return { browser, url, claims }
  }
  const grace = await arrive()
  let at = await grace.browser.once(grace.url)
  let to = new URL(at.headers.get('location') ?? '', world.baseUrl).href
  while (to.startsWith(world.baseUrl)) {
    at = await grace.browser.once(to)
    to = new URL(at.headers.get('location') ?? '', world.baseUrl).href
  }
  t.ok(to.startsWith(SSO_URL), 'nothing stands between')
  const answer = await post(world, requestIn(to), answerTo(requestIn(to), key))
  const back = await grace.browser.visit(answer.to)
  t.match(await grace.claims(back.url), { email: 'grace@company.example' })

  const ada = await arrive()
  const page = await ada.browser.visit(`${ada.url}&emergency`)
  t.ok(isAskingForPassword(page.html))
  const refused = await ada.browser.submit(page.url, ADA)
  t.equal(refused.response.status, 422)
  t.match(refused.html, 'Wrong username or password, or this account can’t sign in')
  t.notOk(refused.url.startsWith(tenant.redirectUri), 'a right password opens nothing')

  // an account that is here first shows its password for the connection, and for nothing else
  const mine = { ...GRACE, nameId: 'ada-1', attributes: { email: ['ada@example.test'] } }
  const first = await arrive()
  let next = first.url
  while (next.startsWith(world.baseUrl)) {
    const step = await first.browser.once(next)
    next = new URL(step.headers.get('location') ?? '', world.baseUrl).href
  }
  const proven = await post(world, requestIn(next), answerTo(requestIn(next), key, mine))
  const asked = await first.browser.visit(proven.to)
  t.ok(isAskingForPassword(asked.html))
  const linked = await first.browser.submit(asked.url, ADA)
  t.equal((await first.claims(linked.url))?.sub, tenant.ada.userId)
  const closing = world.connections.deactivate('acme', connection.connectionId, ACTOR)
  await t.rejects(closing, { code: 'connection_required' })
})
