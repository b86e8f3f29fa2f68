/** However often a sign-in fails, the log is not made of it. */
import t from 'tap'
import { request } from 'undici'
import { seldomWarnings } from '../../../shared/sign-in/seldom-warnings.ts'
import { startGuard } from '../../support/asked-guard.ts'
import { movableClock } from '../../support/control-plane.ts'
import { HOST, startEdge, USER_AGENT } from '../../support/edge-world.ts'
import { startOrigin } from '../../support/wire.ts'

t.test('one line a minute of each tenant, with how many there were since', (t) => {
  const lines: unknown[] = []
  const clock = movableClock()
  const log = { warn: (fields: object, text: string) => void lines.push({ ...fields, text }) }
  const { warn } = seldomWarnings(log, clock)
  for (let count = 0; count < 5; count++) warn({ tenant_id: 'acme', reason: 'away' }, 'failed')
  warn({ tenant_id: 'bolt' }, 'failed')
  warn({ tenant_id: 'acme' }, 'refused')
  t.same(lines.splice(0), [
    { tenant_id: 'acme', reason: 'away', text: 'failed' },
    { tenant_id: 'bolt', text: 'failed' },
    { tenant_id: 'acme', text: 'refused' },
  ])
  clock.advance(60_000)
  warn({ tenant_id: 'bolt' }, 'failed')
  warn({ tenant_id: 'acme', reason: 'slow' }, 'failed')
  t.same(lines, [
    { tenant_id: 'bolt', text: 'failed' },
    { tenant_id: 'acme', reason: 'slow', repeated: 4, text: 'failed' },
  ])
  t.end()
})

t.test('at the edge and in the middleware, while the realm is away', async (t) => {
  const origin = await startOrigin(t, (_request, response) => void response.end())
  const edge = await startEdge(t, origin.url, {
    protection: 'on',
    issuer: 'http://127.0.0.1:9/auth/realms/app',
  })
  for (let count = 0; count < 3; count++) {
    const url = `http://127.0.0.1:${edge.port}/service/login`
    const answer = await request(url, { headers: { host: HOST, 'user-agent': USER_AGENT } })
    await answer.body.dump()
    t.equal(answer.statusCode, 503)
  }
  t.equal(edge.logged.filter(({ msg }) => msg === 'failed').length, 1)

  const { ask, guard, service, warnings } = await startGuard(t)
  await guard.ready()
  await service.stop()
  for (let count = 0; count < 3; count++) t.match(await ask('/service/login'), { kind: 503 })
  t.equal(warnings.filter((text) => /sign-in is not available/.test(text)).length, 1)
})
