import t from 'tap'
import { EVENT_NAMES, EVENTS } from '../../../shared/events.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { createReceivers } from '../../support/receivers.ts'
import { schema } from '../../../control-plane/store/schema.ts'

const receivers = createReceivers()
const HOOK = { url: 'https://hooks.example/in', events: ['tenant.suspended'] }

async function startWebhookApi(t: Parameters<typeof startApi>[0], resolved = '93.184.216.34') {
  const world = { ...receivers.world, allowPrivate: [], resolve: async () => [resolved] }
  const api = await startApi(t, { receivers: world })
  await api.tenant('acme')
  const at = (path = '') => `/tenants/acme/webhooks${path}`
  return { ...api, at }
}

void t.test('the secret is shown when it is made, and never again', async (t) => {
  const { operator, at, services } = await startWebhookApi(t)
  const made = await operator('POST', at(), { ...HOOK, description: 'to us' })
  t.equal(made.status, 201)
  const secret = String(made.body['secret'])
  t.match(secret, /^whsec_[A-Za-z0-9_-]{43}$/)
  const id = String(made.body['webhook_id'])
  const rotated = await operator('POST', at(`/${id}/rotate-secret`), { overlap_seconds: 60 })
  const next = String(rotated.body['secret'])
  t.match(next, /^whsec_/)
  t.not(next, secret)
  const seen = JSON.stringify([
    (await operator('GET', at())).body,
    (await operator('GET', at(`/${id}`))).body,
    (await operator('PATCH', at(`/${id}`), { description: 'other' })).body,
    (await operator('POST', at(`/${id}/test`))).body,
    (await operator('GET', '/audit?limit=200')).body,
    await services.store.read.select().from(schema.webhooks),
  ])
  for (const one of [secret, next]) t.notOk(seen.includes(one))
})

void t.test(
  'an address inside is refused where it is written, by name and by change',
  async (t) => {
    for (const inside of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1']) {
      const { operator, at, services } = await startWebhookApi(t, inside)
      const refused = await operator('POST', at(), HOOK)
      t.match(refused, { status: 400, body: { error: 'field_invalid', field: 'url' } }, inside)
      t.strictSame(await services.store.read.select().from(schema.webhooks), [])
    }
    const { operator, at } = await startWebhookApi(t)
    for (const url of [
      'http://hooks.example/in',
      'https://user:secret@hooks.example/in',
      'https://127.1/in',
      'https://0x7f.1/in',
      'https://2130706433/',
      'https://１２７.0.0.1/',
      'https://[::1]/',
      'https://[64:ff9b::7f00:1]/',
      'https://169.254.169.254/latest/meta-data',
      'ftp://hooks.example/',
      'hooks.example',
      '',
    ]) {
      const refused = await operator('POST', at(), { ...HOOK, url })
      t.match(refused, { status: 400, body: { field: 'url' } }, url)
      t.notMatch(JSON.stringify(refused.body), /secret/)
    }
    const { body } = await operator('POST', at(), HOOK)
    const path = at(`/${String(body['webhook_id'])}`)
    t.match(await operator('PATCH', path, { url: 'https://10.0.0.1/' }), {
      status: 400,
      body: { field: 'url' },
    })
    t.equal((await operator('GET', path)).body['url'], HOOK.url)
  },
)

void t.test('events are those that there are, at least one, each once', async (t) => {
  const { operator, at } = await startWebhookApi(t)
  for (const events of [[], ['*'], ['tenant.deleted'], 'tenant.suspended', [1], ['__proto__']])
    t.match(await operator('POST', at(), { ...HOOK, events }), {
      status: 400,
      body: { field: 'events' },
    })
  const events = ['tenant.suspended', 'tenant.suspended', 'tenant.activated']
  const made = await operator('POST', at(), { ...HOOK, events })
  t.strictSame(made.body['events'], ['tenant.suspended', 'tenant.activated'])
  t.equal((await operator('POST', at(), { ...HOOK, events: EVENT_NAMES })).status, 201)
})

