/** Alerts by email to who administers nothing: asked first, bounded, and left by a link. */
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ALERT_EMAILS_PATH } from '../../../control-plane/mail/alert-links.ts'
import {
  findRecipient,
  recipientsOf,
  updateRecipient,
  upsertRecipient,
} from '../../../control-plane/store/queries/alert-recipients.ts'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'

interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly unsubscribe?: string
}

const BOB = 'bob@else.test'
const RULE = {
  metric: 'sealed_hits',
  ...{ threshold: 10, windowSeconds: 60, coolDownSeconds: 0 },
  isEnabled: true,
} as const

async function startRecipients(t: Test) {
  const clock = movableClock(Date.parse('2026-03-01T12:00:00Z'))
  const mails: Mail[] = []
  const mailTransport = {
    send: async (mail: Mail) => void mails.push(mail),
    close: () => undefined,
  }
  const world = await startConsole(t, { clock, mailTransport })
  const { services, ask } = world
  const { alerts, store } = services
  const create = (emailRecipients: readonly string[], language: 'en' | 'de' | null = 'en') =>
    alerts.create('acme', { ...RULE, emailRecipients, emailLanguage: language }, ACTOR)
  /** What has been sent since it was last asked. */
  const sent = async () => {
    await services.mails.deliver()
    return mails.splice(0)
  }
  const trigger = async () => {
    for (let minute = 0; minute < LIMITS.alertEmailEveryMs / MINUTE_MS; minute++) {
      clock.advance(MINUTE_MS)
      await alerts.evaluate()
    }
    await store.change(({ queries, nowMs }) =>
      addFigures(
        queries,
        'edge',
        nowMs,
        new Map([['acme', [{ outcome: 'sealed', reason: '', count: 10 }]]]),
      ),
    )
    await alerts.evaluate()
    return sent()
  }
  const linkIn = ({ text }: Mail) => /link=([\w.-]+)/.exec(text)?.[1] ?? ''
  const open = (link: string) => ask(`${ALERT_EMAILS_PATH}?link=${link}`, '')
  const press = (button: 'confirm' | 'stop', link: string) =>
    ask(`${ALERT_EMAILS_PATH}/${button}`, '', { method: 'POST', form: { link } })
  /** Without anybody saying that it is time. */
  const arrived = async (to: string) => {
    const deadlineMs = Date.now() + 60_000
    while (!mails.some((mail) => mail.to === to) && Date.now() < deadlineMs) await setImmediate()
    return mails.splice(0)
  }
  return { ...world, store, clock, create, sent, arrived, trigger, linkIn, open, press, alerts }
}

void t.test('nobody is written to who has not agreed, and opening a link is no yes', async (t) => {
  const { create, sent, trigger, linkIn, open, press, alerts } = await startRecipients(t)
  const alert = await create([BOB])
  const [asked, ...others] = await sent()
  t.match(asked, { to: BOB, subject: 'Confirm alert emails for acme', text: /within 7 days/ })
  t.same(others, [])
  t.same(await alerts.waitingOf(alert), [BOB])
  const link = linkIn(asked!)
  t.match(await open(link), { status: 200, text: /Send alerts of acme to bob@else\.test\?/ })
  t.same(await trigger(), [], 'a program that looks at mails has opened it')
  t.match(await press('confirm', link), { status: 200, text: /bob@else\.test gets alerts of acme/ })
  t.same(await alerts.waitingOf(alert), [])
  const [told, ...more] = await trigger()
  t.match(told, { to: BOB, subject: 'Alert for acme: Sealed path requests' })
  t.match(told?.text, /because you confirmed this address\. Unsubscribe:/)
  t.notMatch(told?.text, '/console/tenants', 'where they may not go')
  t.same(more, [])
  t.not(linkIn(told!), link, 'an alert says no, and never yes')
  t.match(await press('confirm', link), { status: 410 }, 'a yes is said once')
  t.match(await open(linkIn(told!)), { status: 200, text: /gets alerts.*Unsubscribe/s })
})

