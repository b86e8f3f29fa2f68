/** What a tenant signs, proves itself and encrypts with; the secrets come out once, when they are made. */
import { CONSOLE_REALM } from '../../store/reserved.ts'
import type { HostnameCertificate } from '../../tenants/certificates.ts'
import type { RotatedSecret } from '../../tenants/client-secrets.ts'
import { clientIdOf } from '../../tenants/tenants.ts'
import {
  AnalyzerKeyAnswer,
  CertificateAnswer,
  CertificateOrderAnswer,
  ClientSecretAnswer,
  DnsRecordAnswer,
  HostnameCertificateAnswer,
  KeysAnswer,
  RotatedKeysAnswer,
} from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { enforcedAnswers } from './enforced-answers.ts'
import { NothingBody } from '../../requests/fields.ts'
import {
  AnalyzerKeyRotationBody,
  CertificateBody,
  RotationBody,
  SecretRotationBody,
} from '../../requests/key-fields.ts'
import { fromOutside, viewOf } from '../../requests/field-names.ts'
import { pageOf } from '../../requests/paging.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('keys', 'operator')
const ONE = '/api/v1/operator/tenants/{tenant_id}'
const CONSOLE_KEYS = '/api/v1/operator/console/keys'

const certificateView = (one: HostnameCertificate) => ({
  hostname: one.hostname,
  source: one.source,
  certificate: one.certificate && viewOf(CertificateAnswer)(one.certificate),
  order: one.order && viewOf(CertificateOrderAnswer)(one.order),
  dns_records: one.dnsRecords.map((record) => viewOf(DnsRecordAnswer)(record)),
})

