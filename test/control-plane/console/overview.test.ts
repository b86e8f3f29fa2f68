/** Overview of a tenant, and Metrics of the service: what was counted, in numbers and as charts. */
import t, { type Test } from 'tap'
import type { FigureSource } from '../../../control-plane/store/monitoring-names.ts'
import { addFigures } from '../../../control-plane/store/queries/figures.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { insertDeliveries } from '../../../control-plane/store/queries/webhook-deliveries.ts'
import { insertWebhook } from '../../../control-plane/store/queries/webhooks.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'
import { signIns } from '../../support/sign-ins.ts'

const NOW_MS = Date.parse('2026-03-01T12:34:00Z')
const OVERVIEW = '/console/tenants/acme/overview'
const RANGES = { hour: 60, day: 24, week: 168, month: 30 } as const

async function startFigures(t: Test) {
  const clock = movableClock(NOW_MS)
  const world = await startConsole(t, { clock })
  const { store } = world.services
  const add = (tenantId: string, source: FigureSource, counts: Record<string, number>) =>
    store.change(({ queries }) =>
      addFigures(
        queries,
        source,
        clock.nowMs(),
        new Map([
          [
            tenantId,
            Object.entries(counts).map(([name, count]) => {
              const [outcome = '', reason = ''] = name.split(':')
              return { outcome: outcome as 'sealed', reason, count }
            }),
          ],
        ]),
      ),
    )
  return { ...world, clock, add }
}

const tile = (label: string, value: string) =>
  new RegExp(`<dt>${label}</dt><dd>\\s*${value}\\s*</dd>`)

void t.test('every range shows the same counts, each in its own steps', async (t) => {
  const { add, person } = await startFigures(t)
  await add('acme', 'edge', { 'forwarded:session': 1200, 'sealed:sealed': 30, 'sign_in:idle': 4 })
  await add('acme', 'realm', { signed_in: 9, 'denied:network_denied': 2, 'failed:code_wrong': 5 })
  await add('other', 'edge', { 'forwarded:session': 70_000 })
  const ada = await person('acme')
  for (const [range, steps] of Object.entries(RANGES)) {
    const { status, text } = await ada.get(`${OVERVIEW}?range=${range}`)
    t.equal(status, 200)
    t.match(text, tile('Requests', '1,234'), range)
    t.match(text, tile('Refusals', '37'), range)
    t.match(text, tile('Sign-ins', '9'), range)
    t.match(text, new RegExp(`range=${range}" aria-current="true"`), range)
    const plotted = [...text.matchAll(/data-chart="([^"]+)"/g)].map(
      ([, json = '']) =>
        JSON.parse(json.replaceAll('&quot;', '"')) as {
          times: number[]
          lines: { values: number[] }[]
        },
    )
    t.strictSame(
      plotted.map(({ times }) => times.length),
      [steps, steps, steps],
      range,
    )
    t.ok((plotted[0]?.times.at(-1) ?? 0) * 1000 <= NOW_MS, 'the last step is under way')
    t.equal(plotted[0]?.lines[0]?.values.at(-1), 1200, 'and what happens now is counted in it')
    t.equal(text.match(/<tbody>/g)?.length, 4, 'a table for each chart, and one of reasons')
    t.match(text, /Sign-in denied<\/th>.*network denied.*>2</s)
  }
  t.equal((await ada.get(`${OVERVIEW}?range=year`)).status, 400)
})

void t.test('the legend tells lines apart without colours, and sums them up', async (t) => {
  const { add, person } = await startFigures(t)
  await add('acme', 'edge', { 'forwarded:session': 1200, 'sign_in:idle': 3, 'refused:idle': 1 })
  const { text } = await (await person('acme')).get(OVERVIEW)
  const legend = text.slice(text.indexOf('class="legend"'), text.indexOf('data-chart'))
  const dashes = [...legend.matchAll(/stroke-dasharray="([^"]*)"/g)].map(([, dash]) => dash)
  t.equal(dashes.length, 3)
  t.equal(new Set(dashes).size, 3)
  t.match(legend, /Forwarded.*1,200.*Redirected to sign-in.*>3<.*Refused or sealed.*>1</s)
})

void t.test('many reasons become five lines and the others together', async (t) => {
  const { add, person } = await startFigures(t)
  const reasons = ['idle', 'revoked', 'suspended', 'not_ready', 'state_lost', 'sealed', 'probe']
  await add(
    'acme',
    'edge',
    Object.fromEntries([
      ...reasons.map((reason, index) => [`refused:${reason}`, 100 - index]),
      ['forwarded:session', 5000],
    ]) as Record<string, number>,
  )
  const { text } = await (await person('acme')).get(OVERVIEW)
  const after = text.slice(text.indexOf('Refusals by reason'))
  const legend = after.slice(0, after.indexOf('data-chart'))
  t.equal(legend.match(/<li>/g)?.length, 6)
  t.match(legend, /Other reasons.*>189</s)
})