void t.test('who has an address to confirm does not wait for the next round', async (t) => {
  const { create, arrived, press, linkIn, alerts, store, clock } = await startRecipients(t)
  const { alertId } = await create([BOB])
  const [asked] = await arrived(BOB)
  t.match(asked, { subject: 'Confirm alert emails for acme' })
  await press('confirm', linkIn(asked!))
  await alerts.patch('acme', alertId, { emailRecipients: [BOB, 'carol@else.test'] }, ACTOR)
  t.match(await arrived('carol@else.test'), [{ to: 'carol@else.test', subject: /^Confirm / }])
  await store.change(({ queries, nowMs }) =>
    addFigures(
      queries,
      'edge',
      nowMs,
      new Map([['acme', [{ outcome: 'sealed', reason: '', count: 10 }]]]),
    ),
  )
  clock.advance(1)
  await alerts.evaluate()
  t.match(await arrived(BOB), [{ to: BOB, subject: /^Alert for acme/ }], 'nor who is alerted')
})

void t.test('an alert that was passed on undoes no unsubscribing', async (t) => {
  const { create, sent, trigger, linkIn, open, press, alerts, clock, services } =
    await startRecipients(t)
  const alert = await create([BOB])
  const asked = linkIn((await sent())[0]!)
  await press('confirm', asked)
  const passedOn = linkIn((await trigger())[0]!)
  t.match(await press('confirm', passedOn), { status: 410 })
  t.match(await press('stop', passedOn), { status: 200 })
  for (const link of [passedOn, asked]) {
    t.match(await open(link), { status: 410 })
    t.match(await press('confirm', link), { status: 410 })
  }
  clock.advance(LIMITS.alertRefusalMs)
  await alerts.patch('acme', alert.alertId, { emailRecipients: [BOB] }, ACTOR)
  const again = linkIn((await sent())[0]!)
  t.match(await press('confirm', passedOn), { status: 410 })
  t.match(await press('confirm', again), { status: 200 })
  t.match(await press('stop', passedOn), { status: 410 }, 'it ended the consent of before')
  const of = await recipientsOf(services.store.read, 'acme')
  t.match(of, [{ email: BOB, confirmHash: null }])
  for (const link of [asked, again, passedOn.split('.')[1]!])
    t.notMatch(JSON.stringify(of), link, 'nothing that is kept is a link')
})

void t.test('the button of a mail program unsubscribes, in one POST of either kind', async (t) => {
  const { create, sent, trigger, linkIn, press, alerts, app } = await startRecipients(t)
  const { alertId } = await create([BOB, 'carol@else.test'])
  const asked = await sent()
  for (const mail of asked) {
    t.equal(mail.unsubscribe, undefined, 'there is nothing to end yet')
    await press('confirm', linkIn(mail))
  }
  const [bob, carol] = (await trigger()).map(({ unsubscribe = '' }) => unsubscribe)
  t.not((await app.request(bob!)).status, 200, 'a program that only looks')
  const form = new URLSearchParams([['List-Unsubscribe', 'One-Click']])
  const parts = new FormData()
  parts.set('List-Unsubscribe', 'One-Click')
  const post = (url: string, body: URLSearchParams | FormData) =>
    app.request(url, { method: 'POST', body }, { address: '192.0.2.1' })
  t.equal((await alerts.get('acme', alertId)).emailRecipients.length, 2)
  t.equal((await post(bob!, form)).status, 200)
  t.same((await alerts.get('acme', alertId)).emailRecipients, ['carol@else.test'])
  t.equal((await post(carol!, parts)).status, 200)
  t.same((await alerts.get('acme', alertId)).emailRecipients, [])
  t.equal((await post(carol!, parts)).status, 410)
})

