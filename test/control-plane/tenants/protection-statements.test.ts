/** What the service says, over the tenant's signature, of whether it is protected. */
import t from 'tap'
import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet } from 'jose'
import { LIMITS } from '../../../shared/limits.ts'
import { PROTECTION_STATEMENT_TYPE } from '../../../shared/protection-statement.ts'
import { startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'

void t.test('the state is said at once and over the key in use, whoever asks', async (t) => {
  const clock = movableClock(Date.now())
  const { call, operator, tenant } = await startApi(t, { clock })
  await tenant('acme')
  const ask = async () => call('GET', '/tenants/acme/protection', undefined, { key: null })
  t.match(await ask(), { status: 404, body: { error: 'not_published' } })
  t.match(await call('GET', '/tenants/nobody/protection', undefined, { key: null }), {
    status: 404,
    body: { error: 'tenant_not_found' },
  })
  await operator('POST', '/tenants/acme/publish')

  const said = async () => {
    const answer = await ask()
    t.equal(answer.headers.get('content-type'), 'application/jwt')
    t.equal(answer.headers.get('cache-control'), 'no-store')
    const keys = (await call('GET', '/tenants/acme/public-key', undefined, { key: null })).body
    const { payload } = await jwtVerify(
      String(answer.body['text']),
      createLocalJWKSet(keys as unknown as JSONWebKeySet),
      {
        typ: PROTECTION_STATEMENT_TYPE,
        issuer: 'http://localhost:8080/auth/realms/acme',
        audience: 'acme-user',
        algorithms: ['RS256'],
        currentDate: new Date(clock.nowMs()),
      },
    )
    t.equal(Number(payload.exp) - Number(payload.iat), 30)
    return payload['protection']
  }
  t.equal(await said(), 'pass-through')
  await operator('POST', '/tenants/acme/go-live', { force: true })
  t.equal(await said(), 'on', 'no signature of before is said again')
  await operator('POST', '/tenants/acme/go-back')
  t.equal(await said(), 'pass-through')
  await operator('POST', '/tenants/acme/suspend')
  t.equal(await said(), 'on', 'what is suspended is open to nobody')
})

void t.test('one signature serves all who ask within seconds', async (t) => {
  const clock = movableClock(Date.now())
  const { call, operator, tenant } = await startApi(t, { clock })
  await tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  const ask = async () =>
    String((await call('GET', '/tenants/acme/protection', undefined, { key: null })).body['text'])
  const [first, second] = await Promise.all([ask(), ask()])
  t.equal(first, second)
  clock.advance(LIMITS.protectionStatementKeptMs - 1)
  t.equal(await ask(), first)
  clock.advance(1)
  const next = await ask()
  t.not(next, first)
  t.equal(Number(decodeJwt(next).iat) - Number(decodeJwt(first).iat), 5)
  clock.advance(-60_000)
  t.not(await ask(), next, 'a clock that was set back keeps nothing')
})
