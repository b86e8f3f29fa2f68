/** Alerts as operators set them, and the rounds that look at them, on a real database. */
import t, { type Test } from 'tap'
import { createAlerts } from '../../../control-plane/monitoring/alerts.ts'
import { type Figure, ALERT_METRIC_NAMES } from '../../../control-plane/store/monitoring-names.ts'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { giveRole } from '../../support/console.ts'
import { movableClock } from '../../support/control-plane.ts'

const figure = (outcome: Figure['outcome'], count: number, reason = ''): Figure => ({
  outcome,
  reason,
  count,
})

async function startAlerts(t: Test, options: Parameters<typeof startApi>[1] = {}) {
  const clock = movableClock(Date.parse('2026-03-01T12:00:00Z'))
  const api = await startApi(t, { clock, ...options })
  const { services, operator } = api
  await api.tenant('acme')
  const { store, alerts } = services

  return {
    ...api,
    clock,
    store,
    async alert(settings: Record<string, unknown> = {}): Promise<string> {
      const wish = { metric: 'sealed_hits', threshold: 10, cool_down_seconds: 600, ...settings }
      const { status, body } = await operator('POST', '/tenants/acme/alerts', wish)
      t.equal(status, 201)
      return String(body['alert_id'])
    },
    add: (
      outcome: Figure['outcome'],
      count: number,
      source: 'edge' | 'realm' = 'edge',
      reason = '',
    ) =>
      store.change(({ queries, nowMs }) =>
        addFigures(queries, source, nowMs, new Map([['acme', [figure(outcome, count, reason)]]])),
      ),
    async look(ms = 0) {
      clock.advance(ms)
      await alerts.evaluate()
    },
    async told(): Promise<Record<string, unknown>[]> {
      const rows = await store.read.select().from(schema.outbox)
      return rows.filter(({ event }) => event === 'alert.triggered').map(({ content }) => content)
    },
  }
}

t.test('an alert is created, shown, changed and removed', async (t) => {
  const { operator, alert, clock } = await startAlerts(t)
  const id = await alert()
  const made = {
    alert_id: id,
    metric: 'sealed_hits',
    threshold: 10,
    window_seconds: 300,
    cool_down_seconds: 600,
    is_enabled: true,
    is_above: false,
    triggered_at: null,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    email_language: null,
    email_recipients: [],
    email_recipients_waiting: [],
  }
  t.strictSame((await operator('GET', `/tenants/acme/alerts/${id}`)).body, made)
  clock.advance(MINUTE_MS)
  const patch = { metric: 'lockouts', threshold: 3, window_seconds: 60 }
  const changed = { ...made, ...patch, updated_at: '2026-03-01T12:01:00.000Z' }
  const answer = await operator('PATCH', `/tenants/acme/alerts/${id}`, patch)
  t.strictSame(answer.body, changed)
  clock.advance(MINUTE_MS)
  t.strictSame((await operator('PATCH', `/tenants/acme/alerts/${id}`, patch)).body, changed)
  t.strictSame((await operator('GET', '/tenants/acme/alerts')).items, [changed])
  t.equal((await operator('DELETE', `/tenants/acme/alerts/${id}`)).status, 204)
  for (const method of ['GET', 'DELETE'])
    t.match(await operator(method, `/tenants/acme/alerts/${id}`), {
      status: 404,
      body: { error: 'alert_not_found' },
    })
  t.same((await operator('GET', '/tenants/acme/alerts')).items, [])
  const { items } = await operator('GET', '/audit?tenant_id=acme')
  t.same(
    items.slice(0, 3).map(({ action }) => action),
    ['alert.removed', 'alert.changed', 'alert.created'],
  )
})

