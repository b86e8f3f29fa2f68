import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { AiSettings } from '../../../control-plane/analysis/provider.ts'
import { HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { AI_KEY, completion, message, type Said } from '../../support/ai-provider.ts'
import { FILES, GOOD, startAnalysis, withEdits } from './analysis-world.ts'

type Kind = AiSettings['provider']

const sends = (body: unknown): Said => ({ status: 200, body: JSON.stringify(body) })
const told = (status: number, type: string, headers: Record<string, string> = {}): Said => {
  const error = { type, code: type, message: `your text was: keyboard cat, your key: ${AI_KEY}` }
  return { status, headers, body: JSON.stringify({ type: 'error', error }) }
}

interface Case {
  readonly name: string
  readonly says: Said | Readonly<Record<Kind, Said>>
  readonly status: number
  readonly error: string
  /** How often the provider was asked. */
  readonly asked: number
  /** What stands in the operator's log. */
  readonly logged?: RegExp
}

const both = (says: Record<Kind, Said>) => says

const CASES: readonly Case[] = [
  {
    name: 'a wrong key',
    says: told(401, 'authentication_error'),
    status: 502,
    error: 'ai_provider_refused',
    asked: 1,
    logged: /"status":401.*authentication_error/,
  },
  {
    name: 'a key without rights',
    says: told(403, 'permission_error'),
    status: 502,
    error: 'ai_provider_refused',
    asked: 1,
  },
  {
    name: 'an unknown model',
    says: told(404, 'not_found_error'),
    status: 502,
    error: 'ai_provider_refused',
    asked: 1,
  },
  {
    name: 'an account without money',
    says: told(429, 'insufficient_quota'),
    status: 502,
    error: 'ai_provider_refused',
    asked: 1,
  },
  {
    name: 'too many requests',
    says: told(429, 'rate_limit_error'),
    status: 503,
    error: 'ai_unavailable',
    asked: 3,
    logged: /"status":429/,
  },
  {
    name: 'an overload',
    says: told(529, 'overloaded_error'),
    status: 503,
    error: 'ai_unavailable',
    asked: 3,
  },
  {
    name: 'an error of its own',
    says: told(500, 'api_error'),
    status: 503,
    error: 'ai_unavailable',
    asked: 3,
  },
  {
    name: 'a page of a proxy',
    says: { status: 502, body: '<html>keyboard cat</html>' },
    status: 503,
    error: 'ai_unavailable',
    asked: 3,
  },
  {
    name: 'a redirect',
    says: { status: 307, headers: { location: 'http://127.0.0.1:9/' } },
    status: 502,
    error: 'ai_provider_refused',
    asked: 1,
  },
  {
    name: 'no JSON at all',
    says: { status: 200, body: '<html>' },
    status: 502,
    error: 'ai_answer_unusable',
    asked: 1,
  },
  {
    name: 'another JSON',
    says: { status: 200, body: '{"ok":true}' },
    status: 502,
    error: 'ai_answer_unusable',
    asked: 1,
  },
  {
    name: 'nothing',
    says: { status: 200, body: '' },
    status: 502,
    error: 'ai_answer_unusable',
    asked: 1,
  },
  {
    name: 'prose in place of a guide',
    says: 'I would add the middleware.',
    status: 502,
    error: 'ai_answer_unusable',
    asked: 2,
  },
  {
    name: 'a guide with a field missing',
    says: { ...GOOD, edits: [{ path: 'a' }] },
    status: 502,
    error: 'ai_answer_unusable',
    asked: 2,
    logged: /edits\.0/,
  },
  {
    name: 'a guide with a field too many',
    says: { ...GOOD, commands: ['rm -rf /'] },
    status: 502,
    error: 'ai_answer_unusable',
    asked: 2,
  },
  {
    name: 'more edits than there may be',
    says: withEdits(
      ...(Array<(typeof GOOD.edits)[0]>(LIMITS.guideEditsMax + 1).fill(
        GOOD.edits[0] as never,
      ) as never[]),
    ),
    status: 502,
    error: 'ai_answer_unusable',
    asked: 2,
  },
  {
    name: 'an answer that was cut off',
    says: both({
      anthropic: sends(message('{"fra', 'max_tokens')),
      openai: sends(completion('{"fra', { finish: 'length' })),
    }),
    status: 502,
    error: 'ai_answer_cut',
    asked: 1,
  },
  {
    name: 'a refusal',
    says: both({
      anthropic: sends(message('', 'refusal')),
      openai: sends(completion(null, { refusal: 'I cannot.' })),
    }),
    status: 502,
    error: 'ai_declined',
    asked: 1,
  },
  {
    name: 'an error whose code is no word',
    says: told(401, AI_KEY),
    status: 502,
    error: 'ai_provider_refused',
    asked: 1,
  },
  {
    name: 'a connection that is closed',
    says: (response) => void response.socket?.destroy(),
    status: 503,
    error: 'ai_unavailable',
    asked: 3,
  },
  {
    name: 'an answer that breaks off',
    says: (response) =>
      void response
        .writeHead(200, { 'content-length': '100' })
        .write('{', () => response.socket?.destroy()),
    status: 502,
    error: 'ai_answer_unusable',
    asked: 1,
  },
]

for (const kind of ['anthropic', 'openai'] as const) {
  const world = await startAnalysis(t, { kind })
  const { analyse, guide, provider, lines, audit, clock } = world
  for (const { name, says, status, error, asked, logged } of CASES)
    void t.test(`${kind}: ${name} has an answer of its own, and leaves no guide`, async (t) => {
      clock.advance(HOUR_MS)
      provider.asked.length = lines.length = 0
      provider.says(isBoth(says) ? says[kind] : says)
      const answer = await analyse({ ...FILES, 'x.js': "// a cat\nsecret: 'keyboard cat'\n" })
      t.match(answer, { status, body: { error, detail: /[.]$/ } })
      t.equal(provider.asked.length, asked)
      t.equal((await guide()).status, 404)
      t.match((await audit())[0], { details: { outcome: error } })
      const log = lines.join('\n')
      t.match(log, error)
      if (logged !== undefined) t.match(log, logged)
      for (const secret of ['keyboard cat', AI_KEY, 'a cat', 'I would add'])
        t.notMatch(log + JSON.stringify(answer.body), secret)
      t.strictSame(provider.problems, [])
    })
}

function isBoth(says: Case['says']): says is Readonly<Record<Kind, Said>> {
  return typeof says === 'object' && 'anthropic' in says
}

void t.test('an answer is read up to its limit, and no further', async (t) => {
  const { analyse, provider } = await startAnalysis(t)
  const body = JSON.stringify(message(JSON.stringify(GOOD)))
  const { analysisAnswerBytesMax: max } = LIMITS
  provider.says(
    { status: 200, body: body.padEnd(max) },
    { status: 200, body: body.padEnd(max + 1) },
  )
  t.equal((await analyse()).status, 200)
  t.match(await analyse(), { status: 502, body: { error: 'ai_answer_unusable' } })
})

void t.test('what passes by itself is tried again, no sooner than the provider says', async (t) => {
  const { analyse, provider, waits, clock } = await startAnalysis(t)
  const date = new Date(clock.nowMs() + 4500).toUTCString()
  provider.says(
    told(429, 'rate_limit_error', { 'retry-after': '3' }),
    told(503, 'api_error', { 'retry-after': date }),
    GOOD,
  )
  t.equal((await analyse()).status, 200)
  t.strictSame(waits, [3000, 4500], 'seconds and dates')
})

void t.test('without such a word the waits grow', async (t) => {
  const { analyse, provider, waits } = await startAnalysis(t)
  provider.says(told(500, 'api_error'))
  await analyse()
  t.strictSame(waits, [500, 1000])
})

void t.test('where the provider asks for more time than there is, nobody waits', async (t) => {
  const { analyse, provider, waits } = await startAnalysis(t)
  provider.says(told(429, 'rate_limit_error', { 'retry-after': '3600' }))
  const answer = await analyse()
  t.match(answer, { status: 503, body: { error: 'ai_unavailable', retry_after: 3600 } })
  t.equal(answer.headers.get('retry-after'), '3600')
  t.strictSame(waits, [])
})

void t.test('a provider that does not finish is left at the deadline', async (t) => {
  for (const says of [
    () => undefined,
    (response) => void response.writeHead(200).write('{'),
  ] satisfies Said[]) {
    const { analyse, provider } = await startAnalysis(t, { ai: { timeoutMs: 50 } })
    provider.says(says)
    t.match(await analyse(), { status: 504, body: { error: 'ai_timeout' } })
  }
})

void t.test('where nobody listens, it says so', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const { analyse, services } = await startAnalysis(t, {
    ai: { baseUrl: `http://127.0.0.1:${port}` },
  })
  t.match(await analyse(), { status: 503, body: { error: 'ai_unavailable' } })
  t.match(await services.budgets.today(), { tokens: 0 }, 'who was not reached has counted nothing')
})

