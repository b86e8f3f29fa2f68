/** Which claims of a provider are attributes here, as an administrator types it. */
import t from 'tap'
import { ACTOR } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

void t.test('the mapping of a connection is typed, kept, shown and mended', async (t) => {
  const world = await startConsole(t)
  const { connections } = world.services
  const ada = await world.person('acme')
  const settings = {
    preset: 'oidc',
    issuer: 'https://id.acme.example',
    hostedDomain: null,
  } as const
  const { connectionId } = await connections.create(
    'acme',
    {
      ...{ ...settings, name: 'Acme', clientId: 'c', clientSecret: 's' },
      ...{ createsPeople: true, mfaValues: [] },
    },
    ACTOR,
  )
  const edit = `/console/tenants/acme/connections/${connectionId}/edit`
  const sent = { name: 'Acme', issuer: 'https://id.acme.example', client_id: 'c' }
  for (const wrong of ['dept', 'Dept = a', '__proto__ = a', 'a = b\na = c']) {
    const answer = await ada.post(edit, { ...sent, attribute_claims: wrong })
    t.equal(answer.status, 422, wrong)
    t.match(answer.text, /id="attribute_claims-error">Must be one per line/, wrong)
  }
  t.same((await connections.get('acme', connectionId)).attributes, [])
  const typed = 'department = dept\nfloor = https://acme.example/floor?a=b'
  t.equal((await ada.post(edit, { ...sent, attribute_claims: typed })).status, 303)
  t.same((await connections.get('acme', connectionId)).attributes, [
    { attribute: 'department', claim: 'dept' },
    { attribute: 'floor', claim: 'https://acme.example/floor?a=b' },
  ])
  t.match((await ada.get(edit)).text, typed)
})