t.test('what an alert may say is bounded, and so are the alerts of a tenant', async (t) => {
  const { operator, alert } = await startAlerts(t)
  const wishes = {
    threshold: [1, LIMITS.alertThresholdMax],
    window_seconds: [60, LIMITS.alertWindowSecondsMax],
    cool_down_seconds: [0, LIMITS.alertCoolDownSecondsMax],
  }
  for (const [field, [min = 0, max = 0]] of Object.entries(wishes)) {
    for (const fine of [min, max]) await alert({ [field]: fine })
    for (const wrong of [min - 1, max + 1, 1.5, '5', null])
      t.match(
        await operator('POST', '/tenants/acme/alerts', {
          metric: 'sealed_hits',
          threshold: 1,
          [field]: wrong,
        }),
        { status: 400, body: { error: 'field_invalid', field } },
        `${field}: ${wrong}`,
      )
  }
  for (let made = 6; made < LIMITS.alertsPerTenantMax; made++) await alert()
  t.match(await operator('POST', '/tenants/acme/alerts', { metric: 'lockouts', threshold: 1 }), {
    status: 409,
    body: { error: 'alerts_exhausted' },
  })
  t.match(await operator('POST', '/tenants/nobody/alerts', { metric: 'lockouts', threshold: 1 }), {
    status: 404,
  })
})

t.test('a crossing is told of once, with what was counted', async (t) => {
  const { alert, add, look, told, operator } = await startAlerts(t)
  const id = await alert()
  await add('sealed', 9)
  await look()
  t.same(await told(), [])
  await add('sealed', 3)
  await Promise.all([look(10 * SECOND_MS), look()])
  t.strictSame(await told(), [
    {
      alert_id: id,
      metric: 'sealed_hits',
      threshold: 10,
      value: 12,
      window_seconds: 300,
      at: '2026-03-01T12:00:10.000Z',
    },
  ])
  t.match((await operator('GET', `/tenants/acme/alerts/${id}`)).body, {
    is_above: true,
    triggered_at: '2026-03-01T12:00:10.000Z',
  })
  for (let minute = 0; minute < 30; minute++) {
    await add('sealed', 3)
    await look(MINUTE_MS)
  }
  t.equal((await told()).length, 1)
  for (let minute = 0; minute < 10; minute++) await look(MINUTE_MS)
  await add('sealed', 10)
  await look()
  t.equal((await told()).length, 2)
})

t.test('every metric counts its own, and nothing else', async (t) => {
  const { alert, add, look, told, store, clock } = await startAlerts(t)
  for (const metric of ALERT_METRIC_NAMES) await alert({ metric, threshold: 3 })
  for (const outcome of ['forwarded', 'sign_in', 'signed_in', 'asked', 'other', 'logout'] as const)
    await add(outcome, 100)
  await look()
  t.same(await told(), [])
  const metrics = async () =>
    (await told()).map(({ metric, value }) => `${String(metric)} ${String(value)}`)
  await add('failed', 2, 'realm')
  await add('denied', 1, 'realm')
  await look()
  t.same(await metrics(), ['refused_sign_ins 3'])
  await add('step_up', 1)
  await add('step_up', 2, 'realm')
  await add('sealed', 4)
  await add('lockout', 5, 'realm')
  await look()
  t.same((await metrics()).slice(1).sort(), ['lockouts 5', 'sealed_hits 4', 'step_ups 3'])

  await add('signed_in', 3, 'realm', 'device_break_glass')
  await add('denied', 3, 'realm', 'device_other_browser')
  await look()
  t.same((await metrics()).slice(4).sort(), ['device_break_glass 3', 'device_other_browser 3'])

  const delivery = (number: number, state: 'failed' | 'pending', isTest = false) => ({
    deliveryId: `d${number}`,
    webhookId: 'w',
    tenantId: 'acme',
    event: 'signin.denied' as const,
    body: '{}',
    isTest,
    state,
    attempts: 6,
    nextAt: 0,
    generation: 0,
    isSentAgain: false,
    createdAt: 0,
    updatedAt: clock.nowMs() - (number > 5 ? HOUR_MS : 0),
  })
  const put = (...rows: ReturnType<typeof delivery>[]) =>
    store.change(({ queries }) => queries.insert(schema.webhookDeliveries).values(rows))
  await put(delivery(1, 'failed'), delivery(2, 'failed'), delivery(3, 'pending'))
  await put(delivery(4, 'failed', true), delivery(6, 'failed'))
  await look()
  t.equal((await told()).length, 6)
  await put(delivery(5, 'failed'))
  await look()
  t.same((await metrics()).at(-1), 'failed_deliveries 3')
})

