/** Alerts of a tenant in the console: made, tried on what was recorded, changed, removed. */
import t from 'tap'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

const PATH = '/console/tenants/acme/alerts'
const FORM = {
  metric: 'sealed_hits',
  threshold: '40',
  window_seconds: '300',
  cool_down_seconds: '3600',
  is_enabled: 'on',
}

void t.test('an alert is made, changed, switched off and removed', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  t.match((await ada.get(PATH)).text, /No alerts yet.*Create alert/s)
  t.match(await ada.post(`${PATH}/new`, FORM), { status: 303, location: /alerts\?done=/ })
  const { items } = await services.alerts.list('acme', { limit: 10 })
  t.match(items, [{ metric: 'sealed_hits', threshold: 40, windowSeconds: 300, isEnabled: true }])
  const one = `${PATH}/${items[0]?.alertId ?? ''}`
  t.match((await ada.get(PATH)).text, /40 or more within 5 min.*OK.*never/s)

  const { is_enabled: _, ...off } = { ...FORM, threshold: '7', window_seconds: '1234' }
  t.match(await ada.post(one, off), { status: 303 })
  const changed = await services.alerts.get('acme', items[0]?.alertId ?? '')
  t.match(changed, { threshold: 7, windowSeconds: 1234, isEnabled: false })
  t.match((await ada.get(PATH)).text, /Disabled/)
  t.match((await ada.get(one)).text, /value="1234" selected>1234 s/, 'kept, though unusual')

  t.match((await ada.get(`${one}/remove`)).text, /Delete the alert for sealed path requests\?/)
  t.match(await ada.post(`${one}/remove`), { status: 303 })
  t.strictSame((await services.alerts.list('acme', { limit: 10 })).items, [])
  t.equal((await ada.get(one)).status, 404)
})

void t.test('what is wrong stands beside its field, and what was typed stays', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  for (const path of [`${PATH}/new`, `${PATH}/preview`]) {
    const answer = await ada.post(path, { ...FORM, threshold: 'many', window_seconds: '5' })
    t.equal(answer.status, 422, path)
    t.match(answer.text, /id="threshold-error">Must be a whole number from 1 to/)
    t.match(answer.text, /value="many"/)
    t.match(answer.text, /id="window_seconds-error">Must be a whole number of seconds from 60/)
  }
  for (let made = 0; made < LIMITS.alertsPerTenantMax; made++)
    t.equal((await ada.post(`${PATH}/new`, FORM)).status, 303)
  const oneMore = await ada.post(`${PATH}/new`, FORM)
  t.match(oneMore, { status: 409, text: /role="alert"/ })
  const { items } = await services.alerts.list('acme', { limit: 100 })
  t.equal(items.length, LIMITS.alertsPerTenantMax)
})

void t.test(
  'the last day says what an alert would have told of, and nothing is made',
  async (t) => {
    const clock = movableClock(Date.parse('2026-03-01T12:00:00Z'))
    const { services, person } = await startConsole(t, { clock })
    await services.store.change(({ queries }) =>
      addFigures(
        queries,
        'edge',
        clock.nowMs() - 3_600_000,
        new Map([['acme', [{ outcome: 'sealed', reason: 'sealed', count: 57 }]]]),
      ),
    )
    const ada = await person('acme')
    const preview = await ada.post(`${PATH}/preview`, FORM)
    t.equal(preview.status, 200)
    t.match(preview.text, /It would have triggered once; the highest count within 5 min was 57/)
    t.match(preview.text, /2026-03-01T11:00:00/)
    t.match(preview.text, /id="threshold"[^>]*value="40"/s, 'the form is there, as it was sent')
    const quiet = await ada.post(`${PATH}/preview`, { ...FORM, threshold: '58' })
    t.match(quiet.text, /would not have triggered: the highest count within 5 min was 57/)
    t.strictSame((await services.alerts.list('acme', { limit: 10 })).items, [])
  },
)

void t.test('a preview of an alert of another tenant finds none', async (t) => {
  const { services, person } = await startConsole(t)
  const actor = { name: 'test', requestId: 'test' }
  const rule = {
    metric: 'lockouts',
    threshold: 1,
    windowSeconds: 60,
    coolDownSeconds: 0,
    isEnabled: true,
  } as const
  const { alertId } = await services.alerts.create('other', rule, actor)
  const ada = await person('acme')
  t.equal((await ada.post(`${PATH}/preview`, { ...FORM, alert_id: alertId })).status, 404)
  t.equal((await ada.post(`${PATH}/${alertId}`, FORM)).status, 404)
  t.equal((await ada.post(`${PATH}/${alertId}/remove`)).status, 404)
  t.match(await services.alerts.get('other', alertId), rule, 'and changes none')
})
