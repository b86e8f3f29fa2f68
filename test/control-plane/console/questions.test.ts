/**
 * What people come to the console with: each question is answered at most two clicks from Start, by
 * links that the pages hold.
 */
import t, { type Test } from 'tap'
import { DAY_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { createReceivers } from '../../support/receivers.ts'
import { FIREFOX, signIns } from '../../support/sign-ins.ts'

const START = '/console/tenants/acme'
const CLICKS_MAX = 2
const receivers = createReceivers()

const seenText = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Where the first link leads to that says this. */
function linkNamed(page: string, name: string): string {
  for (const [, href = '', inside = ''] of page.matchAll(
    /<a\b[^>]*?\bhref="([^"]*)"[^>]*>(.*?)<\/a>/gs,
  ))
    if (seenText(inside).includes(name)) return href.replaceAll('&amp;', '&').replace(/#.*/, '')
  throw new Error(`no link says "${name}"`)
}

async function startQuestions(t: Test) {
  const clock = movableClock()
  const world = await startConsole(t, { clock, receivers: receivers.world })
  const { services, person } = world
  const user = { username: 'ada', email: 'ada@acme.test', name: 'Ada Lovelace', password: '' }
  const ada = await services.users.create('acme', user, ACTOR)
  const session = (sid: string, ip: string) =>
    services.sessions.record({
      ...{ tenantId: 'acme', userId: ada.userId, sid, ip, userAgent: FIREFOX },
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + DAY_MS,
    })
  /** Whoever administers the tenant, signed in just now, from Start on. */
  async function answer(...links: readonly string[]) {
    t.ok(links.length <= CLICKS_MAX, links.join(', '))
    const admin = await person('acme')
    let { text } = await admin.get(START)
    for (const name of links) text = (await admin.get(linkNamed(text, name))).text
    return seenText(text)
  }
  return { ...world, clock, ada, session, answer }
}

void t.test('why was this person refused yesterday', async (t) => {
  const { services, clock, ada, answer, person } = await startQuestions(t)
  const grace = { username: 'grace', email: 'grace@acme.test', name: 'Grace', password: '' }
  const other = await services.users.create('acme', grace, ACTOR)
  await services.policies.put('acme', 'network', { allow: [], deny: ['192.0.2.8'] }, ACTOR)
  await signIns(services, ada, 1, { ip: '192.0.2.8' })
  clock.advance(DAY_MS)
  const refused = /Recent sign-ins .*network denied.* 192\.0\.2\.8/
  t.match(await answer('Overview', 'Ada Lovelace'), refused)

  for (let minute = 0; minute < LIMITS.refusalsListedMax; minute++) {
    clock.advance(MINUTE_MS)
    await signIns(services, other, 1, { ip: '192.0.2.8' })
  }
  await t.rejects(answer('Overview', 'Ada Lovelace'), /no link says/, 'others came behind it')
  const admin = await person('acme')
  const search = linkNamed((await admin.get(START)).text, 'Search')
  const found = await admin.get(`${search}&q=lovelace`)
  t.match(seenText((await admin.get(linkNamed(found.text, 'Ada Lovelace'))).text), refused)
})

void t.test('who is signed in from this address', async (t) => {
  const { services, ada, session, answer, person } = await startQuestions(t)
  await session('sid-1', '192.0.2.8')
  await session('sid-2', '192.0.2.9')
  await signIns(services, ada, 1, { ip: '192.0.2.8' })
  await services.enforcement.receive('edge-1', [
    { tenant_id: 'acme', outcome: 'sealed', reason: 'sealed', path: '/admin', ip: '192.0.2.8' },
  ])
  await services.store.change(async (change) => {
    const denied = { subject: ada.userId, ip: '192.0.2.8', reason: 'network_denied' } as const
    await change.emit('signin.denied', 'acme', denied)
    const content = { address: '192.0.2.8' }
    await change.audit(ACTOR, { action: 'address_block.lifted', tenantId: 'acme', content })
  })
  for (const page of ['Overview', 'Events', 'Sessions', 'Audit']) {
    const found = await answer(page, '192.0.2.8')
    t.match(found, /Ada Lovelace .*192\.0\.2\.8 .*End the session/, page)
    t.notMatch(found, '192.0.2.9', page)
  }
  const admin = await person('acme')
  const ofAda = await admin.get(`${START}/users/${ada.userId}`)
  const tried = ofAda.text.slice(ofAda.text.indexOf('id="sign-ins"'))
  const sessions = await admin.get(linkNamed(tried, '192.0.2.8'))
  t.match(seenText(sessions.text), /Ada Lovelace .*192\.0\.2\.8/)
  const events = await admin.get(linkNamed(sessions.text, 'Events from 192.0.2.8'))
  t.match(seenText(events.text), /Sealed path .*\/admin/, 'and back to what came from there')
  const told = await admin.get(`${START}/events/told`)
  t.match(linkNamed(told.text, '192.0.2.8'), `${START}/sessions?q=192.0.2.8`)
  const whole = await (await person('operator')).get('/console/audit')
  t.match(linkNamed(whole.text, '192.0.2.8'), `${START}/sessions?q=192.0.2.8`)
})

void t.test('what changed last week, and who did it', async (t) => {
  const { services, clock, answer } = await startQuestions(t)
  const grace = { name: 'console:grace@example.test', requestId: 'r1' }
  await services.policies.put('acme', 'mfa', { mode: 'required' }, grace)
  clock.advance(6 * DAY_MS)
  t.match(
    await answer('Audit', 'Last 7 days'),
    /grace@example\.test .*Changed the second factor policy .*Second factor was Optional: .* is Required: /,
  )
  clock.advance(2 * DAY_MS)
  t.notMatch(await answer('Audit', 'Last 7 days'), /Changed the second factor policy — /)
})

void t.test('which sealed paths are being tried', async (t) => {
  const { services, answer } = await startQuestions(t)
  await services.enforcement.receive('edge-1', [
    { tenant_id: 'acme', outcome: 'sealed', reason: 'sealed', path: '/admin/keys', count: 7 },
  ])
  t.match(await answer('Events', 'Sealed paths'), /\/admin\/keys 7 /)
})

void t.test('is this webhook delivering', async (t) => {
  const { services, clock, answer } = await startQuestions(t)
  await services.tenants.setPlan('acme', 'premium', ACTOR)
  let status = 204
  const receiver = await receivers.start(t, () => status)
  const wish = { url: receiver.url, events: ['tenant.suspended'] as const, description: 'Siem' }
  await services.webhooks.create('acme', wish, ACTOR)
  clock.advance(1)
  const host = new URL(receiver.url).host
  const tell = async () => {
    await services.store.change((change) =>
      change.emit('tenant.suspended', 'acme', { status: 'suspended' }),
    )
    await services.dispatcher.run()
  }
  await tell()
  t.match(await answer('Webhooks', host), /Deliveries .*tenant\.suspended .*Delivered/)
  status = 500
  await tell()
  const once =
    /Retrying .*has failed once\. The next attempt is at .*Waiting next attempt: .*HTTP 500/
  t.match(await answer('Webhooks', host), once)
  t.match(await answer('Webhooks'), /Retrying/, 'as the list says')
  for (const minutes of [1, 2, 6, 28, 100]) {
    clock.advance(minutes * MINUTE_MS)
    await services.dispatcher.run()
  }
  t.match(await answer('Webhooks', host), /Failing .*All deliveries have failed since .*HTTP 500/)
  t.match(await answer('Webhooks'), /Failing/, 'as the list says')
})
