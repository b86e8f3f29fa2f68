/** Hostnames are claimed, proven and withdrawn by API as they are in the console. */
import t from 'tap'
import { PROOF_PATH } from '../../../control-plane/hostnames/proof.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'

const APP = 'app.example.com'

void t.test('claimed, checked, proven: and then served', async (t) => {
  const records = new Map<string, string[][]>()
  const clock = movableClock()
  const resolveTxt = async (name: string) => records.get(name) ?? []
  const proofs = { resolveTxt, resolve: async () => [], timeoutMs: 1000 }
  const { operator, tenant } = await startApi(t, { clock, proofs })
  await tenant('acme')
  await tenant('other')
  const CLAIMS = '/tenants/acme/hostname-claims'
  const claimed = await operator('POST', CLAIMS, { hostname: ' App.Example.COM' })
  t.match(claimed, {
    status: 201,
    body: {
      hostname: APP,
      record_name: `_service-hostname.${APP}`,
      file_url: `http://${APP}${PROOF_PATH}`,
      proof: /^service-hostname=[\w-]{43}$/,
      looks: 0,
      looked_at: null,
    },
  })
  t.same((await operator('GET', CLAIMS)).body, { items: [claimed.body], next: null })
  for (const hostname of ['localhost', '10.0.0.1', 'not a name', 'acme.localhost'])
    t.match(await operator('POST', CLAIMS, { hostname }), {
      status: 400,
      body: { error: 'field_invalid', field: 'hostname' },
    })
  clock.advance(LIMITS.hostnameLookAgainMsMin)
  const check = () => operator('POST', `${CLAIMS}/App.example.com/check`, {})
  t.match(await check(), { status: 200, body: { hostname: APP, is_proven: false } })
  t.match(await check(), { body: { error: 'hostname_just_checked' } })
  t.match((await operator('GET', CLAIMS)).body, { items: [{ looks: 1, looked_at: String }] })

  const { record_name: name, proof } = claimed.body as Record<string, string>
  records.set(String(name), [[String(proof)]])
  clock.advance(LIMITS.hostnameLookAgainMsMin)
  t.match(await check(), { status: 200, body: { is_proven: true } })
  t.match((await operator('GET', '/tenants/acme')).body, { hostnames: ['acme.localhost', APP] })
  t.same((await operator('GET', CLAIMS)).body, { items: [], next: null })
  t.match(await check(), { status: 404, body: { error: 'hostname_not_found' } })
  t.match(await operator('POST', '/tenants/other/hostname-claims', { hostname: APP }), {
    status: 409,
    body: { error: 'hostname_taken' },
  })
})

void t.test(
  'what is withdrawn is not waited for, and another tenant’s is not touched',
  async (t) => {
    const { operator, tenant } = await startApi(t)
    await tenant('acme')
    await tenant('other')
    await operator('POST', '/tenants/acme/hostname-claims', { hostname: APP })
    const of = (id: string) => `/tenants/${id}/hostname-claims/${APP}`
    t.match(await operator('DELETE', of('other')), { status: 404 })
    t.match(await operator('DELETE', of('acme')), { status: 204 })
    t.match(await operator('DELETE', of('acme')), { status: 404 })
    t.match(await operator('GET', '/tenants/none/hostname-claims'), { status: 404 })
  },
)
