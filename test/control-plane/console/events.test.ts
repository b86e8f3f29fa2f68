/** Events of a tenant: found by type, person and address, page by page; and none of another. */
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR } from '../../support/control-plane.ts'

const SEEN = '/console/tenants/acme/events'
const TOLD = `${SEEN}/told`

async function startEvents(t: Test) {
  const world = await startConsole(t)
  const { enforcement, store } = world.services
  return {
    ...world,
    report: (tenantId: string, event: object) =>
      enforcement.receive('edge-1', [{ tenant_id: tenantId, outcome: 'step_up', ...event }]),
    tell: (tenantId: string, subject: string, ip = '192.0.2.1', times = 1) =>
      store.change(async (change) => {
        for (let count = 0; count < times; count++)
          await change.emit('signin.denied', tenantId, { subject, ip, reason: 'network_denied' })
      }),
  }
}

const rowsOf = (text: string) => text.match(/<th scope="row"/g)?.length ?? 0

/** Follows «Next page» to the end. */
async function walk(get: (path: string) => Promise<{ text: string }>, path: string) {
  const pages: number[] = []
  for (let next: string | undefined = path; next !== undefined;) {
    const { text } = await get(next)
    pages.push(rowsOf(text))
    next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  return pages
}

void t.test('what was reported is found by its type, its person and its address', async (t) => {
  const { person, report } = await startEvents(t)
  const ada = await person('acme')
  t.match((await ada.get(SEEN)).text, /No events yet/)
  await report('acme', { subject: 'bob', ip: '192.0.2.1' })
  await report('acme', { subject: 'eve', ip: '192.0.2.2', app_host: 'app.acme.example' })
  await report('acme', { outcome: 'sealed', ip: '192.0.2.2' })
  await report('other', { subject: 'mallory', ip: '192.0.2.9' })
  const found = async (query: string) => rowsOf((await ada.get(`${SEEN}?${query}`)).text)
  t.equal(await found(''), 3)
  t.equal(await found('type=sealed'), 1)
  t.equal(await found('subject=eve'), 1)
  t.equal(await found('address=192.0.2.2'), 2)
  t.equal(await found('address=192.0.2.2&type=step_up&subject='), 1)
  t.match((await ada.get(`${SEEN}?subject=mallory`)).text, /No matching events.*Clear filters/s)
  t.match((await ada.get(SEEN)).text, /app\.acme\.example/)
  t.notMatch((await ada.get(SEEN)).text, /edge-1/, 'gateways are the business of operators')
  const grace = await person('operator')
  t.match((await grace.get(SEEN)).text, /app\.acme\.example.*edge-1/s)
  t.match(await ada.get(`${SEEN}?type=nonsense`), { status: 400 })
  t.match(await ada.get(`${SEEN}?subject=${'x'.repeat(101)}`), { status: 400 })
})

void t.test('pages follow each other without a gap, with the filter', async (t) => {
  const { person, report } = await startEvents(t)
  const ada = await person('acme')
  for (let count = 0; count < 7; count++) {
    await report('acme', { subject: 'bob', ip: '192.0.2.1' })
    await report('acme', { outcome: 'sealed', ip: '192.0.2.2' })
  }
  t.strictSame(await walk(ada.get, `${SEEN}?limit=3&subject=bob`), [3, 3, 1])
  t.strictSame(await walk(ada.get, `${SEEN}?limit=7`), [7, 7])
})

void t.test(
  'what gateways refused is listed with its path, and put together by path',
  async (t) => {
    const { person, report, services } = await startEvents(t)
    const ada = await person('acme')
    t.match((await ada.get(`${SEEN}/sealed`)).text, /No sealed path requested yet/)
    const sealed = { outcome: 'sealed', reason: 'sealed', ip: '203.0.113.7' }
    await report('acme', { ...sealed, path: '/admin/<b>', count: 12 })
    await report('acme', { ...sealed, path: '/admin/<b>', ip: '203.0.113.8' })
    await report('acme', { ...sealed, path: '/backup' })
    await report('acme', { outcome: 'sealed', reason: 'sealed', count: 5 })
    await report('acme', { outcome: 'refused', reason: 'path_unreadable', path: '/%zz' })
    await report('other', { ...sealed, path: '/theirs' })
    const seen = (await ada.get(SEEN)).text
    t.match(seen, /Refused.*malformed path.*\/%zz/s)
    t.match(seen, /Sealed path<\/span> <span class="hint">× 12<\/span>.*<code>\/admin\/&lt;b&gt;/s)
    const tried = (await ada.get(`${SEEN}/sealed`)).text
    t.match(tried, /admin\/&lt;b&gt;.*>13<.*>2<.*203\.0\.113\.8.*Other paths.*>5<.*backup.*>1</s)
    t.notMatch(seen + tried, 'theirs')
    t.match((await services.sealedPaths.tried('acme')).isCut, false)
  },
)

void t.test('of very many requests for sealed paths the newest are put together', async (t) => {
  const { services } = await startEvents(t)
  const { sealedEventsGroupedMax: most, sealedPathsListedMax: listed, rateRefusals } = LIMITS
  const events = Array.from({ length: Math.min(most, rateRefusals.burst) }, (_, at) => ({
    ...{ tenant_id: 'acme', outcome: 'sealed', path: `/${at}`, ip: '203.0.113.7' },
  }))
  for (let at = 0; at < events.length; at += 500)
    await services.enforcement.receive('edge-1', events.slice(at, at + 500))
  const { tried, isCut } = await services.sealedPaths.tried('acme')
  t.equal(tried.length, listed)
  t.equal(isCut, true)
})

void t.test('what webhooks are told of is found the same way, by its content', async (t) => {
  const { person, tell, services } = await startEvents(t)
  const ada = await person('acme')
  t.match((await ada.get(TOLD)).text, /No events in the last 7 days/)
  await tell('acme', 'bob', '192.0.2.1')
  await tell('acme', 'eve', '192.0.2.2')
  await tell('other', 'mallory')
  await services.policies.put('acme', 'mfa', { mode: 'required' }, { name: 'x', requestId: 'x' })
  const found = async (query: string) => rowsOf((await ada.get(`${TOLD}?${query}`)).text)
  t.equal(await found(''), 3)
  t.equal(await found('type=signin.denied'), 2)
  t.equal(await found('subject=eve'), 1)
  t.equal(await found('address=192.0.2.1'), 1)
  const { text } = await ada.get(TOLD)
  t.match(text, /policy\.mfa\.updated.*signin\.denied.*network_denied/s)
  t.notMatch(text, /mallory/)
  t.strictSame(await walk(ada.get, `${TOLD}?limit=1&type=signin.denied`), [1, 1])
})

void t.test('a page looks through so many events, and the next one goes on', async (t) => {
  const { person, tell } = await startEvents(t)
  const ada = await person('acme')
  await tell('acme', 'bob')
  await tell('acme', 'others', '192.0.2.1', LIMITS.eventsLookedThroughMax)
  const first = await ada.get(`${TOLD}?subject=bob`)
  t.match(first.text, /No matches in the 2,000 events searched so far/)
  t.notMatch(first.text, /No matching events/)
  t.strictSame(await walk(ada.get, `${TOLD}?subject=bob`), [0, 1])
})

void t.test('hostile text in an event is shown as text', async (t) => {
  const { person, report } = await startEvents(t)
  const ada = await person('acme')
  const evil = `"><script>alert(1)</script>`
  await report('acme', { subject: evil, ip: evil, reason: evil, app_host: evil })
  const { text } = await ada.get(SEEN)
  t.notMatch(text, /<script>alert/)
  t.match(text, /&lt;script&gt;alert\(1\)/)
  const found = await ada.get(`${SEEN}?subject=${encodeURIComponent(evil)}`)
  t.equal(rowsOf(found.text), 1)
  t.notMatch(found.text, /<script>alert/)
})

void t.test('large events are read a few at a time, and shown short', async (t) => {
  const { person, services } = await startEvents(t)
  const { store } = services
  const ada = await person('acme')
  const list = 'x'.repeat(92_000)
  await store.change(async (change) => {
    for (let count = 0; count < 40; count++)
      await change.emit('signin.denied', 'acme', { subject: 'bob', ip: '192.0.2.1', reason: list })
  })
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const page = await services.eventLog.list('acme', { limit: 200 }, { subject: 'nobody' })
  isDone = true
  t.ok(page.isCut && page.looked < 40, `${page.looked} of 40`)
  t.ok(page.looked * 92_000 < LIMITS.eventBytesLookedThroughMax + 128 * 1024)
  t.ok(turns >= page.looked - 1, `others had ${turns} turns`)
  const { text } = await ada.get(TOLD)
  t.ok(text.length < 200_000, `${text.length}`)
  t.match(text, `${'x'.repeat(LIMITS.eventValueCharactersShown)}…`)
  const pages = await walk(ada.get, TOLD)
  t.equal(
    pages.reduce((sum, rows) => sum + rows, 0),
    40,
  )
  t.ok(pages.length > 3)
})

void t.test('what becomes of connectors, in words and by name', async (t) => {
  const { person, services } = await startEvents(t)
  const ada = await person('acme')
  t.notMatch(
    (await ada.get(SEEN)).text,
    /Connector lost/,
    'in other modes there is nothing to find',
  )
  const { enforcement, store, tenants } = services
  await tenants.patch('acme', { mode: 'connector' }, ACTOR)
  const tell = (outcome: string, reason?: string) =>
    store.change((change) =>
      enforcement.tell(change, 'acme', 'con_1', { outcome, reason, app_host: 'web-1' }),
    )
  await tell('connector_lost')
  await tell('connector_unreachable', 'refused')
  await tell('connector_connected', 'application_reached')
  const { text } = await ada.get(SEEN)
  t.match(text, /Connector connected<.*the application is reachable again<.*web-1.*con_1/s)
  t.match(text, /Application not reachable<.*the application refuses connections</s)
  const lost = (await ada.get(`${SEEN}?type=connector_lost`)).text
  t.equal(rowsOf(lost), 1)
  t.match(lost, /<option value="connector_lost" selected>Connector lost</)
})
