/** A middleware that does not know access rules must not let people in as if there were none. */
import t from 'tap'
import { ACTOR } from '../../support/control-plane.ts'
import { etagOf, startFeedApi } from '../../support/feed-api.ts'

const RULES = {
  contact: 'help@example.test',
  rules: [{ path: '/reports', allow: [{ signed_in: true as const }] }],
}
const KNOWS = { 'x-service-features': 'machines access_rules' }

void t.test('one from before is told that a tenant with rules is suspended', async (t) => {
  const { sdkTenant, poll, services } = await startFeedApi(t)
  await sdkTenant('acme')
  const before = await poll('acme')
  t.match(before.body, { tenant: { status: 'published' } })
  t.equal(etagOf(before), etagOf(await poll('acme', KNOWS)), 'without rules there is no difference')

  await services.accessRules.put('acme', RULES, ACTOR)
  const old = await poll('acme', { 'if-none-match': etagOf(before) })
  t.match(old, { status: 200, body: { tenant: { status: 'suspended' } } })
  t.notOk('access' in (old.body['tenant'] as object))
  const fresh = await poll('acme', KNOWS)
  t.match(fresh.body, {
    tenant: {
      status: 'published',
      access: { rules: RULES.rules, slots: [] },
      access_contact: RULES.contact,
    },
  })
  t.not(etagOf(old), etagOf(fresh))
  const replaced = await poll('acme', { ...KNOWS, 'if-none-match': etagOf(old) })
  t.match(replaced, { status: 200, body: { tenant: { status: 'published' } } })
  t.equal((await poll('acme', { 'if-none-match': etagOf(old) })).status, 304)
})