void t.test('a no lasts, and takes no place of those who are asked', async (t) => {
  const { create, sent, linkIn, press, clock, services } = await startRecipients(t)
  const { alertOtherRecipientsMax: each, alertRecipientsPerTenantMax: most } = LIMITS
  await create([BOB])
  t.match(await press('stop', linkIn((await sent())[0]!)), { status: 200, text: /180 days/ })
  for (let at = 0; at < most; at += each)
    await create(Array.from({ length: each }, (_, more) => `a${at + more}@else.test`))
  t.equal((await sent()).length, most)
  clock.advance(LIMITS.alertRefusalMs - 1)
  await create([BOB])
  t.same(await sent(), [])
  clock.advance(1)
  await t.rejects(create([BOB]), { code: 'alert_recipients_exhausted' }, 'he would be one of them')
  const { store } = services
  await store.change(async ({ queries, nowMs: stoppedAt }) => {
    for (const { email } of await recipientsOf(queries, 'acme'))
      await updateRecipient(queries, 'acme', email, { stoppedAt: email === BOB ? 0 : stoppedAt })
    const bob = (await findRecipient(queries, 'acme', BOB))!
    for (let at = most; at < LIMITS.alertRefusalsPerTenantMax; at++)
      await upsertRecipient(queries, { ...bob, email: `a${at}@else.test`, stoppedAt })
  })
  await t.rejects(create([BOB]), { code: 'alert_recipients_exhausted' }, 'nobody asks a whole town')
  await store.change(({ queries }) =>
    updateRecipient(queries, 'acme', 'a0@else.test', { stoppedAt: null }),
  )
  await create([BOB])
  t.match(await sent(), [{ to: BOB, subject: /Confirm/ }])
})

void t.test('a token that somebody made up waits for no turn to write', async (t) => {
  const { alertRecipients, store } = (await startRecipients(t)).services
  const busy = Promise.withResolvers<void>()
  const writing = store.change(() => busy.promise)
  for (const link of ['made-up', 'acme.made-up'])
    for (const act of ['confirm', 'stop'] as const)
      await t.rejects(async () => alertRecipients[act](link, 'r'), { code: 'ticket_spent' })
  busy.resolve()
  await writing
})

void t.test('who says no is named by no alert from then on, and is asked no more', async (t) => {
  const { create, sent, trigger, linkIn, open, press, alerts, services, clock } =
    await startRecipients(t)
  const first = await create([BOB, 'carol@else.test'])
  const second = await create([BOB])
  const link = linkIn((await sent()).find(({ to }) => to === BOB)!)
  const page = await press('confirm', link)
  const stop = /name="link" value="([\w.-]+)"/.exec(page.text)?.[1] ?? ''
  t.match(await open(stop), { text: /Unsubscribe/ })
  t.match(await press('stop', stop), { status: 200, text: /gets no more alerts of acme/ })
  t.same((await alerts.get('acme', first.alertId)).emailRecipients, ['carol@else.test'])
  t.same((await alerts.get('acme', second.alertId)).emailRecipients, [])
  t.same(await trigger(), [])
  await alerts.patch('acme', second.alertId, { emailRecipients: [BOB] }, ACTOR)
  t.same(await sent(), [], 'typed again at once: not asked again')
  t.same(await trigger(), [])
  const trail = (await services.auditTrail.list({ limit: 9 }, { tenantId: 'acme' })).items
  const own = trail.filter(({ action }) => action.startsWith('alert_recipient.'))
  t.match(own, [
    { action: 'alert_recipient.stopped', actor: BOB },
    { action: 'alert_recipient.confirmed', actor: BOB },
  ])
  clock.advance(LIMITS.alertRefusalMs)
  await alerts.patch('acme', second.alertId, { emailRecipients: [BOB], threshold: 11 }, ACTOR)
  t.same(await sent(), [], 'other changes ask nobody')
  await alerts.patch('acme', second.alertId, { emailRecipients: [] }, ACTOR)
  await alerts.patch('acme', second.alertId, { emailRecipients: [BOB] }, ACTOR)
  const [again] = await sent()
  t.match(again, { to: BOB, subject: /Confirm/ })
  t.match(await press('confirm', link), { status: 410 }, 'the link before it is void')
})

