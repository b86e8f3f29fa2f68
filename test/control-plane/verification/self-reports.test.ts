import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { middleware, startScene, type SeenCheck } from './scene.ts'

const report = (...checks: object[]) => ({
  cli_version: '0.1.0',
  project: { framework: 'express', language: 'typescript' },
  checks,
})
const checksOf = (answer: { body: Record<string, unknown> }) => answer.body['checks'] as SeenCheck[]

void t.test('a self-report is recorded and labelled as one', async (t) => {
  const { customer, services } = await startScene(t)
  const sent = report(
    { check: 'config_found', status: 'pass', detail: 'service.json', next_action: '' },
    { check: 'key_file', status: 'warn' },
  )
  t.match(await customer('POST', 'verify/local', sent), { status: 200, body: { recorded: 2 } })
  const status = await customer('GET', 'verify/status')
  t.match(status.body, {
    status: 'pass',
    ran: 2,
    checks: [
      { check: 'config_found', status: 'pass', detail: 'service.json', source: 'self_report' },
      { check: 'key_file', status: 'warn', detail: '', next_action: '', source: 'self_report' },
    ],
  })
  const [entry] = (await services.auditTrail.list({ limit: 1, cursor: undefined })).items
  t.match(entry, {
    action: 'verification.self_reported',
    actor: 'analyzer:acme',
    content: { cli_version: '0.1.0', framework: 'express', checks: ['config_found', 'key_file'] },
  })
})

void t.test('the newest report of a check replaces the one before', async (t) => {
  const { customer } = await startScene(t)
  await customer('POST', 'verify/local', report({ check: 'built', status: 'fail' }))
  t.match((await customer('GET', 'verify/status')).body, { status: 'fail', ran: 1 })
  await customer('POST', 'verify/local', report({ check: 'built', status: 'pass' }))
  t.match((await customer('GET', 'verify/status')).body, { status: 'pass', ran: 1 })
  await customer('POST', 'verify/local', report({ check: 'built', status: 'skip' }))
  t.match((await customer('GET', 'verify/status')).body, { status: 'unknown', ran: 1 })
})

void t.test('a self-report hides no platform result, and takes nobody live', async (t) => {
  const { customer, probe, clock } = await startScene(t)
  t.equal((await probe()).statuses['middleware_mounted'], 'fail')
  clock.advance(1000)
  const lie = report(
    { check: 'middleware_mounted', status: 'pass', detail: 'trust me' },
    { check: 'key_installed', status: 'pass' },
  )
  t.match(await customer('POST', 'verify/local', lie), { status: 200, body: { recorded: 2 } })

  const status = await customer('GET', 'verify/status')
  t.equal(status.body['status'], 'fail', 'what the platform saw fail, only it can see mended')
  const both = checksOf(status).filter(({ check }) => check === 'middleware_mounted')
  t.match(both, [
    { status: 'fail', source: 'platform' },
    { status: 'pass', detail: 'trust me', source: 'self_report' },
  ])
  t.match(await customer('POST', 'go-live'), {
    status: 409,
    body: { missing: ['middleware_mounted', 'key_installed'] },
  })
})

void t.test('a self-report that failed is outdated by a newer look of the platform', async (t) => {
  const { scene, customer, probe, clock, services } = await startScene(t)
  scene.application = middleware(async () =>
    (await services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  await probe()
  clock.advance(1000)
  const failed = report({ check: 'middleware_mounted', status: 'fail' })
  await customer('POST', 'verify/local', failed)
  t.match((await customer('GET', 'verify/status')).body, { status: 'fail' }, 'the newest counts')
  clock.advance(1000)
  t.match((await probe()).body, { status: 'pass', ran: 6 })
})

void t.test('as many self-reports are kept as the limit says, the newest', async (t) => {
  const { customer, clock } = await startScene(t)
  const half = LIMITS.selfReportChecksMax
  t.equal(LIMITS.selfReportsKeptMax, 2 * half)
  for (const round of ['a', 'b', 'c']) {
    const checks = Array.from({ length: half }, (_, index) => ({
      check: `${round}_${index}`,
      status: 'pass',
    }))
    const answer = await customer('POST', 'verify/local', report(...checks))
    t.match(answer.body, { recorded: half })
    clock.advance(1000)
  }
  const kept = checksOf(await customer('GET', 'verify/status')).map(({ check }) => check)
  t.equal(kept.length, LIMITS.selfReportsKeptMax)
  t.notOk(kept.some((check) => check.startsWith('a_')))
})

void t.test('what is no report is refused, names its field and writes nothing', async (t) => {
  const { customer } = await startScene(t)
  const check = { check: 'built', status: 'pass' }
  const long = 'x'.repeat(LIMITS.selfReportTextCharactersMax)
  const good = [
    report(),
    report({ ...check, detail: long, next_action: 'first line\nsecond line' }),
    report({ ...check, check: 'a'.repeat(LIMITS.checkNameCharactersMax) }),
    { ...report(), project: { framework: null, language: null } },
  ]
  for (const body of good)
    t.equal(
      (await customer('POST', 'verify/local', body)).status,
      200,
      JSON.stringify(body).slice(0, 99),
    )
  const { body: before } = await customer('GET', 'verify/status')

  const wrong: [field: string, body: unknown][] = [
    ['cli_version', { ...report(), cli_version: undefined }],
    ['cli_version', { ...report(), cli_version: 'v1' }],
    [
      'cli_version',
      { ...report(), cli_version: `1${'0'.repeat(LIMITS.toolVersionCharactersMax)}` },
    ],
    ['project', { ...report(), project: 'express' }],
    ['project', { ...report(), project: { framework: 'express' } }],
    ['project', { ...report(), project: { framework: 'x', language: 'a\u001b[2J' } }],
    ['project', { ...report(), project: { framework: 'x'.repeat(101), language: null } }],
    ['checks', { ...report(), checks: undefined }],
    ['checks', { ...report(), checks: {} }],
    ['checks', report({ ...check, check: 'Built' })],
    ['checks', report({ ...check, check: '1st' })],
    ['checks', report({ ...check, check: '__proto__' })],
    ['checks', report({ ...check, check: 'a'.repeat(LIMITS.checkNameCharactersMax + 1) })],
    ['checks', report({ ...check, status: 'ok' })],
    ['checks', report({ ...check, detail: `${long}x` })],
    ['checks', report({ ...check, next_action: `${long}x` })],
    ['checks', report({ ...check, detail: 'clear \u001b[2J the screen' })],
    ['checks', report({ ...check, detail: '\ud800' })],
    ['checks', report({ ...check, source: 'platform' })],
    ['checks', report(check, check)],
    [
      'checks',
      report(
        ...Array.from({ length: LIMITS.selfReportChecksMax + 1 }, (_, index) => ({
          check: `c${index}`,
          status: 'pass',
        })),
      ),
    ],
    ['source', { ...report(), source: 'platform' }],
  ]
  for (const [field, body] of wrong)
    t.match(
      await customer('POST', 'verify/local', body),
      { status: 400, body: { error: 'field_invalid', field } },
      JSON.stringify(body).slice(0, 120),
    )
  t.strictSame((await customer('GET', 'verify/status')).body, before)
})
