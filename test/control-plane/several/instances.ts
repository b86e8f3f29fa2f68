/** Whoever asks reaches any control plane: instances in sdk mode, and people who look at them. */
import t from 'tap'
import { putTrial } from '../../../control-plane/store/queries/verification.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { startTwo } from './nodes.ts'

t.test('an instance is known at each control plane, wherever it asks', async (t) => {
  const { here, there, clock } = await startTwo(t)
  await here.tenants.create(tenantNamed('acme', { mode: 'sdk' }), ACTOR)
  await here.tenants.publish('acme', ACTOR)
  const poll = ({ instances }: typeof here, name: string, version: string) =>
    instances.polled('acme', { name, version, clockOffsetMs: null }, 'state')
  const versionsAt = async ({ instances }: typeof here) =>
    (await instances.of('acme')).map(({ name, version }) => `${name} ${version}`)
  poll(here, 'web-1', '1')
  await here.instances.write()
  t.strictSame(await versionsAt(there), ['web-1 1'])
  clock.advance(1000)
  poll(there, 'web-1', '2')
  poll(there, 'web-2', '2')
  t.strictSame(await versionsAt(there), ['web-1 2', 'web-2 2'])
  await there.instances.write()
  t.strictSame(await versionsAt(here), ['web-1 2', 'web-2 2'])

  clock.advance(LIMITS.feedInstanceKeptMs - 999)
  await here.instances.prune(500)
  await here.instances.write()
  t.strictSame(await versionsAt(here), ['web-1 2', 'web-2 2'], 'it has asked since, elsewhere')
  clock.advance(1000)
  for (const { instances } of [here, there]) await instances.prune(500)
  for (const { instances } of [here, there]) await instances.write()
  t.strictSame(await versionsAt(here), [])
})

t.test('a trial sign-in shows at each, until its tenant changes or goes', async (t) => {
  const { here, there, clock } = await startTwo(t)
  await here.tenants.create(tenantNamed('acme'), ACTOR)
  const tenant = await there.tenants.get('acme')
  const { revision } = tenant
  t.equal(await there.integration.latestOf(tenant), undefined)
  const checks = [{ check: 'sign_in', status: 'pass', detail: '', nextAction: '' }] as const
  const trial = { tenantId: 'acme', at: clock.nowMs(), revision, checks }
  await here.store.change(({ queries }) => putTrial(queries, trial))
  t.match(await there.integration.latestOf(tenant), { at: clock.nowMs(), checks })
  t.equal(await there.integration.latestOf({ ...tenant, revision: revision + 1 }), undefined)
  await here.tenants.remove('acme', ACTOR)
  t.equal(await there.integration.latestOf(tenant), undefined)
})

t.test('what a person previews shows at each, the newest, and to nobody else', async (t) => {
  const { here, there, clock } = await startTwo(t)
  const [one, other] = [here.consoleAccess.keptForms, there.consoleAccess.keptForms]
  t.equal(await other.draft('kim', 'branding acme'), undefined)
  for (const name of ['Acme', 'Acme Inc.']) await one.keepDraft('kim', 'branding acme', { name })
  t.strictSame(await other.draft('kim', 'branding acme'), { name: 'Acme Inc.' })
  t.equal(await other.draft('ada', 'branding acme'), undefined)
  t.equal(await other.draft('kim', 'branding bolt'), undefined)
  clock.advance(LIMITS.consoleKeptFormMs)
  t.equal(await other.draft('kim', 'branding acme'), undefined)
})