t.test('another start, and another program at the same time, tell of nothing again', async (t) => {
  const { alert, add, look, told, services, clock } = await startAlerts(t)
  for (let count = 0; count < 5; count++) await alert({ cool_down_seconds: 0 })
  await add('sealed', 10)
  const others = [createAlerts(services), createAlerts(services)]
  await Promise.all([look(), ...others.map((other) => other.evaluate())])
  t.equal((await told()).length, 5, 'each of them once')
  for (const away of [SECOND_MS, 3 * MINUTE_MS]) {
    clock.advance(away)
    await createAlerts(services).evaluate()
    await createAlerts(services).evaluate()
  }
  t.equal((await told()).length, 5)
})

t.test('a clock that went back does not show the same minutes again', async (t) => {
  const { alert, add, look, told, store } = await startAlerts(t)
  await alert({ cool_down_seconds: 0 })
  await look()
  for (let minute = 0; minute < 20; minute++) {
    await look(MINUTE_MS)
    if (minute === 5) await add('sealed', 10)
  }
  t.equal((await told()).length, 1)
  await look(-16 * MINUTE_MS) // just before it happened, by the clock
  const ahead = await store.read.select().from(schema.figures)
  t.same(
    ahead.filter(({ step }) => step === 'minute'),
    [],
    'what lies ahead was counted already',
  )
  for (let minute = 0; minute < 30; minute++) await look(MINUTE_MS)
  t.equal((await told()).length, 1)
  await add('sealed', 10)
  await look()
  t.equal((await told()).length, 2)
})

t.test('another question is a new one; one that is not asked is not answered', async (t) => {
  const { alert, add, look, told, operator } = await startAlerts(t)
  const id = await alert({ cool_down_seconds: 0 })
  const change = (patch: object) => operator('PATCH', `/tenants/acme/alerts/${id}`, patch)
  await change({ is_enabled: false })
  await add('sealed', 20)
  await look()
  t.same(await told(), [])
  await change({ is_enabled: true })
  await look()
  t.equal((await told()).length, 1)
  await change({ cool_down_seconds: 5 })
  await look(MINUTE_MS)
  t.equal((await told()).length, 1, 'the same question')
  await change({ threshold: 15 })
  await look(MINUTE_MS)
  t.equal((await told()).length, 2)
})

t.test('alerts go with their tenant', async (t) => {
  const { alert, operator, store, look, told, add } = await startAlerts(t)
  await alert()
  await add('sealed', 10)
  await operator('DELETE', '/tenants/acme')
  await look()
  t.same(await told(), [])
  t.same(await store.read.select().from(schema.alerts), [])
})

t.test('administrators are told by email, on every plan, and not too often', async (t) => {
  const send = () => Promise.reject(new Error('no mail server is there, so mails stay queued'))
  const { services, clock, alert, add, store } = await startAlerts(t, {
    mailTransport: { send, close: () => undefined },
  })
  const { consoleAccess, users } = services
  await consoleAccess.ensureRealm()
  const account = (name: string) => ({
    ...{ username: name, name, email: `${name}@example.test`, password: 'a long walk by the sea' },
  })
  const actor = { name: 'operator', requestId: 'r1' }
  for (const name of ['ada', 'mallory']) {
    const { userId } = await users.create(CONSOLE_REALM, account(name), actor)
    if (name === 'ada') await giveRole(services, userId, 'acme')
  }
  await alert({ email_language: 'de', cool_down_seconds: 0 })
  await alert({ cool_down_seconds: 0 })
  const mails = () => store.read.select().from(schema.mails)
  const trigger = async () => {
    await add('sealed', 10)
    await services.alerts.evaluate()
  }
  const wait = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      clock.advance(MINUTE_MS)
      await services.alerts.evaluate()
    }
  }
  const triggered = async () => {
    const rows = await store.read.select().from(schema.outbox)
    return rows.filter(({ event }) => event === 'alert.triggered').length
  }
  await trigger()
  t.equal((await mails()).length, 1, 'one person, of the alert that says so')
  t.notMatch(JSON.stringify(await mails()), 'ada@example', 'sealed at rest')
  await wait(7)
  await trigger()
  t.equal(await triggered(), 4, 'again')
  t.equal((await mails()).length, 1, 'but too soon for a second email')
  await wait(LIMITS.alertEmailEveryMs / MINUTE_MS)
  await trigger()
  t.equal((await mails()).length, 2)
  t.ok(LIMITS.alertEmailRecipientsMax <= LIMITS.pageItemsMax)
})