void t.test('a program that ends does not wait for a model', async (t) => {
  const { analyse, provider, services } = await startAnalysis(t)
  const isAsked = new Promise<void>((resolve) => provider.says(() => resolve()))
  const answer = analyse()
  await isAsked
  await services.analysis.close()
  t.match(await answer, { status: 503, body: { error: 'ai_unavailable' } })
})

void t.test('nor for its turn to ask again', async (t) => {
  let waits = () => {}
  const isWaiting = new Promise<void>((resolve) => (waits = resolve))
  const wait = (_ms: number, signal: AbortSignal) => {
    waits()
    return new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  const { analyse, provider, services } = await startAnalysis(t, { aiWorld: { wait } })
  provider.says(told(500, 'api_error'))
  const answer = analyse()
  await isWaiting
  await services.analysis.close()
  t.match(await answer, { status: 503, body: { error: 'ai_unavailable' } })
  t.equal(provider.asked.length, 1)
})

void t.test('more than a few at the same time are told to come back', async (t) => {
  const { analyse, provider, tenant } = await startAnalysis(t)
  const held: (() => void)[] = []
  let all = () => {}
  const areAsked = new Promise<void>((resolve) => (all = resolve))
  provider.says((response) => {
    held.push(() => void response.end(JSON.stringify(message(JSON.stringify(GOOD)))))
    if (held.length === LIMITS.analysesAtOnceMax) all()
  })
  const keys = await Promise.all(
    Array.from(
      { length: LIMITS.analysesAtOnceMax },
      async (_, at) => (await tenant(`t${at}`)).analyzer_key,
    ),
  )
  const running = keys.map((key) => analyse(FILES, {}, key))
  await areAsked
  t.match(await analyse(), { status: 503, body: { error: 'ai_busy', retry_after: 10 } })
  for (const end of held) end()
  for (const answer of await Promise.all(running)) t.equal(answer.status, 200)
  provider.says(GOOD)
  t.equal((await analyse()).status, 200)
})
