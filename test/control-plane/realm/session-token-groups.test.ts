/** A token says of groups what is true once its session is written down. */
import t from 'tap'
import { ACTOR, Browser, signIn, startWorld } from './realm-world.ts'

t.test(
  'who is taken out of a group while a token is made is not in it by that token',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const { userId } = acme.ada
    await world.groups.create('acme', { name: 'finance' }, ACTOR)
    const finance = { tenantId: 'acme', group: 'finance', userId, source: 'local' } as const
    await world.groups.add(finance, ACTOR)
    const rules = [{ path: '/reports', allow: [{ group: 'finance' }] }]
    await world.accessRules.put('acme', { rules }, ACTOR)
    const before = await signIn(new Browser(world.baseUrl), acme)
    t.equal(before.claims['gb'], 'AQ')
    // a change of many memberships takes seconds, of which what is read beside it knows nothing
    const { sessions } = world
    const record = sessions.record.bind(sessions)
    sessions.record = async (issued) => {
      await world.groups.take(finance, ACTOR)
      return record(issued)
    }
    const after = await signIn(new Browser(world.baseUrl), acme)
    t.equal(after.claims['gb'], 'AA')
  },
)
