/** An application whose clock is wrong, and one whose secret is being rotated. */
import t from 'tap'
import { CLIENT_SECRET } from '../../../../support/feed-service.ts'
import { startGuard } from '../../../../support/asked-guard.ts'

/** Most of the time is spent waiting for polls: they wait together. */
const TOGETHER = { buffered: true }
t.jobs = 12

const FIVE_MINUTES_MS = 300_000

for (const aheadMs of [-FIVE_MINUTES_MS, FIVE_MINUTES_MS])
  t.test(
    `a clock that is ${aheadMs / 1000} s off neither refuses nor lengthens`,
    TOGETHER,
    async (t) => {
      const { ask, service, pass, guard } = await startGuard(t)
      pass(aheadMs)
      await guard.ready()
      await service.polled(3)
      t.match(await ask('/', { cookie: service.session() }), { kind: 'forward', user: 'ada' })
      const ending = service.session({ issuedAgoSeconds: 3600, lifeSeconds: 3590 })
      t.match(await ask('/', { cookie: ending }), { kind: 401, reason: 'expired' })
      const longer = service.session({ issuedAgoSeconds: 3500, lifeSeconds: 3600 })
      t.match(await ask('/', { cookie: longer }), { kind: 'forward' })
      const reported = Number(service.polls.at(-1)?.headers['x-service-clock-offset'])
      t.ok(Math.abs(reported - aheadMs) < 3000, `reported as ${reported} ms`)
    },
  )

t.test(
  'only the service’s own word on the time counts, and only up to an hour',
  TOGETHER,
  async (t) => {
    const { ask, service, guard } = await startGuard(t)
    await guard.ready()
    const ended = service.session({ issuedAgoSeconds: 3600, lifeSeconds: 3590 })
    service.control.aheadMs = -FIVE_MINUTES_MS
    service.control.feedStatus = 502 // of whatever stands in between
    await service.polled()
    t.match(await ask('/', { cookie: ended }), { kind: 401, reason: 'expired' })
    service.control.feedStatus = undefined
    service.control.aheadMs = -2 * 3_600_000
    await service.polled()
    t.match(
      await ask('/', { cookie: ended }),
      { kind: 401, reason: 'expired' },
      'two hours are no drift',
    )
    t.equal(service.polls.at(-1)?.headers['x-service-clock-offset'], '0')
  },
)

t.test('a clock that is put right again is believed again', TOGETHER, async (t) => {
  const { ask, service, pass, guard } = await startGuard(t)
  pass(FIVE_MINUTES_MS)
  await guard.ready()
  await service.polled(2)
  pass(-FIVE_MINUTES_MS)
  await service.polled(2)
  t.match(await ask('/', { cookie: service.session() }), { kind: 'forward' })
  t.equal(service.polls.at(-1)?.headers['x-service-clock-offset'], '0')
})

t.test(
  'while a secret is rotated either one is asked with, and what either wrote is read',
  TOGETHER,
  async (t) => {
    const options = { clientSecret: 'the new one', previousClientSecret: CLIENT_SECRET }
    const { ask, service, guard } = await startGuard(t, {}, options)
    await guard.ready()
    t.same(
      service.polls.slice(0, 2).map(({ status }) => status),
      [401, 200],
      'the old is tried',
    )
    const written = service.session()
    t.match(await ask('/', { cookie: written }), { kind: 'forward' })
    service.control.secrets = ['the new one']
    await service.polled(3)
    t.equal(service.polls.at(-1)?.status, 304, 'now the new one is')
    t.match(await ask('/', { cookie: written }), { kind: 'forward' }, 'nobody is signed out')
    const fresh = service.session({ secret: 'the new one' })
    t.match(await ask('/', { cookie: fresh }), { kind: 'forward' })
    const foreign = service.session({ secret: 'a third one' })
    t.match(await ask('/', { cookie: foreign }), { kind: 401, reason: 'seen_missing' })
  },
)

t.test(
  'a key that is new is looked for once, and a token of nobody’s key is refused',
  TOGETHER,
  async (t) => {
    const { ask, service, pass, guard } = await startGuard(t)
    await guard.ready()
    pass(11_000) // beyond the gap between two looks
    const { newSigningKey } = await import('../../../../support/tokens.ts')
    const rotated = newSigningKey('k2')
    service.keys.push(rotated)
    t.match(await ask('/', { cookie: service.session({ key: rotated }) }), { kind: 'forward' })
    const foreign = service.session({ key: newSigningKey('k3') })
    t.match(await ask('/', { cookie: foreign }), { kind: 401, reason: 'key_unknown' })
  },
)

