import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { basic } from '../../support/feed-api.ts'
import { listen, middleware, startScene } from './scene.ts'

/** An application in sdk mode whose instances poll when the test says so. */
async function start(t: Test) {
  let aheadMs = 0
  const application = await listen(t, (request, response) => {
    response.setHeader('Date', new Date(scene.clock.nowMs() + aheadMs).toUTCString())
    return good(request, response)
  })
  const { port } = application.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const scene = await startScene(t, { mode: 'sdk', hostnames: [], origin })
  const good = middleware(async () =>
    (await scene.services.keys.publicKeys('acme')).map(({ pem }) => pem),
  )
  const authorization = basic('acme-user', scene.tenantKeys.client_secret)
  return {
    ...scene,
    setClock: (seconds: number) => void (aheadMs = seconds * 1000),
    poll: (name: string, more: Record<string, string> = {}) =>
      scene.call('GET', '/api/v1/enforcement/state', undefined, {
        key: null,
        headers: {
          authorization,
          'x-service-instance': name,
          'x-service-sdk-version': '0.1.0',
          ...more,
        },
      }),
    async check() {
      const { check, body } = await scene.probe()
      return { overall: body['status'], ...check('feed_polled') }
    },
  }
}

void t.test('tells who polls, with what, how long ago and how far they are', async (t) => {
  const { check, poll, clock, operator } = await start(t)
  const nobody = await check()
  t.match(nobody, { status: 'fail', detail: /No instance .* has polled/, overall: 'fail' })
  t.match(
    nobody.next_action,
    /curl -u acme-user:\$SERVICE_CLIENT_SECRET .*\/api\/v1\/enforcement\/state$/,
  )

  await poll('web-1')
  clock.advance(4000)
  t.match(await check(), {
    status: 'pass',
    overall: 'pass',
    detail: 'web-1 (version 0.1.0) polled 4 s ago and has the current state.',
    next_action: '',
  })
  await operator('PATCH', '/tenants/acme', { sealed: ['/more'] })
  await poll('web-2')
  const behind = await check()
  t.match(behind, { status: 'warn', overall: 'pass' })
  t.match(behind.detail, /web-2 .* polled 0 s ago and has the current.*web-1 .* has an older state/)
  t.match(behind.next_action, /^Wait \d+ s for the next poll.*log of web-1\.$/)
  await poll('web-1')
  t.match(await check(), { status: 'pass' })

  clock.advance(15_000)
  t.match(await check(), { status: 'pass' }, 'a hiccup')
  clock.advance(3_600_000)
  const gone = await check()
  t.match(gone, {
    status: 'fail',
    detail: /^The enforcement feed is no longer polled.* polled 60 min ago/,
  })
  t.match(gone.next_action, /Restart the application/)
  await poll('web-3', { 'x-service-sdk-version': '' })
  const one = await check()
  t.match(one, { status: 'pass', detail: /^web-3 \(unknown version\) polled 0 s ago/ })
  t.notMatch(one.detail, 'web-1', 'who was stopped is no failure while others poll')
})

void t.test('a list of many instances stays readable', async (t) => {
  const { check, poll } = await start(t)
  await poll('')
  for (let count = 1; count <= 8; count++) await poll(`web-${count}`)
  const { detail = '' } = await check()
  t.match(detail, /and 4 more\.$/)
  t.equal(detail.split(';').length, 6)
})

void t.test('a clock that is off is named with its instance, beyond 30 s', async (t) => {
  const { check, poll, clock, setClock } = await start(t)
  t.equal(LIMITS.probeClockSkewMsMax, 30_000)
  const at = (ms: number) => poll('web-1', { 'x-service-clock-offset': String(ms) })
  for (const ms of [0, 30_000, -30_000]) {
    await at(ms)
    t.match(await check(), { status: 'pass' }, `${ms} ms`)
  }
  for (const [ms, says] of [
    [30_001, 'The clock of web-1 is 30 s ahead of'],
    [300_000, 'The clock of web-1 is 300 s ahead of'],
    [-300_000, 'The clock of web-1 is 300 s behind'],
  ] as const) {
    await at(ms)
    const check_ = await check()
    t.match(check_, { status: 'warn', overall: 'pass', detail: says })
    t.match(check_.next_action, /^Synchronize the clock .*NTP.* Until then the middleware uses/)
  }
  // an older middleware does not say; the answer to the probe tells all the same
  clock.advance(3_600_000)
  await poll('web-2')
  for (const seconds of [29, -29]) {
    setClock(seconds)
    t.match(await check(), { status: 'pass' }, `${seconds} s`)
  }
  for (const seconds of [300, -300]) {
    setClock(seconds)
    t.match(await check(), { status: 'warn', detail: /Its clock is 300 s (?:ahead of|behind)/ })
  }
})
