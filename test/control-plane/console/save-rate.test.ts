/** How often one person may save, and all people of one tenant; and what they are told. */
import t from 'tap'
import { savesTooOften } from '../../../control-plane/console/save-rate.ts'
import type { Viewer } from '../../../control-plane/console-access/console-sessions.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createRateLimits } from '../../../shared/rate-limits.ts'
import { startConsole } from '../../support/console.ts'
import { movableClock } from '../../support/control-plane.ts'

const viewer = (userId: string, changes: Viewer['changes'] = ['acme', 'bolt']) =>
  ({ userId, changes }) as Viewer

t.test('one person may save so often, wherever they do it', (t) => {
  const clock = movableClock()
  const rates = createRateLimits(clock)
  const { burst } = LIMITS.rateConsoleSaves
  for (let at = 0; at < burst; at++) t.equal(savesTooOften(rates, viewer('ada'), 'acme'), undefined)
  const refusal = savesTooOften(rates, viewer('ada'), 'bolt')
  t.match(refusal, { code: 'rate_limited', fields: { retry_after: 1 } })
  t.match(refusal?.detail, /this one was not made\. Wait a second, then send it again/)
  t.equal(savesTooOften(rates, viewer('bob'), 'acme'), undefined, 'a colleague')
  clock.advance(1000)
  t.equal(savesTooOften(rates, viewer('ada'), 'acme'), undefined)
  t.equal(savesTooOften(rates, undefined, undefined), undefined, 'strangers have their own rates')
  t.end()
})

t.test('all people of a tenant together so often, and operators beside them', (t) => {
  const rates = createRateLimits(movableClock())
  const { burst } = LIMITS.rateConsoleSavesOfTenant
  for (let at = 0; at < burst; at++) savesTooOften(rates, viewer(`person ${at}`), 'acme')
  t.match(savesTooOften(rates, viewer('ada'), 'acme'), { code: 'rate_limited' })
  t.equal(savesTooOften(rates, viewer('grace', 'everything'), 'acme'), undefined)
  t.equal(savesTooOften(rates, viewer('bob'), 'bolt'), undefined, 'another tenant')
  t.end()
})

t.test('who saves too often reads so on the page of the form', async (t) => {
  const { person } = await startConsole(t, { clock: movableClock() })
  const ada = await person('acme')
  const save = () => ada.post('/console/tenants/acme/policies/mfa', { mode: 'nonsense' })
  for (let at = 0; at < LIMITS.rateConsoleSaves.burst; at++) t.not((await save()).status, 429)
  const refused = await save()
  t.equal(refused.status, 429)
  t.match(refused.text, /That was a lot of changes at once, and this one was not made/)
  t.equal((await ada.get('/console/tenants/acme/policies')).status, 200, 'reading is no saving')
})

t.test('who is refused again and again reads so without the whole form', async (t) => {
  const { person } = await startConsole(t, { clock: movableClock() })
  const ada = await person('acme')
  const save = () => ada.post('/console/tenants/acme/policies/mfa', { mode: 'nonsense' })
  for (let at = 0; at < LIMITS.rateConsoleSaves.burst; at++) await save()
  const { burst } = LIMITS.rateConsoleFormsShownAgain
  for (let at = 0; at < burst; at++) t.match(await save(), { status: 429, text: /name="mode"/ })
  const short = await save()
  t.match(short, { status: 429, text: /That was a lot of changes at once/ })
  t.notMatch(short.text, /name="mode"/)
})

const USERS = '/console/tenants/acme/users/new'
const BOB = { email: 'bob@acme.test', name: 'Bob', username: '', password: '' }

t.test('what is kept for somebody is counted among what they save', async (t) => {
  const clock = movableClock()
  const { person } = await startConsole(t, { clock })
  const ada = await person('acme')
  const { text } = await ada.get(USERS)
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(text) ?? []
  const [, form_id = ''] = /name="form_id" value="([^"]+)"/.exec(text) ?? []
  const send = () => ada.post(USERS, { ...BOB, csrf, form_id })
  const { burst } = LIMITS.rateConsoleSaves
  clock.advance(LIMITS.consoleFreshMs + 1)
  for (let at = 0; at < burst; at++) t.match(await send(), { status: 403, text: /is kept for an/ })
  const refused = await send()
  t.match(refused, { status: 429, text: /That was a lot of changes at once/ })
  t.notMatch(refused.text, /is kept|name="email"/)

  clock.advance(LIMITS.consoleIdleMs + 1)
  for (let at = 0; at < burst; at++) t.match(await send(), { status: 401, text: /is kept for an/ })
  const out = await send()
  t.equal(out.status, 401)
  t.notMatch(out.text, /is kept/)
})
