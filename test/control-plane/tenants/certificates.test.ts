import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { startApi } from '../../support/api.ts'
import { acme, authorityPem, expired, other, weak } from '../../support/certificates.ts'

const body = (pair: { certificatePem: string; privateKeyPem: string }) => ({
  certificate_pem: pair.certificatePem,
  private_key_pem: pair.privateKeyPem,
})

const keyOf = (modulusLength: number) =>
  String(
    generateKeyPairSync('rsa', { modulusLength }).privateKey.export({
      format: 'pem',
      type: 'pkcs8',
    }),
  )

void t.test('a certificate is kept sealed, and reaches the gateways with its chain', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  const chain = { ...acme, certificatePem: acme.certificatePem + authorityPem }
  const answer = await operator('PUT', '/tenants/acme/certificates/ACME.localhost', body(chain))
  t.strictSame(answer.body, {
    hostname: 'acme.localhost',
    not_before: '2020-01-01T00:00:00.000Z',
    not_after: '2120-01-01T00:00:00.000Z',
    fingerprint_sha256: answer.body['fingerprint_sha256'],
  })
  t.match(answer.body['fingerprint_sha256'], /^[0-9a-f]{64}$/)
  const { snapshot } = (await services.fleetSource.snapshot('acme')) ?? {}
  t.strictSame(snapshot?.certificates, [{ hostname: 'acme.localhost', ...body(chain) }])
  t.equal(snapshot?.revision, await services.store.revision())

  const [row] = await services.store.read.select().from(schema.tenantCertificates)
  t.notMatch(JSON.stringify(row), /PRIVATE KEY/)
  t.notMatch(JSON.stringify((await operator('GET', '/tenants/acme')).body), /PRIVATE KEY/)

  await operator('PATCH', '/tenants/acme', { hostnames: ['elsewhere.test'] })
  t.strictSame((await services.fleetSource.snapshot('acme'))?.snapshot?.certificates, [])
})

void t.test('what would not work at the edge is refused', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await tenant('acme', { hostnames: ['acme.localhost', 'shop.acme.test', 'deep.shop.acme.test'] })
  await tenant('other')
  const put = (hostname: string, pair: typeof acme, id = 'acme') =>
    operator('PUT', `/tenants/${id}/certificates/${hostname}`, body(pair))
  const revision = await services.store.revision()
  const refused: [string, Awaited<ReturnType<typeof put>>, string][] = [
    [
      'a key of another',
      await put('acme.localhost', { ...acme, privateKeyPem: other.privateKeyPem }),
      'private_key_pem',
    ],
    ['a name it does not have', await put('acme.localhost', other), 'certificate_pem'],
    ['one level too deep', await put('deep.shop.acme.test', acme), 'certificate_pem'],
    ['past its time', await put('acme.localhost', expired), 'certificate_pem'],
    [
      'no certificate',
      await put('acme.localhost', { ...acme, certificatePem: 'x' }),
      'certificate_pem',
    ],
    [
      'a broken one',
      await put('acme.localhost', {
        ...acme,
        certificatePem: acme.certificatePem.slice(0, 90) + '\n-----END CERTIFICATE-----',
      }),
      'certificate_pem',
    ],
    [
      'a broken chain',
      await put('acme.localhost', {
        ...acme,
        certificatePem: `${acme.certificatePem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      }),
      'certificate_pem',
    ],
    ['a key that OpenSSL refuses for TLS', await put('acme.localhost', weak), 'certificate_pem'],
    [
      'what would have to be escaped',
      await put('acme.localhost', { ...acme, privateKeyPem: `\u0001${acme.privateKeyPem}` }),
      'private_key_pem',
    ],
    ['no key', await put('acme.localhost', { ...acme, privateKeyPem: 'x' }), 'private_key_pem'],
  ]
  const slow = { ...acme, privateKeyPem: keyOf(LIMITS.tlsKeyBitsMax + 8) }
  const long = await put('acme.localhost', slow)
  t.match(long.body['detail'], /at most 4096/, 'each handshake at the edge waits for it')
  for (const [name, answer, field] of refused) {
    t.match(answer, { status: 400, body: { error: 'field_invalid', field } }, name)
    t.notMatch(JSON.stringify(answer.body), /BEGIN/, 'and nothing of it is repeated')
  }
  for (const answer of [await put('nobody.test', acme), await put('acme.localhost', acme, 'other')])
    t.match(answer, { status: 404, body: { error: 'hostname_not_found' } })
  t.equal(await services.store.revision(), revision)
  t.equal((await put('shop.acme.test', acme)).status, 200, 'a wildcard covers one label')
})

void t.test('the certificates of a tenant stay within what a gateway takes', async (t) => {
  const hostnames = Array.from({ length: 12 }, (_, index) => `h${index}.acme.test`)
  const { operator, tenant } = await startApi(t)
  await tenant('acme', { hostnames })
  const padding = authorityPem.repeat(90)
  const large = body({ ...acme, certificatePem: acme.certificatePem + padding })
  const fitting = Math.floor(LIMITS.certificateBytesPerTenantMax / large.certificate_pem.length)
  t.ok(fitting < hostnames.length && large.certificate_pem.length <= LIMITS.certificateBytesMax)
  for (const [index, hostname] of hostnames.entries()) {
    const answer = await operator('PUT', `/tenants/acme/certificates/${hostname}`, large)
    const refused = { status: 409, body: { error: 'certificates_too_large' } }
    t.match(answer, index < fitting ? { status: 200 } : refused, hostname)
  }
})
