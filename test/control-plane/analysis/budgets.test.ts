import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { tokensAtMost } from '../../../control-plane/analysis/provider-client.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startAiProvider, USAGE } from '../../support/ai-provider.ts'
import { startApi } from '../../support/api.ts'
import { movableClock, temporaryFolder } from '../../support/control-plane.ts'
import { create, FILES, GOOD, startAnalysis, withEdits } from './analysis-world.ts'

const HOUR_MS = 3_600_000
const COST = USAGE.input + USAGE.output

void t.test('five an hour for each tenant, in a window that slides', async (t) => {
  const { analyse, clock, tenant, provider } = await startAnalysis(t)
  for (let count = 0; count < LIMITS.analysesPerHourMax; count++) {
    t.equal((await analyse()).status, 200)
    clock.advance(600_000)
  }
  const limited = await analyse()
  t.match(limited, { status: 429, body: { error: 'rate_limited', retry_after: 600 } })
  t.equal(limited.headers.get('retry-after'), '600')
  t.equal(provider.asked.length, 5)
  const { analyzer_key } = await tenant('other')
  t.equal((await analyse(FILES, {}, analyzer_key)).status, 200, 'others are not slowed')
  clock.advance(599_999)
  t.equal((await analyse()).status, 429)
  clock.advance(1)
  t.equal((await analyse()).status, 200, 'the oldest is an hour ago')
  t.match(await analyse(), { status: 429, body: { retry_after: 600 } })
})

void t.test('a restart forgets nothing', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const provider = await startAiProvider(t)
  provider.says(GOOD)
  const options = {
    file,
    masterKey: randomBytes(32),
    clock: movableClock(),
    ai: provider.settings(),
  }
  const first = await startApi(t, options)
  const { analyzer_key: key } = await first.tenant('acme')
  const analyse = (api: typeof first) =>
    api.call('POST', '/api/v1/ai-analyze', { files: FILES }, { key })
  for (let count = 0; count < 5; count++) await analyse(first)
  await first.services.close()
  const second = await startApi(t, options)
  t.match(await analyse(second), { status: 429, body: { retry_after: 3600 } })
  t.match(await second.services.budgets.today(), { tokens: 5 * COST })
})

void t.test('two at once, and a third is told to wait before its body is read', async (t) => {
  const { analyse, provider } = await startAnalysis(t)
  const answers = await Promise.all([analyse(), analyse(), analyse({ '.env': 'A=1' })])
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200, 429],
  )
  t.match(answers[2]?.body, { error: 'rate_limited', retry_after: 10 })
  const again = await Promise.all([analyse({ '.env': 'A=1' }), analyse({ '.env': 'A=1' })])
  t.match(again, [{ status: 400 }, { status: 400 }], 'two others, once they have ended')
  t.equal((await analyse()).status, 200)
  t.equal(provider.asked.length, 3)
})

void t.test('of two at once that are the fifth, one is too many', async (t) => {
  const { analyse } = await startAnalysis(t)
  for (let count = 0; count < 4; count++) t.equal((await analyse()).status, 200)
  const answers = await Promise.all([analyse(), analyse()])
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 429])
})

void t.test('a provider that failed was asked; what was refused before was not', async (t) => {
  const { analyse, provider, audit } = await startAnalysis(t)
  provider.says({ status: 401 })
  for (const files of [{}, { '.env': 'A=1' }, { '../x': '' }]) await analyse(files)
  for (let count = 0; count < 5; count++) t.equal((await analyse()).status, 502)
  t.equal((await analyse()).status, 429)
  t.equal((await audit()).length, 5)
})

void t.test('a body is refused a few times a minute, whatever is wrong with it', async (t) => {
  const { analyse, clock } = await startAnalysis(t)
  for (let count = 0; count < LIMITS.rateAnalysis.burst; count++)
    t.equal((await analyse({})).status, 400)
  t.match(await analyse({}), { status: 429, body: { retry_after: 30 } })
  clock.advance(30_000)
  t.equal((await analyse({})).status, 400)
})