void t.test('sessions that are alive are counted, and the latest refusals shown', async (t) => {
  const { services, person, clock } = await startFigures(t)
  const account = { username: 'bob', email: 'bob@example.test', name: 'Bob', password: '' }
  const actor = { name: 'test', requestId: 'test' }
  const bob = await services.users.create('acme', account, actor)
  const ada = await person('acme')
  t.match((await ada.get(OVERVIEW)).text, /Nothing blocked yet.*No data in this period/s)
  const issued = { tenantId: 'acme', userId: bob.userId, ip: '192.0.2.1', userAgent: 'test' }
  for (const [sid, ms] of [
    ['alive', 3_600_000],
    ['over', -1],
  ] as const)
    await services.sessions.record({
      ...issued,
      sid,
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + ms,
    })
  await services.policies.put('acme', 'network', { deny: ['203.0.113.0/24'] }, actor)
  await signIns(services, bob, 1, { ip: '203.0.113.7' })
  await services.enforcement.receive('edge-1', [
    {
      tenant_id: 'acme',
      outcome: 'sealed',
      reason: 'sealed',
      ip: '203.0.113.9',
      path: '/admin',
      count: 3,
    },
  ])
  await signIns(services, bob, 1, { ip: '198.51.100.7', facts: { password: 'wrong' } })
  const { text } = await ada.get(OVERVIEW)
  t.match(text, tile('Active sessions now', '1'))
  const latest = text.slice(text.indexOf('Latest refusals'))
  t.match(
    latest,
    new RegExp(
      `Sign-in failed.*wrong username or password.*users/${bob.userId}#sign-ins.*198\\.51\\.100\\.7`,
      's',
    ),
    'also of a wrong password',
  )
  t.match(latest, /Sealed path and 2 more.*<code>\/admin<\/code>/s, 'with the path and how often')
  t.match(
    latest,
    new RegExp(
      `Sign-in denied.*network denied.*users/${bob.userId}#sign-ins"[^>]*>[^<]*</a>.*sessions\\?q=203\\.0\\.113\\.7`,
      's',
    ),
    'to the sign-ins of the person',
  )
  const own = await ada.get(`/console/tenants/acme/users/${bob.userId}`)
  t.match(own.text, /id="sign-ins".*network denied/s, 'where each says why it was refused')
  t.match(latest, /Sealed path.*sessions\?q=203\.0\.113\.9/s)
  const other = await (await person('other')).get('/console/tenants/other/overview')
  t.notMatch(other.text, /203\.0\.113/)
})

void t.test('counting sessions stops somewhere, and says so', async (t) => {
  const { services, person, clock } = await startFigures(t)
  const issued = { tenantId: 'acme', userId: 'bob', ip: '192.0.2.1', userAgent: 'test' }
  const times = { issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + 3_600_000 }
  const most = LIMITS.sessionsCountedMax
  for (let count = 0; count < most - 1; count++)
    await services.sessions.record({ ...issued, ...times, sid: `busy-${count}` })
  const ada = await person('acme')
  t.match((await ada.get(OVERVIEW)).text, tile('Active sessions now', '999'))
  await services.sessions.record({ ...issued, ...times, sid: 'one more' })
  t.match((await ada.get(OVERVIEW)).text, tile('Active sessions now', '1,000 or more'))
})

void t.test('operators see all tenants together, and who is refused most', async (t) => {
  const { add, person } = await startFigures(t)
  const grace = await person('operator')
  const empty = await grace.get('/console/figures')
  t.match(empty.text, /<h1[^>]*>\s*Metrics/)
  t.match(empty.text, /href="\/console\/figures"[^>]*>\s*(?:<svg[^]*?<\/svg>)?\s*Metrics/)
  t.match(empty.text, /No requests in this period.*No refusals/s)
  await add('acme', 'edge', { 'forwarded:session': 5, 'sealed:sealed': 2 })
  await add('other', 'edge', { 'forwarded:session': 6, 'sealed:sealed': 3 })
  for (const range of Object.keys(RANGES)) {
    const { status, text } = await grace.get(`/console/figures?range=${range}`)
    t.equal(status, 200)
    t.match(text, tile('Requests', '16'), range)
    t.match(text, tile('Refusals', '5'), range)
    const ranked = text.slice(text.indexOf('Most refusals'))
    t.match(ranked, /tenants\/other\/overview.*>3<.*tenants\/acme\/overview.*>2</s, range)
  }
  t.match(empty.text, /Deliveries queued.*0/s)
})

