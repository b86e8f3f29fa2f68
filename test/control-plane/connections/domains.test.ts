/** An e-mail domain leads people to a connection while its TXT record shows that it is the tenant's. */
import t, { type Test } from 'tap'
import { domainProofOf, domainRecordOf } from '../../../control-plane/connections/domains.ts'
import { domainOfAddress } from '../../../control-plane/connections/email-domain.ts'
import { createMetrics } from '../../../control-plane/metrics.ts'
import { connectionOfDomain } from '../../../control-plane/store/queries/connection-domains.ts'
import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const DOMAIN = 'company.example'

function startRecords() {
  const records = new Map<string, string[][]>()
  let failure = ''
  const proofs = {
    resolve: async () => [],
    timeoutMs: 1000,
    async resolveTxt(name: string) {
      if (failure !== '') throw Object.assign(new Error(failure), { code: failure })
      return records.get(name) ?? []
    },
  }
  return { records, proofs, fails: (code: string) => void (failure = code) }
}

const settings = (name: string) => ({
  ...{ preset: 'oidc' as const, name, issuer: `https://${name}.example`, hostedDomain: null },
  ...{ clientId: 'service', clientSecret: 'secret', createsPeople: true, mfaValues: [] },
})

async function start(t: Test) {
  const dns = startRecords()
  const clock = movableClock()
  const services = await startServices(t, { clock, proofs: dns.proofs })
  const { tenants, connections, connectionDomains: domains, auditTrail, store } = services
  for (const id of ['acme', 'other']) await tenants.create(tenantNamed(id), ACTOR)
  const { connectionId } = await connections.create('acme', settings('one'), ACTOR)
  const second = await connections.create('acme', settings('two'), ACTOR)
  const prove = async () => {
    const { token } = await domains.add('acme', connectionId, DOMAIN, ACTOR)
    dns.records.set(domainRecordOf(DOMAIN), [['v=spf1'], ['service-', `domain=${token}`]])
    t.equal(await domains.check('acme', connectionId, DOMAIN, ACTOR), true)
    return token
  }
  return {
    ...{ ...dns, clock, services, domains, connections, connectionId, prove },
    secondId: second.connectionId,
    led: () => connectionOfDomain(store.read, 'acme', DOMAIN),
    async pass(ms: number) {
      for (const endMs = clock.nowMs() + ms; clock.nowMs() < endMs;) {
        clock.advance(Math.min(HOUR_MS, endMs - clock.nowMs()))
        if (await domains.isDue()) await domains.lookAtDue(() => false)
      }
    },
    actions: async () =>
      (await auditTrail.list({ limit: 50 }, { tenantId: 'acme' })).items
        .map(({ action }) => action)
        .filter((action) => action.startsWith('domain.')),
  }
}

void t.test('it leads nobody anywhere until its own record is found', async (t) => {
  const { domains, connectionId, records, led, clock, pass, actions } = await start(t)
  const { token } = await domains.add('acme', connectionId, ' Company.EXAMPLE ', ACTOR)
  t.equal(await led(), undefined)
  for (const text of ['service-domain=another', `service-hostname=${token}`, token])
    records.set(domainRecordOf(DOMAIN), [...(records.get(domainRecordOf(DOMAIN)) ?? []), [text]])
  records.set(DOMAIN, [[domainProofOf(token)]])
  t.equal(await domains.check('acme', connectionId, DOMAIN, ACTOR), false)
  await t.rejects(domains.check('acme', connectionId, DOMAIN, ACTOR), {
    code: 'domain_just_checked',
  })
  t.equal(await led(), undefined)
  clock.advance(LIMITS.hostnameLookAgainMsMin)
  records.set(domainRecordOf(DOMAIN), [[domainProofOf(token)]])
  await pass(HOUR_MS)
  t.equal(await led(), connectionId, 'found by itself')
  t.same(await actions(), ['domain.proven', 'domain.added'])
})

void t.test('one domain, one connection of a tenant; each tenant by its own proof', async (t) => {
  const { domains, connections, connectionId, secondId, prove, led } = await start(t)
  await prove()
  for (const taken of [connectionId, secondId])
    await t.rejects(domains.add('acme', taken, DOMAIN, ACTOR), { code: 'domain_taken' })
  await t.rejects(domains.add('other', connectionId, DOMAIN, ACTOR), {
    code: 'connection_not_found',
  })
  await t.rejects(domains.check('acme', secondId, DOMAIN, ACTOR), { code: 'domain_not_found' })
  const theirs = await connections.create('other', settings('one'), ACTOR)
  await domains.add('other', theirs.connectionId, DOMAIN, ACTOR)
  t.equal(await domains.check('other', theirs.connectionId, DOMAIN, ACTOR), false)
  await connections.remove('acme', connectionId, ACTOR)
  t.equal(await led(), undefined, 'it goes with its connection')
  await domains.add('acme', secondId, DOMAIN, ACTOR)
})

