/** Other applications that sign people in by a tenant, in the console and by the operator API. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'

const PAGE = '/console/tenants/acme/clients'
const WIKI = {
  name: 'Wiki <b>',
  redirect_uris: 'https://wiki.example/callback',
  post_logout_redirect_uris: '',
  backchannel_logout_uri: 'https://wiki.example/out',
}

void t.test('an administrator adds one, sees its secret once, and deletes it', async (t) => {
  const { services, person } = await startConsole(t)
  const bob = await person('acme')
  t.match((await bob.get(PAGE)).text, /No OIDC clients yet/)
  const added = await bob.post(PAGE, { ...WIKI, is_told_groups: 'on' })
  const [client] = await services.realmClients.list('acme')
  const { clientId = '' } = client ?? {}
  t.match(client, {
    redirectUris: ['https://wiki.example/callback'],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: 'https://wiki.example/out',
    isToldGroups: true,
  })
  t.match(added.text, `/auth/realms/acme`)
  const [secret = ''] = /[A-Za-z0-9_-]{43}(?=<|")/.exec(added.text) ?? []
  t.ok(await services.realmClients.isSecret('acme', clientId, secret), 'it is shown')
  const list = await bob.get(PAGE)
  t.match(list.text, /Wiki &lt;b&gt;[\s\S]*cli_[0-9a-f]{32}[\s\S]*wiki\.example\/callback/)
  t.notMatch(list.text, secret)
  for (const wrong of [
    '',
    'http://wiki.example/',
    'https://a@wiki.example/',
    'https://wiki.example/#a',
  ])
    t.match(await bob.post(PAGE, { ...WIKI, redirect_uris: wrong }), {
      status: 422,
      text: /aria-invalid="true"/,
    })
  t.match((await bob.get(`${PAGE}/${clientId}/delete`)).text, /Nobody can sign in to it/)
  t.equal((await bob.post(`${PAGE}/${clientId}/delete`)).status, 303)
  t.same(await services.realmClients.list('acme'), [])
  const audit = await services.auditTrail.list({ limit: 10, cursor: undefined })
  const names = audit.items.map(({ action }) => action).filter((one) => one.startsWith('client.'))
  t.same(names, ['client.removed', 'client.created'])
})

void t.test('the same by the operator API, in the bounds of its fields', async (t) => {
  const { call, services } = await startApi(t)
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  const all = '/api/v1/operator/tenants/acme/clients'
  const uri = 'https://wiki.example/callback'
  const made = await call('POST', all, { name: 'Wiki', redirect_uris: [uri] })
  t.match(made, { status: 201, body: { is_told_groups: false, backchannel_logout_uri: null } })
  const { client_secret: secret, ...shown } = made.body
  t.match(secret, /^[\w-]{43}$/)
  t.same((await call('GET', all)).body, { items: [shown], next: null })
  const one = `${all}/${String(shown['client_id'])}`
  t.same((await call('GET', one)).body, shown)
  for (const [field, value] of [
    ['redirect_uris', []],
    ['redirect_uris', ['https://*']],
    ['redirect_uris', Array.from({ length: LIMITS.realmClientAddressesMax + 1 }, () => uri)],
    ['post_logout_redirect_uris', ['javascript:alert(1)']],
    ['backchannel_logout_uri', 'http://wiki.example/'],
  ] as const) {
    const body = { name: 'Wiki', redirect_uris: [uri], [field]: value }
    t.match(await call('POST', all, body), { status: 400, body: { field } }, String(value))
  }
  t.equal((await call('DELETE', one)).status, 204)
  t.match(await call('DELETE', one), { status: 404, body: { error: 'client_not_found' } })
})