void t.test('ten refusals and ten tenants are listed, and no more', async (t) => {
  const { add, services, person } = await startFigures(t)
  const most = LIMITS.refusalsListedMax
  const actor = { name: 'test', requestId: 'test' }
  for (let count = 0; count <= most; count++) {
    await services.enforcement.receive('edge-1', [
      { tenant_id: 'acme', outcome: 'sealed', ip: `203.0.113.${count}` },
    ])
    await services.tenants.create(tenantNamed(`many-${count}`), actor)
    await add(`many-${count}`, 'edge', { 'sealed:sealed': count + 1 })
  }
  const own = (await (await person('acme')).get(OVERVIEW)).text
  t.equal(own.match(/sessions\?q=/g)?.length, most)
  t.notMatch(own, /203\.0\.113\.0</, 'the oldest is left out')
  const all = (await (await person('operator')).get('/console/figures')).text
  t.equal(all.match(/many-\d+\/overview/g)?.length, most)
  t.notMatch(all, /many-0\//, 'the one with the fewest is left out')
})

void t.test('all that waits in the queue of webhooks is counted', async (t) => {
  const { services, person, clock } = await startFigures(t)
  const nowMs = clock.nowMs()
  const hook = (webhookId: string) => ({
    ...{ webhookId, tenantId: 'acme', url: 'https://a.example/', events: [], description: '' },
    ...{ secretSealed: '', previousSecretSealed: null, previousSecretUntil: null },
    ...({ state: 'active', pausedReason: null, fromSequence: 0, failedCount: 0 } as const),
    ...{ failingSince: null, createdAt: nowMs, updatedAt: nowMs },
    ...{ droppedCount: 0, droppedSince: null, generation: 0 },
  })
  const delivery = (webhookId: string, count: number) => ({
    ...{ deliveryId: `${webhookId}-${count}`, webhookId, tenantId: 'acme', body: '{}' },
    ...({ event: 'signin.denied', isTest: false, state: 'pending', problem: null } as const),
    ...{ attempts: 0, nextAt: nowMs, leaseOwner: null, leaseUntil: null },
    ...{
      replayedFrom: null,
      createdAt: nowMs,
      updatedAt: nowMs,
      generation: 0,
      isSentAgain: false,
    },
  })
  const most = LIMITS.webhookPendingMax
  for (const [webhookId, count] of Object.entries({ one: most, other: most, third: 1 }))
    await services.store.change(async ({ queries }) => {
      await insertWebhook(queries, hook(webhookId))
      const rows = Array.from({ length: count }, (_, at) => delivery(webhookId, at))
      await insertDeliveries(queries, rows)
    })
  const { text } = await (await person('operator')).get('/console/figures')
  t.match(text, tile('Deliveries queued', '20,001'))
})

void t.test('hours are those of the tenant, where somebody has said where it is', async (t) => {
  const { add, person, services } = await startFigures(t)
  await add('acme', 'edge', { 'forwarded:session': 7 })
  const ada = await person('acme')
  const zoneIn = (text: string) => /&quot;timeZone&quot;:&quot;([^&]+)/.exec(text)?.[1]
  const own = (await ada.get(OVERVIEW)).text
  t.equal(zoneIn(own), undefined, 'else those of who looks')
  t.match(own, /<time datetime="/)
  await services.tenants.patch('acme', { timeZone: 'Asia/Kolkata' }, ACTOR)
  const { text } = await ada.get(OVERVIEW)
  t.equal(zoneIn(text), 'Asia/Kolkata')
  t.match(text, /Time \(Asia\/Kolkata\)<\/th>/)
  const hour = new Date(NOW_MS).toISOString().slice(11, 13)
  const there = String((Number(hour) + 5) % 24).padStart(2, '0')
  t.match(text, new RegExp(`scope="row">\\d{4}-\\d\\d-\\d\\d ${there}:30<`), 'half hours too')
  t.equal(zoneIn((await ada.get(`${OVERVIEW}?range=month`)).text), 'UTC', 'days are of UTC')
})

void t.test(
  'in sdk mode, what no middleware reports is left out, and the page says why',
  async (t) => {
    const { add, person, services } = await startFigures(t)
    await services.tenants.patch('acme', { mode: 'sdk' }, ACTOR)
    await add('acme', 'edge', { 'sealed:sealed': 3 })
    await add('acme', 'application', { 'forwarded:machine': 2 })
    const ada = await person('acme')
    const { text } = await ada.get(OVERVIEW)
    t.notMatch(text, /<dt>Requests<|Redirected to sign-in/)
    t.match(text, tile('Refusals', '3'))
    t.match(
      text,
      /Requests that its middleware lets through are not reported, except those of machines\./,
    )
    t.match(text, 'Refused requests, per hour')
    await add('acme', 'edge', { 'forwarded:session': 7 })
    t.match((await ada.get(OVERVIEW)).text, tile('Requests', '12'), 'from when it was at a gateway')
  },
)