void t.test('what is no public domain is none', async (t) => {
  const { domains, connectionId } = await start(t)
  for (const text of [
    'localhost',
    '10.0.0.1',
    'a b.example',
    'ada@company.example',
    'x',
    '',
    '*.a.de',
  ])
    await t.rejects(domains.add('acme', connectionId, text, ACTOR), { code: 'field_invalid' }, text)
  const made = await domains.add('acme', connectionId, 'Bücher.example', ACTOR)
  t.equal(made.domain, 'xn--bcher-kva.example')
  t.equal(domainOfAddress('Ada@BÜCHER.example'), made.domain, 'as addresses are read')
  t.equal(domainOfAddress('a@evil.example@company.example'), DOMAIN)
  // soft hyphens, which are read as nothing
  const padded = (count: number) => `a@${'\u00AD'.repeat(count)}${DOMAIN}`
  t.equal(domainOfAddress(padded(100)), DOMAIN)
  t.equal(domainOfAddress(padded(LIMITS.emailCharactersMax)), undefined, 'too long to be looked at')
  for (const address of ['ada', '@company.example', 'ada@localhost', ''])
    t.equal(domainOfAddress(address), undefined, address)
  for (let count = 1; count < LIMITS.connectionDomainsPerTenantMax; count++)
    await domains.add('acme', connectionId, `d${count}.example`, ACTOR)
  await t.rejects(domains.add('acme', connectionId, DOMAIN, ACTOR), { code: 'domains_exhausted' })
})

void t.test('gone: warned after a day, used for two weeks, then back by its record', async (t) => {
  const { services, domains, connectionId, records, prove, pass, led, actions } = await start(t)
  const token = await prove()
  const stopsAt = async () => (await domains.list('acme', connectionId))[0]?.stopsAt
  await pass(3 * DAY_MS)
  t.equal(await stopsAt(), null)
  const counted = async () => {
    const text = await createMetrics(services).text()
    const of = (state: string) =>
      Number(
        new RegExp(`^control_plane_email_domains_unproven\\{state="${state}"\\} (\\d+)$`, 'm').exec(
          text,
        )?.[1],
      )
    return { missing: of('missing'), lapsed: of('lapsed') }
  }
  await domains.add('acme', connectionId, 'never.example', ACTOR)
  t.same(await counted(), { missing: 0, lapsed: 0 }, 'one that waits for its first proof is none')
  records.clear()
  await pass(DAY_MS + 2 * HOUR_MS)
  t.equal(await stopsAt(), null, 'nothing is said of what was missed for hours')
  await pass(DAY_MS)
  t.ok(await stopsAt())
  await pass(11 * DAY_MS)
  t.equal(await led(), connectionId, 'never at once')
  t.same(await counted(), { missing: 1, lapsed: 0 })
  await pass(3 * DAY_MS)
  t.equal(await led(), undefined)
  t.same(await counted(), { missing: 0, lapsed: 1 })
  t.same((await actions()).slice(0, 2), ['domain.lapsed', 'domain.unproven'])
  records.set(domainRecordOf(DOMAIN), [[domainProofOf(token)]])
  await pass(DAY_MS)
  t.equal(await led(), connectionId)
})

void t.test('name servers that say nothing take nothing away', async (t) => {
  const { prove, pass, led, fails, connectionId, actions } = await start(t)
  await prove()
  fails('ETIMEOUT')
  await pass(30 * DAY_MS)
  t.equal(await led(), connectionId)
  t.same(await actions(), ['domain.proven', 'domain.added'])
  fails('ENOTFOUND')
  await pass(16 * DAY_MS)
  t.equal(await led(), undefined)
})

void t.test('added, listed, checked and removed by API', async (t) => {
  const { proofs, records } = startRecords()
  const { operator, tenant } = await startApi(t, { proofs, clock: movableClock() })
  await tenant('acme')
  const made = await operator('POST', '/tenants/acme/connections', {
    ...{ preset: 'oidc', name: 'Acme', issuer: 'https://id.acme.example' },
    ...{ client_id: 'service', client_secret: 'secret' },
  })
  const ALL = `/tenants/acme/connections/${String(made.body['connection_id'])}/domains`
  const added = await operator('POST', ALL, { domain: 'Company.example' })
  t.match(added, {
    status: 201,
    body: {
      domain: DOMAIN,
      record_name: '_service-domain.company.example',
      proof: /^service-domain=[\w-]{43}$/,
      ...{ proven_at: null, stops_at: null, looks: 0 },
    },
  })
  const { record_name: name, proof } = added.body as Record<string, string>
  records.set(String(name), [[String(proof)]])
  const check = await operator('POST', `${ALL}/Company.example/check`, {})
  t.match(check, { status: 200, body: { domain: DOMAIN, is_proven: true } })
  t.match((await operator('GET', ALL)).body, { items: [{ proven_at: String }], next: null })
  t.equal((await operator('DELETE', `${ALL}/${DOMAIN}`)).status, 204)
  t.same((await operator('GET', ALL)).body, { items: [], next: null })
})
