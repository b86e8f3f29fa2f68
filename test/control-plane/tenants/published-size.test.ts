/** What gateways are told of a tenant always fits, whatever its administrators add; and less of it always goes out. */
import t from 'tap'
import { canonicalJson } from '../../../shared/fleet/digest.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { PURPOSES } from '../../../control-plane/keys/sealed-columns.ts'
import { writeChange } from '../../../control-plane/fleet/outgoing.ts'
import { upsertCertificate } from '../../../control-plane/store/queries/certificates.ts'
import {
  insertConnector,
  insertConnectorKey,
} from '../../../control-plane/store/queries/connectors.ts'
import { publishedBytes } from '../../../control-plane/tenants/published-size.ts'
import { startApi } from '../../support/api.ts'
import { acme, authorityPem } from '../../support/certificates.ts'

type Api = Awaited<ReturnType<typeof startApi>>

const REFUSED = { status: 409, body: { error: 'tenant_too_large' } }
const ONE = '/tenants/acme'

const paths = (count: number, lead: string) =>
  Array.from({ length: count }, (_, at) => `/${lead}${at}`.padEnd(LIMITS.pathPrefixBytesMax, 'x'))
const hostnames = Array.from(
  { length: LIMITS.hostnamesPerTenantMax },
  (_, at) => `h${at}.acme.test`,
)
const rules = (count: number, clause: object) => ({
  rules: Array.from({ length: count }, (_, at) => ({
    path: `/${at}`.padEnd(400, 'r'),
    allow: [clause],
  })),
})

async function sent({ services }: Api) {
  const change = await services.fleetSource.snapshot('acme')
  if (change?.snapshot == null) throw new Error('it is not published')
  return { change, snapshot: change.snapshot, bytes: canonicalJson(change.snapshot).length }
}

async function machine({ operator }: Api, name: string) {
  const { body } = await operator('POST', `${ONE}/services`, { name })
  const id = String(body['service_id'])
  const secret = () => operator('POST', `${ONE}/services/${id}/secrets`, {})
  return { id, secrets: [(await secret()).body, (await secret()).body] }
}

void t.test('it is never counted as less than what is sent', async (t) => {
  const api = await startApi(t)
  const { operator, tenant, services } = api
  await tenant('acme', { hostnames, sealed: paths(20, 's'), excluded: paths(20, 'e') })
  await operator('POST', `${ONE}/publish`)
  await operator('PUT', `${ONE}/certificates/h0.acme.test`, {
    certificate_pem: acme.certificatePem + authorityPem,
    private_key_pem: acme.privateKeyPem,
  })
  for (let at = 0; at < 20; at++)
    await operator('POST', `${ONE}/groups`, { name: `group ${at}`.padEnd(64, 'g') })
  const machines = []
  for (let at = 0; at < 5; at++) machines.push(await machine(api, '\u6e2c'.repeat(100)))
  const clauses = [
    ...Array.from({ length: 20 }, (_, at) => ({ group: `group ${at}`.padEnd(64, 'g') })),
    ...machines.map(({ id }) => ({ service: id })),
  ]
  const many = { rules: clauses.flatMap((clause) => rules(2, clause).rules) }
  const put = await operator('PUT', `${ONE}/access-rules`, many)
  t.equal(put.status, 200)
  await operator('PATCH', `${ONE}/services/${machines[0]?.id}`, { is_disabled: true })
  for (let at = 0; at < 3; at++) {
    await operator('POST', `${ONE}/keys/rotate`, { phase: 'prepare' })
    await operator('POST', `${ONE}/keys/rotate`, { phase: 'promote' })
  }
  await operator('POST', `${ONE}/client-secret/rotate`, {})
  const { snapshot, bytes } = await sent(api)
  t.match(snapshot, { services: { services: { length: 5 } }, access: { slots: { length: 20 } } })
  t.ok((snapshot.services?.clauses?.length ?? 0) > 0 && snapshot.keys.length === 4)
  const counted = await publishedBytes(services.store.read, 'acme')
  t.ok(bytes <= counted, `${bytes} bytes of at most ${counted}`)

  await operator('PATCH', ONE, { mode: 'connector' })
  const most = LIMITS.connectorsPerTenantMax
  await services.store.change(async ({ queries }) => {
    for (let at = 0; at < most; at++) {
      const connectorId = `con_${String(at).padStart(16, '0')}`
      const own = { connectorId, tenantId: 'acme' }
      const facts = { tokenId: '', name: 'c', program: '1', presence: 'disconnected' }
      const times = { joinedAt: at, seenAt: 0, presenceAt: null, requests: 0, authority: '' }
      await insertConnector(queries, { ...own, ...facts, ...times })
      for (const isNext of [true, false]) {
        const keyId = `cok_${at}_${isNext}`.padEnd(20, '0')
        const key = { keyId, publicKey: 'k'.repeat(43), createdAt: 0, isNext }
        await insertConnectorKey(queries, { ...own, ...key })
      }
    }
  })
  const dialled = await sent(api)
  t.match(dialled.snapshot, { connectors: { length: most } })
  const room = (await publishedBytes(services.store.read, 'acme')) - counted
  t.ok(dialled.bytes - bytes <= room, `${dialled.bytes - bytes} bytes of connectors, ${room}`)
})

