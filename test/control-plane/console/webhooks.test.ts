/** Webhooks in the console: told of, tried, looked into, paused, rotated, removed. */
import t from 'tap'
import { HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { EVENT_NAMES, EVENTS } from '../../../shared/events.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'
import { createReceivers, type Reply } from '../../support/receivers.ts'

const ALL = '/console/tenants/acme/webhooks'
const receivers = createReceivers()

/** With a webhook of acme that Ada administers, and its receiver. */
async function startWebhooks(t: Parameters<typeof startConsole>[0], reply: Reply = () => 204) {
  const clock = movableClock()
  const { services, person, signedIn } = await startConsole(t, {
    clock,
    receivers: receivers.world,
  })
  await services.tenants.setPlan('acme', 'premium', ACTOR)
  await services.tenants.publish('acme', ACTOR)
  const receiver = await receivers.start(t, reply)
  const ada = await person('acme')
  const wish = { url: receiver.url, events: ['tenant.suspended'] as const, description: 'Siem' }
  const { webhook, secret } = await services.webhooks.create('acme', wish, ACTOR)
  clock.advance(1)
  const one = `${ALL}/${webhook.webhookId}`
  return {
    ...services,
    clock,
    person,
    signedIn,
    ada,
    receiver,
    secret,
    one,
    webhook: () => services.webhooks.get('acme', webhook.webhookId),
    list: async () => {
      const page = await services.deliveries.list('acme', webhook.webhookId, { limit: 200 })
      return page.items
    },
    async emit(count: number) {
      await services.store.change(async (change) => {
        for (let at = 0; at < count; at++)
          await change.emit('tenant.suspended', 'acme', { status: 'suspended' })
      })
    },
    /** Every attempt at what waits, over the two hours that they take. */
    async giveUp() {
      await services.dispatcher.run()
      for (const minutes of [1, 2, 6, 28, 100]) {
        clock.advance(minutes * MINUTE_MS)
        await services.dispatcher.run()
      }
    },
  }
}

void t.test('without the plan the page says so, and what to do', async (t) => {
  const { person, services } = await startConsole(t)
  const [ada, grace] = [await person('acme'), await person('operator')]
  for (const path of [ALL, `${ALL}/new`]) {
    t.match((await ada.get(path)).text, /require the premium plan.*Ask an operator/s)
    t.match((await grace.get(path)).text, 'href="/console/tenants/acme/settings#tenant-plan"')
    t.notMatch((await ada.get(path)).text, 'Create the')
  }
  const form = { url: 'https://hooks.example/', events: ['tenant.suspended'], description: '' }
  const refused = await ada.post(`${ALL}/new`, form)
  t.match(refused, { status: /4\d\d/, text: /require the premium plan/ })
  t.same((await services.webhooks.list('acme', { limit: 5 })).items, [])
})

void t.test('a webhook is made with its secret shown once', async (t) => {
  const { ada, person, clock, receiver, webhooks } = await startWebhooks(t)
  const page = await ada.get(`${ALL}/new`)
  for (const name of EVENT_NAMES) {
    t.match(page.text, `value="${name}"`)
    t.match(page.text, EVENTS[name].sentWhen, `${name} is explained`)
  }
  t.equal(EVENT_NAMES.length, 17)
  const wish = { url: receiver.url, events: ['session.revoked', 'signin.denied'] }
  const proofs = {
    csrf: /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
    form_id: /action="[^"]+new"[^]*?name="form_id" value="([^"]+)"/.exec(page.text)?.[1] ?? '',
  }
  const send = () => ada.post(`${ALL}/new`, { ...wish, description: 'Second', ...proofs })
  const [made, twice] = await Promise.all([send(), send()])
  const secret = /whsec_[\w+/=-]+/.exec(made.text)?.[0] ?? 'none'
  t.match(twice, { status: 200, text: secret }, 'a double click sees it too, whichever is read')
  t.match(made, { status: 200, text: /won’t be shown again/ })
  t.equal(made.headers.get('cache-control'), 'no-store')
  const eve = await person('acme')
  const stolen = { ...wish, description: 'Second', form_id: proofs.form_id }
  t.match(await eve.post(`${ALL}/new`, stolen), { status: 403 }, 'and nobody else')
  clock.advance(MINUTE_MS + 1)
  t.match(await send(), { status: 409, text: /form_spent/ }, 'later it is never shown again')
  const { items } = await webhooks.list('acme', { limit: 5 })
  t.match(
    items.map(({ description }) => description),
    ['Siem', 'Second'],
  )
  for (const path of [ALL, `${ALL}/${items[1]?.webhookId}`, `${ALL}/${items[1]?.webhookId}/edit`])
    t.notMatch((await ada.get(path)).text, secret, 'and the secret is nowhere else')
  t.match((await ada.get(ALL)).text, /Siem.*Second/s)
})

void t.test(
  'what is wrong stands beside its field, and nothing that was typed is lost',
  async (t) => {
    const { ada, webhooks } = await startWebhooks(t)
    const typed = {
      url: 'http://10.0.0.1/x',
      events: ['signin.denied'],
      description: 'To the team',
    }
    const address = await ada.post(`${ALL}/new`, typed)
    t.match(address, { status: 422, text: /id="url-error"/ })
    t.match(address.text, 'value="To the team"')
    t.match(address.text, /value="signin\.denied"\s+checked/)
    const none = await ada.post(`${ALL}/new`, { ...typed, events: [] })
    t.match(none, { status: 422, text: /id="events-error">Select at least one event\./ })
    t.equal((await webhooks.list('acme', { limit: 5 })).items.length, 1)
  },
)

void t.test('a webhook is changed, and the trail says by whom', async (t) => {
  const { ada, one, receiver, webhook, auditTrail } = await startWebhooks(t)
  t.match((await ada.get(`${one}/edit`)).text, /value="tenant\.suspended"\s+checked/)
  const changed = { url: receiver.url, events: ['signin.denied'], description: '' }
  const saved = await ada.post(`${one}/edit`, changed)
  t.match(saved, { status: 303, location: `${one}?done=` })
  t.match((await ada.get(saved.location)).text, /Saved\./)
  t.match(await webhook(), { events: ['signin.denied'], description: '' })
  const [entry] = (await auditTrail.list({ limit: 1 }, { tenantId: 'acme' })).items
  t.match(entry, { action: 'webhook.changed', actor: /^console:/ })
  t.match(await ada.post(`${one}/edit`, { ...changed, url: 'https://x y/' }), { status: 422 })
})

void t.test('a test is sent, and the page says how the receiver answered', async (t) => {
  const { ada, one, receiver } = await startWebhooks(t)
  const sent = await ada.post(`${one}/test`, { event: 'tenant.suspended' })
  t.match(sent, { status: 303, location: `${one}/deliveries/dlv_` })
  t.match(receiver.received, [{ body: { event: 'tenant.suspended' } }])
  t.match((await ada.get(sent.location)).text, /Test queued.*Delivered: HTTP 204/s)

  receiver.answerWith(() => 500)
  const refused = await ada.post(`${one}/test`, { event: 'tenant.suspended' })
  const { text } = await ada.get(refused.location)
  t.match(text, /Not delivered yet: HTTP 500.*Next attempt/s)
  t.match(text, 'not today', 'with what came back')
  t.match(text, /&quot;event&quot;:&quot;tenant\.suspended&quot;/, 'and what was sent')
  t.match((await ada.get(one)).text, /Test.*Waiting.*HTTP 500/s)
})

void t.test('a receiver that never answers keeps nobody waiting', async (t) => {
  const { deliveries, ada, one } = await startWebhooks(t, () => 'hang')
  const started = performance.now()
  const sent = await ada.post(`${one}/test`, { event: 'tenant.suspended' })
  t.ok(performance.now() - started < LIMITS.webhookMsMax, 'the page comes before the time-out')
  t.match((await ada.get(sent.location)).text, /no attempt has finished yet.*Refresh/s)
  const deliveryId = /dlv_\w+/.exec(sent.location)?.[0] ?? ''
  t.equal(await deliveries.settled(deliveryId, 0), false)
  t.equal(LIMITS.consoleDeliveryMsMax, 3000)
})

void t.test('what was given up is sent again, one or all', async (t) => {
  const { signedIn, one, receiver, ...world } = await startWebhooks(t, () => 500)
  const { emit, giveUp, dispatcher, list } = world
  await emit(3)
  await giveUp()
  const ada = await signedIn(world.ada.userId)
  t.same(
    (await list()).map(({ state, tries }) => [state, tries.length]),
    Array.from({ length: 3 }, () => ['failed', LIMITS.webhookAttemptsMax]),
  )
  const [first] = await list()
  const address = `${one}/deliveries/${first?.deliveryId}`
  const { text } = await ada.get(address)
  t.match(text, /Failed/)
  t.equal(text.match(/HTTP 500<\/td>/g)?.length, LIMITS.webhookAttemptsMax, 'every attempt')

  receiver.answerWith(() => 204)
  const single = await ada.post(`${address}/replay`)
  const again = await ada.get(single.location)
  t.match(again.text, new RegExp(`Retry of.*${first?.deliveryId}`, 's'))
  t.match(again.text, /Delivered: HTTP/)
  const all = await ada.post(`${one}/replay`, { age: 'day' })
  t.match((await ada.get(all.location)).text, /Retrying 2 deliveries/)
  await dispatcher.run()
  t.equal((await list()).filter(({ state }) => state === 'delivered').length, 3)
  const none = await ada.post(`${one}/replay`, { age: 'hour' })
  t.match((await ada.get(none.location)).text, /No failed deliveries in the last hour/)
  t.match(await ada.post(`${one}/replay`, { age: 'century' }), { status: 422 })
})

void t.test('deliveries are filtered by their state, and go on page by page', async (t) => {
  const { ada, one, emit, dispatcher, receiver, list } = await startWebhooks(t)
  await emit(5)
  await dispatcher.run()
  receiver.answerWith(() => 500)
  await emit(2)
  await dispatcher.run()
  const ids = async (query: string) => {
    const { text } = await ada.get(one + query)
    const next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    return { ids: [...text.matchAll(/deliveries\/(dlv_\w+)/g)].map(([, id]) => id), next }
  }
  t.equal((await ids('?state=delivered')).ids.length, 5)
  t.equal((await ids('?state=pending')).ids.length, 2)
  t.equal((await ids('')).ids.length, 7)
  t.match((await ada.get(`${one}?state=cancelled`)).text, 'No matching deliveries')
  t.equal((await ada.get(`${one}?state=odd`)).status, 400)
  const seen: unknown[] = []
  for (let query = '?limit=3'; query !== '';) {
    const page = await ids(query)
    seen.push(...page.ids)
    query = page.next.replace(/^[^?]*/, '')
  }
  const wanted = (await list()).map(({ deliveryId }) => deliveryId)
  t.same(seen, wanted, 'each once, the newest first')
})

void t.test(
  'paused by a person or by failures: the page says which, and lets it go on',
  async (t) => {
    const { ada, signedIn, one, ...world } = await startWebhooks(t, () => 500)
    const { webhook, emit, giveUp, clock } = world
    /** Days have passed: the same person, with a new session. */
    const shown = async () => (await (await signedIn(ada.userId)).get(one)).text
    t.match((await ada.get(`${one}/pause`)).text, /Pause the webhook to hooks\.example.*canceled/s)
    await ada.post(`${one}/pause`)
    t.match(await webhook(), { state: 'paused', pausedReason: 'operator' })
    t.match(await shown(), /Paused. No events are sent/)
    const on = await ada.post(`${one}/resume`)
    t.match((await ada.get(on.location)).text, /Webhook resumed/)
    t.match(await webhook(), { state: 'active' })

    await emit(LIMITS.webhookFailuresBeforePauseMin)
    await giveUp()
    t.match(await shown(), /All deliveries have failed since.*3\s+days/s)
    clock.advance(LIMITS.webhookFailingMsBeforePause)
    await emit(2)
    await giveUp()
    t.match(await webhook(), { state: 'paused', pausedReason: 'failing' })
    t.match(await shown(), /Paused automatically.*Fix the\s+receiver/s)
  },
)

void t.test('the secret is rotated with overlap, after a fresh proof of who it is', async (t) => {
  const { ada, one, secret, receiver, clock } = await startWebhooks(t)
  t.match((await ada.get(`${one}/rotate`)).text, /Keep the previous secret/)
  const made = await ada.post(`${one}/rotate`, { overlap_seconds: '3600' })
  const next = /whsec_[\w+/=-]+/.exec(made.text)?.[0] ?? 'none'
  t.not(next, secret)
  t.match((await ada.get(one)).text, 'Previous secret valid until')
  await ada.post(`${one}/test`, { event: 'tenant.suspended' })
  const signature = String(receiver.received[0]?.headers['x-service-signature'])
  t.equal(signature.match(/v1=/g)?.length, 2, 'signed with both')
  clock.advance(LIMITS.consoleFreshMs + 1)
  t.match(await ada.get(`${one}/rotate`), { status: 302, location: /fresh=yes/ })
  t.match(await ada.post(`${one}/rotate`, { overlap_seconds: '0' }), { status: 403 })
  clock.advance(HOUR_MS / 4)
  t.notMatch((await ada.get(one)).text, next)
})

void t.test('a removed webhook takes its deliveries along, and is told nothing', async (t) => {
  const { ada, one, emit, dispatcher, receiver, webhooks } = await startWebhooks(t)
  await ada.post(`${one}/test`)
  t.match((await ada.get(`${one}/remove`)).text, /No more events are sent.*deleted/s)
  const gone = await ada.post(`${one}/remove`)
  t.match((await ada.get(gone.location)).text, /Webhook deleted/)
  await emit(1)
  await dispatcher.run()
  t.equal(receiver.received.length, 1, 'but the test')
  t.same((await webhooks.list('acme', { limit: 5 })).items, [])
  t.equal((await ada.get(one)).status, 404)
})

void t.test('a webhook of one tenant is nothing under the name of another', async (t) => {
  const { one, person, tenants, webhook } = await startWebhooks(t)
  await tenants.setPlan('other', 'premium', ACTOR)
  const eve = await person('other')
  const theirs = one.replace('/acme/', '/other/')
  for (const page of ['', '/edit', '/pause', '/rotate', '/remove', '/deliveries/dlv_x'])
    t.equal((await eve.get(theirs + page)).status, 404, `GET ${page}`)
  const wish = { url: 'https://evil.example/', events: ['signin.denied'], description: '' }
  for (const [page, form] of [
    ['/edit', wish],
    ['/pause', {}],
    ['/resume', {}],
    ['/rotate', { overlap_seconds: '0' }],
    ['/remove', {}],
    ['/test', {}],
    ['/replay', { age: 'day' }],
    ['/deliveries/dlv_x/replay', {}],
  ] as const)
    t.ok([404, 422].includes((await eve.post(theirs + page, form)).status), `POST ${page}`)
  t.match(await webhook(), { state: 'active', description: 'Siem' })
})