t.test('without a secret the application starts, and lets nobody in', TOGETHER, async (t) => {
  const { createEnforcement } =
    await import('../../../../../control-plane/downloads/sdk-node/enforce/enforcement.ts')
  for (const clientSecret of [undefined, '']) {
    const warned: string[] = []
    const guard = createEnforcement({
      ...{
        baseUrl: 'http://127.0.0.1:1',
        tenantId: 'app',
        ...(clientSecret === '' && { clientSecret }),
      },
      onWarning: (text) => warned.push(text),
      fetch: () => t.fail('there is nobody to ask') as never,
    })
    for (const target of ['/', '/health', '/service/login', '*'])
      t.match(
        await guard.judge({
          ...{ method: 'GET', target, rawHeaders: ['Host', 'app.localhost'] },
          ...{ peerAddress: '127.0.0.1', isSecure: false },
        }),
        { kind: 'answer', status: target === '*' ? 400 : 503 },
        target,
      )
    t.same(warned.length, 1)
    t.match(warned[0], /Set SERVICE_CLIENT_SECRET .* then restart the application/)
    await t.rejects(guard.ready(), /clientSecret is missing/)
    await guard.close()
  }
})

t.test('each option is checked where it is given, and the error names it', TOGETHER, async (t) => {
  const { readEnforceOptions } =
    await import('../../../../../control-plane/downloads/sdk-node/enforce/options.ts')
  const good = { baseUrl: 'https://service.example/', tenantId: 'app', clientSecret: 'scs_secret' }
  t.match(readEnforceOptions(good, {}), {
    baseUrl: 'https://service.example',
    secrets: ['scs_secret'],
  })
  const environment = {
    SERVICE_BASE_URL: 'http://localhost:8080',
    SERVICE_TENANT_ID: 'app',
    SERVICE_CLIENT_SECRET: 'new',
    SERVICE_CLIENT_SECRET_PREVIOUS: 'old',
    SERVICE_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
  }
  t.match(readEnforceOptions({}, environment), {
    secrets: ['new', 'old'],
    trustedProxies: ['10.0.0.0/8', '::1'],
  })
  const wrong: [object, RegExp][] = [
    [{ ...good, baseUrl: undefined }, /baseUrl is missing: give it, or set SERVICE_BASE_URL/],
    [{ ...good, baseUrl: 'service.example' }, /baseUrl must be an address/],
    [{ ...good, baseUrl: 'https://me:secret@service.example' }, /baseUrl must be an address/],
    [{ ...good, tenantId: 'App' }, /tenantId must be/],
    [{ ...good, trustedProxies: ['ten.0.0.0'] }, /trustedProxies must be/],
    [{ ...good, trustedProxies: '10.0.0.0/8' }, /trustedProxies must be/],
    [{ ...good, outage: { then: 'open' } }, /outage.then must be/],
    [{ ...good, outage: { limitSeconds: -1 } }, /outage.limitSeconds must be/],
    [{ ...good, instance: 'two words' }, /instance must be/],
    [{ ...good, secret: 'x' }, /secret is not an option/],
  ]
  for (const [options, wish] of wrong) {
    t.throws(() => readEnforceOptions(options, {}), wish)
    t.throws(() => readEnforceOptions(options, {}), /^(?!.*scs_secret)/s, 'and never the value')
  }
})

t.test(
  'a secret on its way in the clear is warned of, and a warning that throws harms nobody',
  TOGETHER,
  async (t) => {
    const { readEnforceOptions } =
      await import('../../../../../control-plane/downloads/sdk-node/enforce/options.ts')
    const warned = (baseUrl: string) => {
      const warnings: string[] = []
      const onWarning = (text: string) => {
        warnings.push(text)
        throw new Error('the application does not like warnings')
      }
      readEnforceOptions({ baseUrl, tenantId: 'app', clientSecret: 's', onWarning }, {})
      return warnings.length
    }
    for (const clear of [
      'http://service.example',
      'http://10.0.0.1:8080',
      'http://localhost.example',
    ])
      t.equal(warned(clear), 1, clear)
    for (const fine of ['https://service.example', 'http://localhost:8080', 'http://[::1]:8080'])
      t.equal(warned(fine), 0, fine)
  },
)
