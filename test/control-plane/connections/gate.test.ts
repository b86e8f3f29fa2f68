/** Whom a verified token names: what a preset demands and the token does not say lets nobody in. */
import t from 'tap'
import { gate, type Claims } from '../../../control-plane/connections/gate.ts'
import { presetProblem } from '../../../control-plane/connections/presets.ts'

const TID = '6babcaad-604b-40ac-a9d7-9fd97c0b779f'
const FOREIGN = '11111111-604b-40ac-a9d7-9fd97c0b779f'
const OID = '00000000-0000-0000-66f3-3332eca7ea81'
const entra = {
  preset: 'entra',
  issuer: `https://login.microsoftonline.com/${TID}/v2.0`,
  hostedDomain: null,
  mfaValues: [],
} as const
const google = {
  preset: 'google',
  issuer: 'https://accounts.google.com',
  hostedDomain: 'acme.example',
  mfaValues: [],
} as const
const oidc = { ...entra, preset: 'oidc', issuer: 'https://id.acme.example' } as const
const victim = { sub: 'pairwise', email: 'boss@acme.example', email_verified: true }

const problemOf = (connection: Parameters<typeof gate>[0], claims: Claims) => {
  const gated = gate(connection, claims)
  return gated.kind === 'refused' ? gated.problem : gated.person.subject
}

t.test('Entra: the directory is the one of the issuer, whoever the address names', async (t) => {
  t.equal(problemOf(entra, { ...victim, tid: TID, oid: OID }), OID)
  t.equal(problemOf(entra, { ...victim, tid: FOREIGN, oid: OID }), 'directory_foreign')
  t.equal(problemOf(entra, { ...victim, oid: OID }), 'directory_missing')
  t.equal(problemOf(entra, { ...victim, tid: TID }), 'object_id_missing')
  t.equal(problemOf(entra, { ...victim, tid: TID, oid: [OID] }), 'object_id_missing')
  t.equal(problemOf(entra, { tid: TID, oid: OID }), 'subject_missing')
})

t.test('Google: an account without the domain, or of another, is not of the company', async (t) => {
  t.equal(problemOf(google, { ...victim, hd: 'acme.example' }), 'pairwise')
  t.equal(problemOf(google, victim), 'hosted_domain_missing')
  for (const hd of ['evil.example', 'ACME.example', 'acme.example.evil', ''])
    t.equal(problemOf(google, { ...victim, hd }), 'hosted_domain_foreign', hd)
  t.equal(problemOf(google, { ...victim, hd: ['acme.example'] }), 'hosted_domain_missing')
})

t.test('an object of a directory has an identifier of theirs', async (t) => {
  for (const oid of [undefined, '', 7, 'grace', `${'0'.repeat(36)}x`, 'G'.repeat(36)])
    t.equal(problemOf(entra, { ...victim, tid: TID, oid }), 'object_id_missing', String(oid))
})

t.test('nobody is who has no subject; an address that is odd is none', async (t) => {
  for (const sub of [undefined, '', 7, 'two words', 'x'.repeat(256), 'zero\0', ['a']])
    t.equal(problemOf(oidc, { ...victim, sub }), 'subject_missing', String(sub))
  for (const email of ['a b@x.example', 'a@b@c', '@x', 7, ['a@x.example'], `${'x'.repeat(65)}@x.y`])
    t.match(gate(oidc, { ...victim, email }), { person: { email: undefined } }, String(email))
  t.match(gate(oidc, { ...victim, email_verified: 'true' }), { person: { isEmailVerified: false } })
})

t.test('a second factor there counts for what is mapped alone', async (t) => {
  const has = (mfaValues: string[], claims: Claims) => {
    const gated = gate({ ...oidc, mfaValues }, { ...victim, ...claims })
    return gated.kind === 'person' && gated.person.hasSecondFactor
  }
  t.notOk(has([], { amr: ['mfa'], acr: 'mfa' }))
  t.notOk(has(['mfa'], { amr: 'mfa' }), 'no list')
  t.notOk(has(['mfa'], { amr: [['mfa']] }))
  t.ok(has(['mfa'], { amr: ['pwd', 'mfa'] }))
  t.ok(has(['urn:2'], { acr: 'urn:2' }))
})

t.test('a preset takes its own issuer and no other', async (t) => {
  const wrong = ['common', 'organizations', 'consumers', '9188040d-6c67-4c5b-b112-36a304b66dad']
  for (const tenant of [...wrong, TID.toUpperCase()])
    t.match(
      presetProblem({ ...entra, issuer: `https://login.microsoftonline.com/${tenant}/v2.0` }),
      { field: 'issuer' },
      tenant,
    )
  const evil = `https://login.microsoftonline.com.evil.example/${TID}/v2.0`
  t.match(presetProblem({ ...entra, issuer: evil }), { field: 'issuer' })
  t.match(presetProblem({ ...google, issuer: evil }), { field: 'issuer' })
  t.match(presetProblem({ ...google, hostedDomain: null }), { field: 'hosted_domain' })
  t.match(presetProblem({ ...oidc, hostedDomain: 'acme.example' }), { field: 'hosted_domain' })
  // whose accounts anybody has: without what their own preset asks, all of them come in
  for (const { issuer } of [google, { issuer: `${google.issuer}/` }, entra])
    for (const preset of ['oidc', 'okta'] as const)
      t.match(presetProblem({ preset, issuer, hostedDomain: null }), { field: 'issuer' })
  for (const good of [entra, google, oidc]) t.equal(presetProblem(good), undefined)
})
