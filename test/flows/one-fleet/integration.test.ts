/** The end of an integration: a sign-in from end to end, through the real programs. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { tenantBody } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'
import { startVerifyingApplication } from '../../support/verifying-application.ts'

const STEPS = [
  'sign_in_started',
  'sign_in_page_shown',
  'sign_in_completed',
  'identity_received',
  'signed_out',
]

interface Check {
  readonly check: string
  readonly status: string
  readonly detail: string
  readonly next_action: string
}

void t.test('one sign-in from end to end', async (t) => {
  const fleet = await wholeFleet(t)
  const database = new Database(join(fleet.folder, 'data/service.db'), { readonly: true })
  t.after(async () => void database.close())
  const count = (table: string, where = 'true') =>
    (database.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get() as { n: number }).n

  /** A published tenant with an application that verifies. */
  async function start(tenantId: string, more: Record<string, unknown> = {}) {
    const { baseUrl } = fleet
    const application = await startVerifyingApplication(t, { tenantId, baseUrl })
    const body = tenantBody(tenantId, application.origin, { plan: 'premium', ...more })
    const created = await fleet.operator('POST', '/tenants', body)
    const key = String(created.body['analyzer_key'])
    const operator = (method: string, path: string, body?: unknown) =>
      fleet.operator(method, `/tenants/${tenantId}${path}`, body)
    await operator('POST', '/publish')
    await fleet.settled()
    return {
      application,
      operator,
      call: (path: string) => fleet.api(key, 'POST', path),
      async complete() {
        const { status, body } = await fleet.api(key, 'POST', '/integration-complete')
        const checks = body['checks'] as unknown as Check[]
        t.strictSame(
          checks.map(({ check }) => check),
          STEPS,
          JSON.stringify(body),
        )
        for (const check of checks) t.match(check, { detail: /\w{3}/, next_action: String })
        for (const check of checks)
          if (check.status === 'fail') t.match(check.next_action, /\w{3}/, check.check)
        const statuses = checks.map(({ status }) => status)
        const at = (name: string) => checks.find(({ check }) => check === name) as Check
        return { status, body, statuses, at }
      },
    }
  }
  const ALL_PASS = STEPS.map(() => 'pass')
  const nothingLeft = (t: Pick<Test, 'equal' | 'notMatch'>, tenantId: string) => {
    const mine = `tenant_id = '${tenantId}'`
    for (const table of ['users', 'sessions', 'sign_ins', 'known_devices', 'mails'])
      t.equal(count(table, mine), 0, `nobody is left in ${table}`)
    t.equal(count('enforcement_events', `${mine} AND outcome = 'logout'`), 0)
    t.equal(count('realm_records', `${mine} AND account_id LIKE 'trial%'`), 0)
    const news = `${mine} AND (event LIKE 'session.%' OR event LIKE 'signin.%')`
    t.equal(count('outbox', news), 0, 'and nobody was told of them')
    const mailbox = join(fleet.folder, 'data/mailbox.jsonl')
    const mails = existsSync(mailbox) ? readFileSync(mailbox, 'utf8') : ''
    t.notMatch(mails, /check\.invalid/, 'nor were they themselves')
  }

  await t.test('is done for real, in pass-through and with protection on', async (t) => {
    const { application, operator, call, complete } = await start('sound')
    const early = await complete()
    t.match(early, { status: 409, statuses: ALL_PASS })
    t.match(early.body, {
      error: 'not_complete',
      missing: ['middleware_mounted', 'key_installed'],
    })
    t.equal((await operator('GET', '')).body['integration_completed_at'], null)

    await call('/verify/probe')
    const first = await complete()
    t.match(first, { status: 200, statuses: ALL_PASS }, JSON.stringify(first.body))
    t.match(first.body['completed_at'], /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    t.match(application.seen.at(-1), { sub: /^trial_/, url: '/' }, 'the application was told who')
    t.equal(
      (await operator('GET', '')).body['integration_completed_at'],
      first.body['completed_at'],
    )
    nothingLeft(t, 'sound')

    t.equal((await call('/go-live')).status, 200)
    await fleet.settled()
    const second = await complete()
    t.match(second, { status: 200, statuses: ALL_PASS }, JSON.stringify(second.body))
    t.match(second.at('signed_out'), { detail: 'After the sign-out the old session is refused.' })
    t.equal(second.body['completed_at'], first.body['completed_at'], 'complete since then')
    nothingLeft(t, 'sound')

    const entries = count('audit', `action = 'integration.checked' AND tenant_id = 'sound'`)
    t.equal(entries, 3)
    const logs = fleet.logs()
    t.notMatch(logs, /sign-in-check-[0-9a-f]{32}.*password/)

    await operator('PATCH', '', { origin: 'http://127.0.0.1:9' })
    t.equal((await operator('GET', '')).body['integration_completed_at'], null, 'another one')
  })

  await t.test('who asks while it runs gets its result', async (t) => {
    const { complete } = await start('twice')
    const [one, two] = await Promise.all([complete(), complete()])
    t.strictSame(one.body, two.body)
    t.equal(count('audit', `action = 'integration.checked' AND tenant_id = 'twice'`), 1)
  })

  await t.test('names the step that fails, and leaves nobody behind', async (t) => {
    const { application, operator, call, complete } = await start('broken')
    await call('/verify/probe')
    const failing = async (step: string, found: RegExp) => {
      const { status, body, at, statuses } = await complete()
      t.match({ status, body }, { status: 409, body: { error: 'not_complete', missing: [step] } })
      t.match(at(step), { status: 'fail', detail: found })
      const index = STEPS.indexOf(step)
      t.strictSame(
        statuses,
        STEPS.map((_, at) => (at < index ? 'pass' : at === index ? 'fail' : 'skip')),
      )
      nothingLeft(t, 'broken')
    }
    application.answer = (_request, response) => response.writeHead(403).end()
    await failing('identity_received', /answers 403/)
    application.answer = (_request, response) => response.writeHead(500).end()
    await failing('identity_received', /answers 500/)
    application.answer = (_request, response) =>
      response.writeHead(302, { Location: '/service/login' }).end()
    await failing('identity_received', /does not accept the new session/)
    application.answer = undefined
    application.clockAheadSeconds = -300
    await failing('identity_received', /answers 401/)
    application.clockAheadSeconds = 0

    await operator('PUT', '/licence', { state: 'expired', blocks_signin: true })
    await fleet.settled()
    await failing('sign_in_started', /license \(expired\) blocks sign-ins/)
    await operator('PUT', '/licence', { state: 'active' })
    await fleet.settled()
    application.answer = (_request, response) =>
      response.writeHead(302, { Location: '/home' }).end()
    t.match(await complete(), { status: 200 }, 'a redirect of its own is an answer like any other')
  })

  await t.test('a policy that needs a person skips, and does not fail', async (t) => {
    const { operator, call, complete } = await start('policies')
    await call('/verify/probe')
    const skips = async (policy: string, settings: object, reason: RegExp) => {
      const put = await operator('PUT', `/policies/${policy}`, settings)
      t.equal(put.status, 200, JSON.stringify(put.body))
      const { status, statuses, at } = await complete()
      t.equal(status, 200)
      t.strictSame(statuses, ['pass', 'pass', 'skip', 'skip', 'skip'])
      t.match(at('sign_in_completed'), { detail: reason })
      nothingLeft(t, 'policies')
    }
    await skips('mfa', { mode: 'required' }, /second factor, which only a real person has/)
    await operator('PUT', '/policies/mfa', { mode: 'off' })
    await skips('network', { allow: ['192.0.2.0/24'] }, /network policy does not allow/)
    await skips('network', { deny: ['127.0.0.0/8', '::1'] }, /network policy blocks/)
    await operator('PUT', '/policies/network', {})
    await skips('device', { require: 'known' }, /second factor/)
    await skips('device', { require: 'enrolled' }, /only allows enrolled devices/)
    await operator('PUT', '/policies/device', { require: 'any' })
    t.match(await complete(), { status: 200, statuses: ALL_PASS })
  })

  await t.test(
    'a page that is missing is a warning, and sealing it seals everything',
    async (t) => {
      const { application, operator, call, complete } = await start('front')
      application.answer = (_request, response) => response.writeHead(404).end()
      await call('/verify/probe')
      const missing = await complete()
      t.match(missing, { status: 200, statuses: ['pass', 'pass', 'pass', 'warn', 'pass'] })
      t.match(missing.at('identity_received'), { detail: /answers 404/, next_action: /page at \// })
      await operator('PATCH', '', { sealed: ['/'] })
      await call('/go-live')
      await fleet.settled()
      const sealed = await complete()
      t.match(sealed, { status: 409 }, JSON.stringify(sealed.body))
      t.match(sealed.at('sign_in_started'), { status: 'fail', detail: /the path \/ is sealed/ })
    },
  )

  await t.test('a stop and a kill in the middle let nobody in', async (t) => {
    const { application, call, operator } = await start('halted')
    await call('/verify/probe')
    const interrupt = async (signal: NodeJS.Signals) => {
      const asked = new Promise<void>((resolve) => {
        application.answer = () => resolve() // and the answer never comes
      })
      const running = call('/integration-complete').catch(() => undefined)
      await asked
      t.equal(count('users', `tenant_id = 'halted'`), 1, 'somebody is signed in')
      t.strictSame((await operator('GET', '/users')).body['items'], [], 'whom nobody sees')
      await fleet.controlPlane.stop(signal)
      await running
    }
    await interrupt('SIGTERM')
    nothingLeft(t, 'halted')
    await fleet.startControlPlane()
    await fleet.settled()
    await interrupt('SIGKILL')
    t.equal(count('users', `tenant_id = 'halted'`), 1, 'which the jobs sweep')
    await fleet.startControlPlane()
    await fleet.settled()
    t.strictSame((await operator('GET', '/users')).body['items'], [], 'and who stays unseen')
  })

  await t.test('a draft and a suspended tenant are told so', async (t) => {
    const body = tenantBody('draft', 'http://127.0.0.1:9')
    const created = await fleet.operator('POST', '/tenants', body)
    const key = String(created.body['analyzer_key'])
    const ask = () => fleet.api(key, 'POST', '/integration-complete')
    t.match(await ask(), { status: 409, body: { error: 'tenant_draft' } })
    await fleet.operator('POST', '/tenants/draft/publish')
    await fleet.operator('POST', '/tenants/draft/suspend')
    t.match(await ask(), { status: 409, body: { error: 'tenant_suspended' } })
  })
})