void t.test('nor is one read or parsed that comes too often', async (t) => {
  const { call, key, clock } = await startAnalysis(t)
  const send = () => call('POST', '/api/v1/ai-analyze', undefined, { key, raw: 'no JSON' })
  for (let count = 0; count < LIMITS.rateAnalysis.burst; count++)
    t.match(await send(), { status: 400, body: { error: 'body_not_json' } })
  t.match(await send(), { status: 429, body: { retry_after: 30 } })
  clock.advance(30_000)
  t.equal((await send()).status, 400)
})

void t.test('what a tenant may spend in a day ends with the day', async (t) => {
  const { analyse, clock, tenant } = await startAnalysis(t, { ai: { tenantTokensPerDay: 8000 } })
  clock.advance(10 * HOUR_MS)
  let count = 0
  let answer = await analyse()
  for (; answer.status === 200 && count < 5; count++) answer = await analyse()
  t.match(answer, { status: 503, body: { error: 'ai_budget_spent', retry_after: 14 * 3600 } })
  t.ok(count > 0 && count < 5, `${count} were within it`)
  const { analyzer_key } = await tenant('other')
  t.equal((await analyse(FILES, {}, analyzer_key)).status, 200)
  clock.advance(14 * HOUR_MS)
  t.equal((await analyse()).status, 200)
})

void t.test('what all may spend together is spent by all', async (t) => {
  const { analyse, tenant, provider, services } = await startAnalysis(t, {
    ai: { tokensPerDay: 9000 },
  })
  const { analyzer_key } = await tenant('other')
  const keys = [analyzer_key, undefined, analyzer_key, undefined, analyzer_key]
  const statuses: number[] = []
  for (const key of keys) statuses.push((await analyse(FILES, {}, key)).status)
  t.equal(statuses[0], 200)
  t.equal(statuses.at(-1), 503)
  const { tokens } = await services.budgets.today()
  t.ok(tokens <= 9000 && tokens === COST * provider.asked.length, `${tokens} tokens`)
})

void t.test('tokens are held before they can be spent', async (t) => {
  const { analyse, provider, services } = await startAnalysis(t)
  let held = 0
  const isHeld = new Promise<void>((resolve) =>
    provider.hears(() => (response) => {
      void services.budgets.today().then(({ tokens }) => {
        held = tokens
        response.writeHead(401).end()
        resolve()
      })
    }),
  )
  await analyse()
  await isHeld
  const [asked] = provider.asked
  const messages = [{ role: 'user', text: asked?.messages[0]?.content ?? '' }] as const
  t.equal(held, tokensAtMost({ system: asked?.system ?? '', messages }, { outputTokensMax: 4000 }))
  t.match(await services.budgets.today(), { tokens: 0 }, 'a refusal costs nothing')
})

void t.test('what nobody has counted stays spent, each attempt of it', async (t) => {
  const { analyse, provider, services } = await startAnalysis(t)
  provider.says((response) => void response.socket?.destroy())
  await analyse()
  t.equal(provider.asked.length, 3)
  const { tokens } = await services.budgets.today()
  t.ok(tokens > 3 * 4000, `${tokens} tokens`)
})

void t.test('a second round is paid for as well, or does not take place', async (t) => {
  const bad = withEdits(create('.git/hooks/pre-commit', 'x'))
  const whole = await startAnalysis(t)
  whole.provider.says(bad, GOOD)
  t.equal((await whole.analyse()).status, 200)
  t.match(await whole.services.budgets.today(), { tokens: 2 * COST })

  const poor = await startAnalysis(t, { ai: { tenantTokensPerDay: 7000 } })
  poor.provider.says(bad, GOOD)
  t.match(await poor.analyse(), { status: 503, body: { error: 'ai_budget_spent' } })
  t.equal(poor.provider.asked.length, 1)
  t.match(await poor.services.budgets.today(), {
    tokens: COST,
    outcomes: [{ outcome: 'ai_budget_spent', count: 1 }],
  })
})

void t.test('what was written down is forgotten after some weeks', async (t) => {
  const { analyse, clock, services } = await startAnalysis(t)
  await analyse()
  clock.advance(LIMITS.analysisKeptMs)
  t.equal(await services.budgets.prune(10), 0)
  clock.advance(1)
  t.equal(await services.budgets.prune(10), 1)
  t.strictSame(await services.store.read.select().from(schema.analyses), [])
})