export function keyEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, keys, certificates } = world
  const enforcement = enforcedAnswers(world)
  return [
    operator.post(`${ONE}/keys/rotate`, {
      summary: 'Rotates the signing keys by one step: prepare, promote or retire.',
      description:
        'With `prepare` you can bring your own RSA key. `retire` is refused while ' +
        'sessions signed with that key may still be active, unless forced; it waits up to a ' +
        'second for every connected gateway, and `enforced` says which no longer take the key.',
      body: RotationBody,
      example: { phase: 'prepare' },
      answers: { 200: json(RotatedKeysAnswer, 'All keys published now.') },
      refusals: ['tenant_draft', 'rotation_state', 'key_still_used', 'key_taken'],
      handle: async (c, { path: { tenant_id: tenantId }, body }) => {
        const rotated = { keys: await keys.rotate(tenantId, fromOutside(body), c.var.actor) }
        if (body.phase !== 'retire') return c.json(rotated)
        return c.json({ ...rotated, enforced: await enforcement.change(tenantId) })
      },
    }),
    operator.get(CONSOLE_KEYS, {
      summary: 'Lists the signing keys of the console realm.',
      answers: { 200: json(KeysAnswer, 'All of its keys.') },
      handle: async (c) => c.json({ keys: await keys.publicKeys(CONSOLE_REALM) }),
    }),
    operator.post(`${CONSOLE_KEYS}/rotate`, {
      summary: "Rotates the console's signing keys by one step: prepare, promote or retire.",
      description: 'Works as for a tenant. Existing console sessions continue through each step.',
      body: RotationBody,
      example: { phase: 'prepare' },
      answers: { 200: json(KeysAnswer, 'All of its keys after this step.') },
      refusals: ['rotation_state', 'key_still_used', 'key_taken'],
      handle: async (c, { body }) => {
        const wish = fromOutside(body)
        return c.json({ keys: await keys.rotate(CONSOLE_REALM, wish, c.var.actor) })
      },
    }),
    operator.get(`${ONE}/certificates`, {
      summary: 'Lists the hostnames, and how each stands with its TLS certificate.',
      answers: { 200: json(pageOf(HostnameCertificateAnswer), 'Every hostname.') },
      handle: async (c, { path }) => {
        const items = (await certificates.states(path.tenant_id)).map(certificateView)
        return c.json({ items, next: null })
      },
    }),
    operator.get('/api/v1/operator/console/certificates', {
      summary: 'Lists the names of the service itself, and how each stands with its certificate.',
      description:
        'The host of `base_url`, where the control plane serves TLS, and the wildcards of ' +
        '`control_plane.acme.wildcards`.',
      answers: { 200: json(pageOf(HostnameCertificateAnswer), 'Every name.') },
      handle: async (c) => {
        return c.json({ items: (await certificates.own()).map(certificateView), next: null })
      },
    }),
    operator.delete(`${ONE}/certificates/{hostname}`, {
      summary: 'Deletes an uploaded certificate; if certificates are ordered, one is ordered now.',
      answers: { 204: nothing('The certificate is deleted.') },
      refusals: ['certificate_not_found'],
      handle: async (c, { path }) => {
        const hostname = path.hostname.toLowerCase()
        await certificates.remove(path.tenant_id, hostname, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.post(`${ONE}/certificates/{hostname}/order`, {
      summary: 'Orders a certificate now, without waiting for the next attempt or renewal.',
      body: NothingBody,
      answers: { 202: json(CertificateOrderAnswer, 'Where the order is.') },
      refusals: ['hostname_not_found', 'certificate_not_ordered'],
      handle: async (c, { path }) => {
        const hostname = path.hostname.toLowerCase()
        const order = await certificates.order(path.tenant_id, hostname, c.var.actor)
        return c.json(viewOf(CertificateOrderAnswer)(order), 202)
      },
    }),
    operator.put(`${ONE}/certificates/{hostname}`, {
      summary: 'Sets the TLS certificate of one hostname.',
      body: CertificateBody,
      example: {
        certificate_pem: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n',
        private_key_pem: '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n',
      },
      answers: { 200: json(CertificateAnswer, 'Details of the certificate.') },
      refusals: ['hostname_not_found', 'certificates_too_large', 'tenant_too_large'],
      handle: async (c, { path, body }) => {
        const certificate = { hostname: path.hostname.toLowerCase(), ...fromOutside(body) }
        const facts = await certificates.put(path.tenant_id, certificate, c.var.actor)
        return c.json(viewOf(CertificateAnswer)(facts))
      },
    }),
    operator.post(`${ONE}/analyzer-key/rotate`, {
      summary: 'Rotates the analyzer key.',
      description: 'The old key stops working immediately, or after `overlap_seconds`.',
      body: AnalyzerKeyRotationBody,
      answers: { 200: json(AnalyzerKeyAnswer, 'The new key.') },
      handle: async (c, { path: { tenant_id: tenantId }, body: { overlap_seconds: seconds } }) => {
        const rotated = await tenants.rotateAnalyzerKey(tenantId, seconds, c.var.actor)
        return c.json(analyzerKeyView(tenantId, rotated))
      },
    }),
    operator.post(`${ONE}/analyzer-key/show`, {
      summary: 'Shows the analyzer key again; the audit trail records who asked.',
      body: NothingBody,
      answers: { 200: json(AnalyzerKeyAnswer, 'The key.') },
      handle: async (c, { path: { tenant_id: tenantId } }) => {
        const shown = await tenants.showAnalyzerKey(tenantId, c.var.actor)
        return c.json(analyzerKeyView(tenantId, shown))
      },
    }),
    operator.post(`${ONE}/client-secret/rotate`, {
      summary: 'Rotates the client secret; the previous one keeps working for a while.',
      description:
        'That is the time to update the application: nobody is signed out. Rotating again ' +
        'meanwhile ends the oldest immediately; `overlap_seconds: 0` ends all the others.',
      body: SecretRotationBody,
      answers: { 200: json(ClientSecretAnswer, 'The new secret.') },
      handle: async (c, { path: { tenant_id: tenantId }, body: { overlap_seconds: seconds } }) => {
        const rotated = await tenants.rotateClientSecret(tenantId, seconds, c.var.actor)
        return c.json(clientSecretView(tenantId, rotated))
      },
    }),
    operator.post(`${ONE}/client-secret/show`, {
      summary: 'Shows the client secret again; the audit trail records who asked.',
      body: NothingBody,
      answers: { 200: json(ClientSecretAnswer, 'The secret.') },
      handle: async (c, { path: { tenant_id: tenantId } }) => {
        const shown = await tenants.showClientSecret(tenantId, c.var.actor)
        return c.json(clientSecretView(tenantId, shown))
      },
    }),
  ]
}

const ofKey = viewOf(AnalyzerKeyAnswer)
const ofSecret = viewOf(ClientSecretAnswer)

const analyzerKeyView = (tenantId: string, { secret, previousUntilMs }: RotatedSecret) =>
  ofKey({ tenantId, analyzerKey: secret, previousValidUntil: previousUntilMs })

function clientSecretView(tenantId: string, { secret, previousUntilMs }: RotatedSecret) {
  const clientId = clientIdOf(tenantId)
  return ofSecret({ tenantId, clientId, clientSecret: secret, previousValidUntil: previousUntilMs })
}
