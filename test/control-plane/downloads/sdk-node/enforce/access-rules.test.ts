/** Access rules of the service, judged inside of the application. */
import t from 'tap'
import { startGuard } from '../../../../support/asked-guard.ts'
import { rulesOf } from '../../../../support/access-rules.ts'

const OFFICE = '192.0.2.1'

t.test('a rule opens a path to whom it names', async (t) => {
  const access = rulesOf([
    { path: '/papers', methods: ['POST'], allow: [{ signed_in: true }] },
    { path: '/papers', methods: ['DELETE'], allow: [{ network: 'office' }] },
    { path: '/finance', allow: [{ group: 'finance' }] },
  ])
  const { ask, service } = await startGuard(t, { access })
  const asked = { cookie: service.session(), method: 'POST' }
  t.match(await ask('/other', asked), { kind: 'forward' })
  t.match(await ask('/papers/1', asked), { kind: 'forward' })
  t.match(await ask('/finance', asked), { kind: 403, reason: 'rule_denied' })
  t.match(await ask('/%66inance', asked), { kind: 403 })
  t.match(await ask('/papers/1', { ...asked, method: 'DELETE' }), { kind: 403 })
  t.match(await ask('/papers/1', { ...asked, method: 'DELETE', peerAddress: OFFICE }), {
    kind: 'forward',
  })
  for (const name of ['X-HTTP-Method-Override', 'x-http-method', 'X-Method-Override']) {
    const headers = [name, 'DELETE']
    t.match(await ask('/papers/1', { ...asked, headers }), { kind: 403 }, name)
    t.match(await ask('/papers/1', { ...asked, headers, peerAddress: OFFICE }), { kind: 'forward' })
  }
})
