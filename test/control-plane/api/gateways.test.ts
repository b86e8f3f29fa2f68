/** Gateways and their keys as an operator manages them: by the API, and in the console. */
import t from 'tap'
import { startApi } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'

void t.test('a key is made, listed without itself, and revoked', async (t) => {
  const { operator } = await startApi(t)
  const made = await operator('POST', '/gateways', { gateway_id: 'edge-1' })
  t.match(made, { status: 201, body: { gateway_id: 'edge-1', key: /^gwk_/, key_id: String } })
  const { key, key_id: keyId } = made.body as unknown as { key: string; key_id: string }
  const listed = await operator('GET', '/gateways')
  const gateway = { gateway_id: 'edge-1', connected: false, version: null, last_seen_at: null }
  t.match(listed.body, { items: [{ ...gateway, keys: [{ key_id: keyId, last_used_at: null }] }] })
  t.notMatch(JSON.stringify(listed.body), key)
  for (const id of ['', 'a b', 'a/b', '-a', 'x'.repeat(65), 7])
    t.match(await operator('POST', '/gateways', { gateway_id: id }), { status: 400 }, String(id))

  t.match(await operator('POST', '/gateways', { gateway_id: 'edge-1' }), { status: 201 })
  const third = await operator('POST', '/gateways', { gateway_id: 'edge-1' })
  t.match(third, { status: 409, body: { error: 'gateway_keys_full' } })
  t.match(await operator('DELETE', `/gateways/edge-1/keys/${keyId}`), { status: 204 })
  const again = await operator('DELETE', `/gateways/edge-1/keys/${keyId}`)
  t.match(again, { status: 404, body: { error: 'gateway_not_found' } })
  t.match(await operator('DELETE', '/gateways/edge-1'), { status: 204 })
  t.same((await operator('GET', '/gateways')).body['items'], [])
  const { items } = (await operator('GET', '/audit')).body as unknown as {
    items: { action: string }[]
  }
  t.same(
    items.map(({ action }) => action).filter((action) => action.startsWith('gateway_key.')),
    ['gateway_key.revoked', 'gateway_key.revoked', 'gateway_key.created', 'gateway_key.created'],
  )
  t.notMatch(JSON.stringify(items), key)
})

void t.test('in the console the key is on one page and on no other', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  const wrong = await grace.post('/console/fleet/keys', { gateway_id: 'a b' })
  t.match(wrong, { status: 422, text: /letters, digits, dots and dashes/ })
  const made = await grace.post('/console/fleet/keys', { gateway_id: 'edge-1' })
  t.match(made, { status: 200, text: /gwk_[\w-]{43}\.[\w-]{43}/ })
  t.notMatch(made.text, /SERVICE_FLEET_KEY_PREVIOUS/)
  const second = await grace.post('/console/fleet/keys', { gateway_id: 'edge-1' })
  t.match(second.text, /SERVICE_FLEET_KEY_PREVIOUS/, 'how one replaces the other')
  const fleet = await grace.get('/console/fleet')
  t.match(fleet.text, /Never connected.*Gateway keys.*edge-1.*Not used yet/s)
  t.notMatch(fleet.text, /gwk_/)
  const [key] = await services.gatewayKeys.list()
  const revoke = `/console/fleet/edge-1/keys/${key!.keyId}/revoke`
  t.match(await grace.get(revoke), { status: 200, text: /disconnected at once/ })
  t.match(await grace.post(revoke), { status: 303 })
  t.equal((await services.gatewayKeys.list()).length, 1)
  const ada = await person('acme')
  for (const path of ['/console/fleet', revoke]) t.equal((await ada.get(path)).status, 404, path)
  t.equal((await ada.post('/console/fleet/keys', { gateway_id: 'edge-9' })).status, 404)
})