void t.test('a link confirms for so long, and a false one nothing', async (t) => {
  const { create, sent, linkIn, open, press, clock, alerts } = await startRecipients(t)
  const alert = await create([BOB])
  const link = linkIn((await sent())[0]!)
  t.match(await open('nonsense'), { status: 410, text: /expired or was already used/ })
  t.match(await press('stop', 'nonsense'), { status: 410 })
  t.match(await press('confirm', 'x'.repeat(201)), { status: 400 })
  clock.advance(LIMITS.alertConfirmationMsMax - 1)
  t.match(await open(link), { status: 200 })
  clock.advance(1)
  t.match(await open(link), { status: 410 })
  t.match(await press('confirm', link), { status: 410 })
  t.same(await alerts.waitingOf(alert), [BOB])
})

void t.test('in German where the alert writes German', async (t) => {
  const { create, sent, linkIn, open, press, trigger } = await startRecipients(t)
  await create([BOB], 'de')
  const [asked] = await sent()
  t.match(asked, {
    subject: 'Alarme von acme per E-Mail: bitte bestätigen',
    text: /innerhalb von 7 Tagen/,
  })
  const link = linkIn(asked!)
  t.match(await open(link), { text: /lang="de"[^]*Sollen Alarme von acme an bob@else\.test gehen/ })
  t.match(await press('confirm', link), { text: /erhält Alarme von acme/ })
  const [told] = await trigger()
  t.match(told?.text, /weil Sie diese Adresse bestätigt haben\. Abbestellen:/)
  t.match(await press('stop', linkIn(told!)), {
    text: /erhält keine Alarme von acme mehr und wird 180 Tage/,
  })
})

void t.test('an address is asked once, whichever alerts name it, and so many are', async (t) => {
  const { create, sent, person, clock, alerts } = await startRecipients(t)
  const { alertOtherRecipientsMax: each, alertRecipientsPerTenantMax: most } = LIMITS
  await create([BOB])
  await create([BOB])
  t.equal((await sent()).length, 1)
  const address = (at: number) => `a${at}@else.test`
  for (let at = 1; at < most; at += each)
    await create(Array.from({ length: Math.min(each, most - at) }, (_, more) => address(at + more)))
  t.equal((await sent()).length, most - 1)
  const code = 'alert_recipients_exhausted'
  await t.rejects(create([address(most)]), { code })
  t.same(await sent(), [], 'and nothing of it is left')
  for (const { alertId } of (await alerts.list('acme', { limit: 9 })).items)
    await alerts.remove('acme', alertId, ACTOR)
  await t.rejects(create([address(most)]), { code }, 'deleting alerts gives no new addresses')
  clock.advance(LIMITS.alertConfirmationMsMax)
  await create([address(most)])
  t.equal((await sent()).length, 1)

  const admin = await person('acme')
  const form = { metric: 'lockouts', threshold: '5', email_language: 'en', is_enabled: 'on' }
  const times = { window_seconds: '300', cool_down_seconds: '0' }
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => `b${at}@ELSE.test`).join('\r\n')
  const path = '/console/tenants/acme/alerts/new'
  const tooMany = await admin.post(path, { ...form, ...times, email_recipients: many(each + 1) })
  t.match(tooMany, { status: 422, text: /a list of at most 10 email addresses/ })
  const wrong = await admin.post(path, { ...form, ...times, email_recipients: 'nobody' })
  t.match(wrong, { status: 422, text: /email_recipients-error/ })
  const silent = { ...form, email_language: '', email_recipients: BOB }
  t.match(await admin.post(path, { ...silent, ...times }), { text: /Choose a language/ })
  const made = await admin.post(path, { ...form, ...times, email_recipients: many(each) })
  t.equal(made.status, 303)
  const { items } = await alerts.list('acme', { limit: 9 })
  const alert = items.find(({ metric }) => metric === 'lockouts')!
  t.match((await admin.get('/console/tenants/acme/alerts')).text, 'Administrators and 10 others')
  const shown = await admin.get(`/console/tenants/acme/alerts/${alert.alertId}`)
  t.match(shown.text, /Not confirmed yet: b0@else\.test, b1@else\.test/, 'spelled in one way')
})
