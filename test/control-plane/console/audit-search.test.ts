/** The audit trail is searched by person, action, time and target, and taken along as a file. */
import t from 'tap'
import { DAY_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { csvLine } from '../../../control-plane/requests/csv.ts'
import { startConsole } from '../../support/console.ts'
import { movableClock } from '../../support/control-plane.ts'

const AUDIT = '/console/tenants/acme/audit'
const GRACE = { name: 'console:grace@example.test', requestId: 'r1' }
const ALAN = { name: 'console:alan@example.test', requestId: 'r2' }

async function start(t: Parameters<typeof startConsole>[0]) {
  const clock = movableClock()
  const console = await startConsole(t, { clock })
  const { services } = console
  const { userId } = await services.users.create(
    'acme',
    {
      email: 'ada@acme.test',
      username: '',
      name: 'Ada Lovelace',
      password: 'a lantern on the pier',
    },
    GRACE,
  )
  clock.advance(8 * DAY_MS)
  await services.policies.put('acme', 'network', { deny: ['203.0.113.0/24'] }, ALAN)
  return { ...console, userId, ada: await console.person('acme') }
}

void t.test('who changed what is found by person, action, time and target', async (t) => {
  const { ada, userId } = await start(t)
  const table = async (query: string) => {
    const { text, status } = await ada.get(`${AUDIT}${query}`)
    t.equal(status, 200, query)
    return /<tbody>.*<\/tbody>/s.exec(text)?.[0] ?? text
  }
  const all = await table('')
  t.match(all, /Changed the network policy.*Created a user/s)
  t.match(all, new RegExp(`users/${userId}#sign-ins" title="${userId}">Ada Lovelace<`), 'by name')
  for (const query of ['?actor=GRACE', '?target=ada%40acme', `?target=${userId}`]) {
    const found = await table(query)
    t.match(found, 'Created a user', query)
    t.notMatch(found, 'network policy', query)
  }
  const week = /href="([^"]+)"[^>]*>Last 7 days/.exec((await ada.get(AUDIT)).text)?.[1] ?? ''
  const links = [week.slice(AUDIT.length), '?action=policy.network.changed', '?target=203.0.113']
  for (const query of links) {
    const found = await table(query)
    t.match(found, 'network policy', query)
    t.notMatch(found, 'Created a user', query)
  }
  t.match(await table('?from=2026-01-01&to=2026-01-01'), 'Created a user')
  t.match(await table('?actor=nobody'), /No matching changes.*Clear filters/s)
  for (const query of ['?from=2026-1-1', '?to=yesterday', `?actor=${'a'.repeat(101)}`])
    t.match(await ada.get(`${AUDIT}${query}`), { status: 400 }, query)
})

void t.test('a search looks through so many at a time, and goes on from there', async (t) => {
  const { services, ada } = await start(t)
  await services.store.change(async (change) => {
    for (let at = 0; at <= LIMITS.auditLookedThroughMax; at++)
      await change.audit(ALAN, { action: 'alert.changed', tenantId: 'acme' })
  })
  const first = await ada.get(`${AUDIT}?actor=grace`)
  t.match(first.text, /No matches in the 2,000 changes searched so far/)
  const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.match((await ada.get(next)).text, 'Created a user')
})

void t.test(
  'what was found is exported, safe for spreadsheets, for programs line by line',
  async (t) => {
    const { services, person, ada, userId } = await start(t)
    const evil = { name: 'console:=HYPERLINK("http://evil.example")', requestId: 'r3' }
    await services.users.patch('acme', userId, { name: '=1+1', isDisabled: true }, evil)
    const csv = await ada.get(`${AUDIT}/export?actor=hyperlink`)
    t.match(csv.headers.get('content-disposition'), 'attachment; filename="audit-acme.csv"')
    const [head, line, ...rest] = csv.text.split('\r\n')
    t.match(head, /^time,action,description,actor,/)
    t.match(line, /,user\.changed,Changed a user,"'=HYPERLINK\(""http/)
    t.same(rest, [''], 'no more than was asked for')
    const lines = await ada.get(`${AUDIT}/export?format=jsonl`)
    t.match(lines.headers.get('content-type'), 'application/x-ndjson')
    const entries = lines.text
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one) as object)
    const exported = { action: 'audit.exported', actor: /^console:/, tenant_id: 'acme' }
    t.match(entries[0], { ...exported, details: { format: 'jsonl' } }, 'who took it is in it')
    t.strictSame((entries[1] as { details: object }).details, { actor: 'hyperlink', format: 'csv' })
    t.match(entries[2], { action: 'user.changed', tenant_id: 'acme', user_id: userId })
    const other = await person('other')
    t.equal((await other.get(`${AUDIT}/export`)).status, 404, 'nothing of another tenant')
    t.notMatch((await other.get('/console/tenants/other/audit/export')).text, 'hyperlink')
    const operator = await person('operator')
    t.match(
      (await operator.get('/console/audit/export?format=jsonl&target=acme')).text,
      'user.changed',
    )
    const [last] = (await services.auditTrail.list({ limit: 1 })).items
    t.match(last, { action: 'audit.exported', tenantId: null, content: { target: 'acme' } })
    t.ok(LIMITS.auditExportedMax >= LIMITS.auditLookedThroughMax)
  },
)

void t.test('no cell of a file begins a formula', async (t) => {
  for (const text of ['=1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1'])
    t.match(csvLine([text]), /^"?'/, JSON.stringify(text))
  for (const text of ['a;=1', 'a; "=1"', 'a\n@x', '\uff1d1', 'a;\uff0b1'])
    t.match(csvLine([text]), /(?:^"?|;|\n)'[\s"]*[^\s"]/, `${JSON.stringify(text)}: in any country`)
  t.equal(csvLine(['2026-11-23T09:00:00Z', 'a-b;c']), '2026-11-23T09:00:00Z,a-b;c\r\n')
  t.equal(csvLine(['a', 'b,c', 'say "hi"', 'x\ny']), 'a,"b,c","say ""hi""","x\ny"\r\n')
})

void t.test('an entry with long lists is searched as far as its beginning', async (t) => {
  const { services } = await start(t)
  const { auditCharactersSearched: most } = LIMITS
  const content = { lists: 'x'.repeat(most), end: 'needle' }
  await services.store.change((change) =>
    change.audit(ALAN, { action: 'alert.changed', tenantId: 'acme', content }),
  )
  const found = await services.auditTrail.search({ limit: 10 }, { target: 'needle' })
  t.same(found.items, [])
})