void t.test('a tenant has so many webhooks, and not one more', async (t) => {
  const { operator, at, services } = await startWebhookApi(t)
  const { body } = await operator('POST', at(), HOOK)
  const row = (await services.store.read.select().from(schema.webhooks))[0]!
  const { insertWebhook } = await import('../../../control-plane/store/queries/webhooks.ts')
  await services.store.change(async ({ queries }) => {
    for (let at = 2; at < LIMITS.webhooksPerTenantMax; at++)
      await insertWebhook(queries, { ...row, webhookId: `whk_${at}` })
  })
  t.equal((await operator('POST', at(), HOOK)).status, 201, 'the last one')
  t.match(await operator('POST', at(), HOOK), {
    status: 409,
    body: { error: 'webhooks_exhausted' },
  })
  t.equal((await operator('DELETE', at(`/${String(body['webhook_id'])}`))).status, 204)
  t.equal((await operator('POST', at(), HOOK)).status, 201)
})

void t.test('webhooks and deliveries are paged, and found only at their own tenant', async (t) => {
  const { operator, tenant, at } = await startWebhookApi(t)
  await tenant('other')
  const ids: string[] = []
  for (let count = 0; count < 3; count++)
    ids.push(String((await operator('POST', at(), HOOK)).body['webhook_id']))
  const first = await operator('GET', at('?limit=2'))
  const second = await operator('GET', at(`?limit=2&cursor=${first.next}`))
  const listed = [...first.items, ...second.items].map((item) => item['webhook_id'])
  t.strictSame(listed.sort(), [...ids].sort())
  t.equal(second.next, null)

  for (let count = 0; count < 3; count++) await operator('POST', at(`/${ids[0]}/test`))
  const page = await operator('GET', at(`/${ids[0]}/deliveries?limit=2`))
  const rest = await operator('GET', at(`/${ids[0]}/deliveries?limit=2&cursor=${page.next}`))
  const sent = [...page.items, ...rest.items].map((item) => item['delivery_id'])
  t.equal(new Set(sent).size, 3)
  t.strictSame((await operator('GET', at(`/${ids[0]}/deliveries?state=failed`))).items, [])
  t.match(await operator('GET', `/tenants/other/webhooks/${ids[0]}`), {
    status: 404,
    body: { error: 'webhook_not_found' },
  })
  t.match(await operator('GET', `/tenants/other/webhooks/${ids[0]}/deliveries`), { status: 404 })
})

void t.test('a delivery is shown with every attempt and its bytes', async (t) => {
  const api = await startApi(t, { receivers: receivers.world })
  await api.tenant('acme')
  const receiver = await receivers.start(t, () => 500)
  const hook = { url: receiver.url, events: ['licence.changed'] }
  const { body: made } = await api.operator('POST', '/tenants/acme/webhooks', hook)
  const path = `/tenants/acme/webhooks/${String(made['webhook_id'])}`
  t.equal((await api.operator('POST', `${path}/test`)).status, 202)
  await api.services.dispatcher.run()
  const [listed] = (await api.operator('GET', `${path}/deliveries`)).items
  t.match(listed, {
    state: 'pending',
    test: true,
    event: 'licence.changed',
    replayed_from: null,
    next_at: /^2026-/,
    attempts: [{ number: 1, status: 500, first_bytes: 'not today', problem: '' }],
  })
  const one = await api.operator('GET', `${path}/deliveries/${String(listed?.['delivery_id'])}`)
  t.equal(one.body['body'], receiver.received[0]?.raw.toString())
})

void t.test('the events are documentation, for programs and for people', async (t) => {
  const { call } = await startApi(t)
  const json = await call('GET', '/api/v1/events', undefined, { key: null })
  t.strictSame(
    json.items.map(({ event, sent_when }) => [event, sent_when]),
    EVENT_NAMES.map((name) => [name, EVENTS[name].sentWhen]),
  )
  t.ok(json.items.every(({ event, example }) => (example as { event: string }).event === event))
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const page = await call('GET', '/api/v1/events', undefined, { key: null, headers })
  t.match(page.headers.get('content-type'), 'text/html')
  t.equal(page.headers.get('vary'), 'Accept, Accept-Encoding')
  const text = String(page.body['text'])
  for (const name of EVENT_NAMES) t.ok(text.includes(`id="${name}"`), name)
  t.notMatch(text, /\[object|>undefined/)
})
