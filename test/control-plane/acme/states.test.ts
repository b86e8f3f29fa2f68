/** How each hostname stands with its certificate, for operators. */
import t, { type Test } from 'tap'
import { startOrdering } from '../../support/acme.ts'
import { apiOf } from '../../support/api.ts'
import { certificateFor } from '../../support/certificate.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'

const NAME = 'app.example.test'
const OWN = 'own.example.test'

async function startStates(t: Test) {
  const authority = await startFakeAuthority(t)
  const ordering = await startOrdering(t, { directories: [authority.directory] })
  const { operator, tenant } = apiOf(ordering.services)
  await tenant('app', { hostnames: [NAME, OWN, 'app.localhost'] })
  const { cert, key } = certificateFor(OWN)
  const uploaded = { certificate_pem: cert, private_key_pem: key }
  await operator('PUT', `/tenants/app/certificates/${OWN}`, uploaded)
  const states = async () => (await operator('GET', '/tenants/app/certificates')).items
  const order = (hostname: string, id = 'app') =>
    operator('POST', `/tenants/${id}/certificates/${hostname}/order`, {})
  return { ...ordering, authority, operator, tenant, states, order }
}

void t.test('what is there, what is ordered, and what to change', async (t) => {
  const { run, operator, states, order, answers, authority } = await startStates(t)
  const notThere = { source: null, certificate: null, order: null }
  const uploaded = {
    hostname: OWN,
    source: 'uploaded',
    certificate: { hostname: OWN },
    order: null,
  }
  const local = { hostname: 'app.localhost', ...notThere }
  t.match(await states(), [{ hostname: NAME, ...notThere }, uploaded, local], 'as a draft')
  t.match(await order(NAME), { status: 409, body: { error: 'certificate_not_ordered' } })

  await operator('POST', '/tenants/app/publish')
  answers(false)
  await run()
  const problem = /Point the DNS records of app\.example\.test to them/
  const waiting = { state: 'waiting', failures: 1, problem, next_attempt_at: /^20\d\d-.*Z$/ }
  t.match(await states(), [{ hostname: NAME, source: null, order: waiting }, uploaded, local])

  answers(true)
  t.match(await order(NAME.toUpperCase()), { status: 202, body: { state: 'waiting' } })
  await run()
  const issued = { state: 'issued', failures: 0, problem: null }
  t.match(await states(), [
    { hostname: NAME, source: 'ordered', certificate: { hostname: NAME }, order: issued },
    uploaded,
    local,
  ])
  t.notMatch(JSON.stringify(await states()), /PRIVATE|PEM|sealed/i)

  t.match(await order(NAME), { status: 202 }, 'one that is there is replaced')
  await run()
  t.equal(authority.orders.length, 2)
  for (const hostname of [OWN, 'app.localhost'])
    t.match(await order(hostname), { status: 409, body: { error: 'certificate_not_ordered' } })
})

void t.test('an uploaded certificate is deleted, and one is ordered instead', async (t) => {
  const { run, operator, tenant, states, order } = await startStates(t)
  await operator('POST', '/tenants/app/publish')
  await run()
  const remove = (hostname: string, id = 'app') =>
    operator('DELETE', `/tenants/${id}/certificates/${hostname}`)
  await tenant('other')
  for (const answer of [await remove(OWN, 'other'), await remove(NAME), await remove('a.test')])
    t.match(answer, { status: 404, body: { error: 'certificate_not_found' } })
  const strange = { status: 404, body: { error: 'hostname_not_found' } }
  t.match(await order(NAME, 'other'), strange)
  t.match(await order('nobody.test'), strange)
  t.equal((await remove(OWN)).status, 204)
  await run()
  t.match((await states())[1], { hostname: OWN, source: 'ordered', order: { state: 'issued' } })
  const trail = (await operator('GET', '/audit')).items.map(({ action }) => action)
  t.ok(trail.includes('certificate.issued') && trail.includes('certificate.removed'))
})
