/** The key that connectors trust, rotated by its card: what stands, who does not follow, what to do next. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

const PAGE = '/console/keys'
const PREPARE = `${PAGE}/connectors/prepare`
const PROMOTE = `${PAGE}/connectors/promote`

async function start(t: Parameters<typeof startConsole>[0]) {
  const { services, person } = await startConsole(t)
  const { store, tenants, connectorAuthority: authority } = services
  await tenants.create(tenantNamed('dials', { mode: 'connector', origin: '' }), ACTOR)
  const grace = await person('operator')
  const text = async () => (await grace.get(PAGE)).text
  const keys = () => authority.status(0)
  async function connector(name: string) {
    const times = { joinedAt: 1, seenAt: 1 }
    const told = { tokenId: 'tok_1', name, program: '0.2.0', ...times }
    const row = { connectorId: `cnr_${name}`, tenantId: 'dials', ...told }
    await store.change(({ queries }) => queries.insert(schema.connectors).values(row))
  }
  return { services, person, grace, text, keys, connector }
}

void t.test('each step is offered in its turn, and who waits is named', async (t) => {
  const { grace, text, keys, connector } = await start(t)
  t.match(await text(), /Announce the next key …/)
  t.notMatch(await text(), /Promote the next key …/)
  await connector('Berlin')
  t.match(await grace.post(PREPARE), { status: 303, location: /done=/ })
  const { current, next } = await keys()
  t.ok(next)
  const waits = await text()
  for (const shown of [current, next, 'Berlin', 'One connector has not confirmed the next key'])
    t.ok(waits.includes(String(shown)), String(shown))
  t.notMatch(waits, /Announce the next key …/)
  t.match(await grace.post(PREPARE), { status: 409, text: /announced already/ })

  t.match(await grace.post(PROMOTE), { status: 409, text: /not confirmed the next key/ })
  t.match(await keys(), { current, next }, 'and nothing has changed')
  t.equal((await grace.post(PROMOTE, { force: 'on' })).status, 303)
  t.match(await keys(), { current: next, next: null })
})

void t.test('behind a leak it says that an announced key has leaked, too', async (t) => {
  const { grace, services } = await start(t)
  await grace.post(PREPARE)
  const answer = await grace.post(PROMOTE, { leaked: 'on' })
  t.match((await grace.get(answer.location)).text, /rotate once more/)
  const [entry] = (await services.auditTrail.list({ limit: 1 }, {})).items
  t.match(entry, { action: 'connector_authority.promoted', content: { leaked: true } })
})

void t.test('all have it, or there are none', async (t) => {
  const { grace, text } = await start(t)
  await grace.post(PREPARE)
  t.match(await text(), /All connectors have the next key/)
})

void t.test('nobody but operators rotates it', async (t) => {
  const { person, keys } = await start(t)
  const ada = await person('acme')
  for (const path of [PREPARE, PROMOTE]) t.not((await ada.post(path)).status, 303, path)
  t.match(await keys(), { next: null })
})
