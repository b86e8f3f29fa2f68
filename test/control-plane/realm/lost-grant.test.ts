import { and, eq } from '../../../control-plane/store/drizzle.ts'
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { Browser, sidOf, signIn, startWorld } from './realm-world.ts'

t.test('who has lost a grant goes on with the same session, and not with a new one', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { party, tokens } = await signIn(browser, acme)
  const { realmRecords: table } = schema
  const grants = and(eq(table.tenantId, 'acme'), eq(table.model, 'Grant'))
  await world.store.change(({ queries }) => queries.delete(table).where(grants))
  const again = await party.begin()
  const visited = await browser.visit(again.url)
  const next = await again.finish(visited.url)
  t.equal(sidOf(next), sidOf(tokens), 'which knows where it began, and when')
  t.equal((await world.store.read.select().from(schema.sessions)).length, 1)
})