void t.test('what would be too much in sum is refused, and taking away never is', async (t) => {
  const api = await startApi(t)
  const { operator, tenant } = api
  const most = LIMITS.pathPrefixesPerTenantMax
  await tenant('acme', { hostnames, sealed: paths(most, 's'), excluded: paths(most - 1, 'e') })
  await operator('POST', `${ONE}/publish`)
  const { secrets, id } = await machine(api, 'nightly')
  const large = {
    certificate_pem: acme.certificatePem + authorityPem.repeat(90),
    private_key_pem: acme.privateKeyPem,
  }
  await operator('PATCH', ONE, { hostnames: ['acme.localhost', ...hostnames.slice(1)] })
  t.equal((await operator('PUT', `${ONE}/certificates/acme.localhost`, large)).status, 200)
  await fillCertificates(api)
  const wished = rules(560, { signed_in: true })
  const refused = await operator('PUT', `${ONE}/access-rules`, wished)
  t.match(refused, REFUSED, 'rules that are within their own bounds')
  t.match(refused.body['detail'], /Remove what is no longer needed/)
  await fillRules(api)
  t.match(await operator('POST', `${ONE}/services`, { name: 'one more' }), REFUSED)
  t.match(await operator('PATCH', ONE, { excluded: paths(most, 'e') }), REFUSED)
  const { bytes } = await sent(api)
  t.ok(bytes <= LIMITS.snapshotBytesMax, `${bytes} bytes go out`)

  for (const [method, path, body] of [
    ['DELETE', `${ONE}/services/${id}/secrets/${String(secrets[0]?.['secret_id'])}`, undefined],
    ['PATCH', `${ONE}/services/${id}`, { is_disabled: true }],
    ['PATCH', ONE, { sealed: paths(most - 1, 's'), name: 'Acme' }],
    ['PUT', `${ONE}/access-rules`, rules(1, { signed_in: true })],
    ['POST', `${ONE}/keys/rotate`, { phase: 'prepare' }],
    ['POST', `${ONE}/suspend`, undefined],
  ] as const) {
    const { status } = await operator(method, path, body)
    t.ok(status < 300, `${method} ${path}: ${status}`)
  }
  t.equal((await sent(api)).snapshot.status, 'suspended')
})

/** As they lie there from before; the next one is refused for what they are in sum. */
async function fillCertificates({ services }: Api) {
  const { store, vault, clock } = services
  const pem = acme.certificatePem + authorityPem.repeat(90)
  await store.change(async ({ queries }) => {
    for (const hostname of hostnames.slice(1, 8))
      await upsertCertificate(queries, {
        ...{ hostname, tenantId: 'acme', certificatePem: pem, isOrdered: false },
        privateKeySealed: vault.seal(
          acme.privateKeyPem.padEnd(8192),
          PURPOSES.certificate({ tenantId: 'acme', hostname }),
        ),
        ...{ notAfter: clock.nowMs() + 1e9, updatedAt: clock.nowMs() },
      })
  })
}

/** As many as there is room for. */
async function fillRules({ operator }: Api) {
  for (let [fits, most] = [0, 560]; most - fits > 1;) {
    const middle = Math.floor((fits + most) / 2)
    const { status } = await operator(
      'PUT',
      `${ONE}/access-rules`,
      rules(middle, { signed_in: true }),
    )
    if (status === 200) fits = middle
    else most = middle
  }
}

void t.test('a tenant that is too large from before is suspended all the same', async (t) => {
  const api = await startApi(t)
  const { operator, tenant, services } = api
  const { store, vault, clock } = services
  await tenant('acme', { hostnames, sealed: paths(100, 's') })
  await operator('POST', `${ONE}/publish`)
  const key = acme.privateKeyPem.padEnd(LIMITS.privateKeyBytesMax)
  await store.change(async (change) => {
    for (const hostname of hostnames)
      await upsertCertificate(change.queries, {
        ...{ hostname, tenantId: 'acme', certificatePem: acme.certificatePem, isOrdered: false },
        privateKeySealed: vault.seal(key, PURPOSES.certificate({ tenantId: 'acme', hostname })),
        ...{ notAfter: clock.nowMs() + 1e9, updatedAt: clock.nowMs() },
      })
    await change.touch('acme')
  })
  const before = await sent(api)
  t.ok(before.bytes > LIMITS.snapshotBytesMax)
  t.match(writeChange(before.change, 'print').problem, /at most/)
  t.equal((await operator('POST', `${ONE}/suspend`)).status, 200)
  const told = writeChange((await sent(api)).change, 'print')
  t.equal(told.problem, null)
  t.ok(told.bytes < LIMITS.snapshotBytesMax)
  const message = JSON.parse(told.text) as { snapshot: { status: string; edge_urls: object } }
  t.equal(message.snapshot.status, 'suspended')
  t.equal(Object.keys(message.snapshot.edge_urls).length, hostnames.length)
})
