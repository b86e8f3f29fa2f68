import t from 'tap'
import { pino } from 'pino'
import { healthEndpoints } from '../../../control-plane/api/health-routes.ts'
import type { CannotWrite } from '../../../control-plane/store/engines/cannot-write.ts'
import { answerError, requestIds } from '../../../control-plane/api/answers.ts'
import type { ApiEnv } from '../../../control-plane/http/context.ts'
import { Refusal } from '../../../shared/errors.ts'
import { Hono } from 'hono'
import { startApi } from '../../support/api.ts'

void t.test('what went wrong inside stays in the log, beside the request id', async (t) => {
  const lines: string[] = []
  const app = new Hono<ApiEnv>()
  app.use(requestIds)
  app.onError(answerError(pino({}, { write: (line: string) => void lines.push(line) })))
  app.get('/broken', () => {
    throw new Error('Failed query: insert into x\nparams: the-secret', {
      cause: new Error('disk full'),
    })
  })
  app.get('/busy', () => {
    throw new Refusal('unavailable', { retry_after: 3 })
  })
  const broken = await app.request('/broken?api_key=the-key')
  t.equal(broken.status, 500)
  t.match(await broken.json(), { error: 'internal', detail: /request ID/ })
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), {
    request_id: broken.headers.get('x-request-id'),
    path: '/broken',
    error: { cause: 'Error: disk full', message: 'Failed query', stack: /failures\.test/ },
  })
  t.notMatch(lines[0], /the-secret|the-key/)
  const busy = await app.request('/busy')
  t.equal(busy.status, 503)
  t.equal(busy.headers.get('retry-after'), '3')
  t.equal(lines.length, 1, 'an expected refusal is no failure')
})

void t.test('without its database it is alive, but not ready', async (t) => {
  const { call, services } = await startApi(t)
  t.match(await call('GET', '/health/ready'), { status: 200, body: { status: 'ready' } })
  await services.close()
  t.match(await call('GET', '/health/ready'), { status: 503, body: { status: 'not_ready' } })
  t.match(await call('GET', '/health/live'), { status: 200, body: { status: 'live' } })
})

void t.test('readiness says what is wrong, and at once where the database is silent', async (t) => {
  const app = new Hono<ApiEnv>()
  const state = { isBehind: false, isAsked: false, why: undefined as CannotWrite | undefined }
  let answer = new Promise<number>(() => {})
  const store = {
    isBehind: () => state.isBehind,
    cannotWrite: () => state.why,
    revision() {
      state.isAsked = true
      return answer
    },
  }
  for (const { declaration, handle } of healthEndpoints({ store }))
    app.get(declaration.path, (c) => handle(c as never))
  const ready = async () => (await app.request('/health/ready')).json()
  t.match(await ready(), { status: 'not_ready' })
  Object.assign(state, { isBehind: true, isAsked: false })
  t.match(await ready(), { status: 'behind' })
  t.notOk(state.isAsked, 'what has not been read for so long is not read now')
  state.isBehind = false
  answer = Promise.resolve(1)
  t.match(await ready(), { status: 'ready' })
  state.why = 'full'
  t.match(await ready(), { status: 'not_ready', detail: /is full.*Free some space/ })
})
