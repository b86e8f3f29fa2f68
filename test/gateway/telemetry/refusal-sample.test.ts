/** What strangers were refused is told of, a few rows a minute, and never more. */
import t from 'tap'
import { createRefusalSample } from '../../../gateway/telemetry/refusal-sample.ts'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { EnforcementEvent } from '../../../shared/fleet/snapshot.ts'
import { movableClock } from '../../support/control-plane.ts'
import { HOST, startEdge } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

function startSample() {
  const clock = movableClock()
  const told: EnforcementEvent[] = []
  const sample = createRefusalSample({ clock, report: (event) => told.push(event) })
  const refused = (path: string, changes: object = {}) =>
    sample.add({
      ...{ tenantId: 'acme', reason: 'sealed', ip: '203.0.113.7', host: 'acme.example' },
      path,
      ...changes,
    })
  const taken = () => {
    sample.send()
    return told.splice(0)
  }
  return { clock, refused, taken }
}

t.test('what is alike is one row that says how often', async (t) => {
  const { refused, taken } = startSample()
  for (let at = 0; at < 3; at++) refused('/admin')
  refused('/admin', { ip: '203.0.113.8' })
  refused('/a\u0007b', { reason: 'path_unreadable' })
  refused('/', { reason: 'suspended' })
  const place = { tenant_id: 'acme', app_host: 'acme.example' }
  t.match(taken(), [
    { ...place, outcome: 'sealed', path: '/admin', ip: '203.0.113.7', count: 3 },
    { ...place, outcome: 'sealed', path: '/admin', ip: '203.0.113.8', count: 1 },
    { ...place, outcome: 'refused', reason: 'path_unreadable', path: '/a?b', count: 1 },
  ])
  t.same(taken(), [])
})

t.test('one tenant lists so many rows a minute; what is beyond is counted', async (t) => {
  const { clock, refused, taken } = startSample()
  const most = LIMITS.refusalsListedPerTenantMinuteMax
  for (let at = 0; at < most + 5; at++) refused(`/admin/${at}`)
  refused('/admin/0')
  const rows = taken()
  t.equal(rows.length, most + 1)
  t.match(rows[0], { path: '/admin/0', count: 2 })
  t.match(rows.at(-1), { outcome: 'sealed', count: 5, path: undefined, ip: undefined })
  refused('/again')
  t.match(taken(), [{ path: undefined, count: 1 }], 'still the same minute')
  clock.advance(MINUTE_MS)
  refused('/again')
  t.match(taken(), [{ path: '/again', count: 1 }])
})

t.test('all tenants together list so many rows a minute', async (t) => {
  const { refused, taken } = startSample()
  const most = LIMITS.refusalsListedPerMinuteMax
  for (let at = 0; at < 3 * most; at++) refused('/admin', { tenantId: `tenant-${at}` })
  const rows = taken()
  t.equal(rows.filter(({ path }) => path !== undefined).length, most)
  t.equal(rows.length, 2 * most, 'and of those that are only counted no more')
})

t.test('a path is cut, and has nothing that a terminal would carry out', async (t) => {
  const { refused, taken } = startSample()
  const most = LIMITS.refusedPathCharactersMax
  refused('/x'.repeat(most))
  refused('/\u001b[31mred\u00ff')
  t.match(taken(), [{ path: '/x'.repeat(most / 2) }, { path: '/?[31mred?' }])
})

t.test('the gateway tells which sealed path was tried, without its query', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url, {})
  const client = new RawClient(edge.port)
  client.send(`GET /admin/keys?token=secret HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: t\r\n\r\n`)
  t.match(await client.answer(), { status: 404 })
  client.close()
  edge.gateway.telemetry.take()
  const told = () =>
    edge.reports.flatMap((report) => (report.type === 'events' ? report.events : []))
  await until(() => told().length > 0)
  t.match(told(), [{ outcome: 'sealed', path: '/admin/keys', count: 1, reason: 'sealed' }])
  t.notMatch(JSON.stringify(told()), 'secret')
})
