/** What names a machine to its application fits into what gateways take, whatever it is called. */
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import * as v from 'valibot'
import { createServiceIdentities } from '../../../control-plane/tenants/service-identities.ts'
import { EnforcedServicesSchema } from '../../../shared/fleet/services.ts'
import { LIMITS } from '../../../shared/limits.ts'

const [tenantId, serviceId] = ['a'.repeat(63), `svc_${'0'.repeat(16)}`]
const baseUrl = 'https://sign-in.customers.some-company.example.com'

void t.test('the longest name of a machine, signed with a key of their own', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 })
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const identities = createServiceIdentities({ vault: { open: () => pem }, baseUrl })
  const ofKey = { kid: 'k'.repeat(43), publicJwk: { n, e }, privatePemSealed: '' }
  const key = { ...ofKey, tenantId, phase: 'current' as const, createdAt: 0 }
  const keys = [{ ...key, promotedAt: 0, retiredAt: null }]
  const times = { createdAt: 0, identityAt: Date.parse('2026-11-28T05:00:00Z'), seenAt: null }
  const one = { tenantId, serviceId, isDisabled: false, seenIp: null, ...times }
  const tokenOf = (name: string) => {
    const services = [{ ...one, name }]
    const told = identities.of({ services, secrets: [], access: undefined, keys })
    t.ok(v.is(EnforcedServicesSchema, told), 'gateways take it')
    const [, payload = ''] = told?.services[0]?.identity.split('.') ?? []
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { name: string }
  }
  t.equal(tokenOf('Nightly export').name, 'Nightly export')
  const longest = '\u6e2c'.repeat(LIMITS.serviceNameCharactersMax)
  const { name } = tokenOf(longest)
  t.ok(longest.startsWith(name) && name.length > 50, 'as much of it as there is room for')
  t.match(tokenOf('Nightly export'), { sub: serviceId, aud: `${tenantId}-user` })
})
