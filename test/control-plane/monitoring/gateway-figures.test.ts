/** From a gateway's counts to a tenant's figures, over the real link and whatever happens to it. */
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { schema } from '../../../control-plane/store/schema.ts'
import { parseFleetMessage } from '../../../shared/fleet/parse.ts'
import {
  UpMessageSchema,
  type DecisionCount,
  type DecisionFigures,
} from '../../../shared/fleet/snapshot.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'
import { startControlPlane, startGateway, temporaryFolder, until } from '../../support/fleet.ts'

const HOUR_MS = 3_600_000
const decided = (count: number, ...[decision, reason]: [string, string]): DecisionCount => [
  'acme',
  decision,
  reason,
  count,
]

async function startFigures(t: Test) {
  const clock = movableClock()
  const services = await startServices(t, { clock })
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  const figures = () => services.store.read.select().from(schema.figures)
  return {
    ...services,
    clock,
    rows: figures,
    async sealed(): Promise<number> {
      const rows = await figures()
      const sealed = rows.filter(({ step, outcome }) => step === 'hour' && outcome === 'sealed')
      return sealed.reduce((sum, { count }) => sum + count, 0)
    },
  }
}

const batch = (changes: Partial<DecisionFigures> = {}): DecisionFigures => ({
  run: 'run-1',
  batch: 1,
  age_seconds: 0,
  counts: [decided(3, 'refuse', 'sealed')],
  ...changes,
})

t.test('what was counted of a tenant that has gone is not its namesake’s', async (t) => {
  const { figures, tenants, rows, clock } = await startFigures(t)
  await tenants.remove('acme', ACTOR)
  clock.advance(HOUR_MS)
  await tenants.create(tenantNamed('acme'), ACTOR)
  await figures.receive('edge-1', batch({ age_seconds: 3600 }))
  t.same(await rows(), [])
  await figures.receive('edge-1', batch({ batch: 2, age_seconds: 60 }))
  t.not((await rows()).length, 0, 'a batch that the new one may be in counts')
})

t.test('decisions become outcomes, each in its minute and its hour', async (t) => {
  const { figures, rows, clock } = await startFigures(t)
  clock.advance(HOUR_MS)
  const counts = [
    decided(5, 'forward', 'session'),
    decided(2, 'forward', 'excluded'),
    decided(3, 'refuse', 'sealed'),
    decided(4, 'refuse', 'suspended'),
    decided(6, 'sign_in', 'no_session'),
    decided(1, 'sign_in', 'binding_step_up'),
    decided(1, 'sign_in', 'binding_terminate'),
    decided(7, 'sign_in', 'of a newer version'),
    decided(8, 'of a newer version', ''),
    decided(9, 'service', ''),
    ['nobody', 'refuse', 'sealed', 1] as DecisionCount,
  ]
  await figures.receive('edge-1', batch({ counts, age_seconds: 3600 }))
  const atMs = clock.nowMs() - HOUR_MS
  const told = (await rows()).map(({ tenantId, step, at, source, outcome, reason, count }) =>
    [tenantId, step, at, source, outcome, reason, count].join(' '),
  )
  const expected = [
    'forwarded session 5',
    'forwarded excluded 2',
    'sealed sealed 3',
    'refused suspended 4',
    'sign_in no_session 6',
    'step_up binding_step_up 1',
    'terminate binding_terminate 1',
    'sign_in other 7',
    'other  8',
  ].flatMap((line) => [
    `acme minute ${atMs - (atMs % 60_000)} edge ${line}`,
    `acme hour ${atMs - (atMs % HOUR_MS)} edge ${line}`,
  ])
  t.same(told.sort(), expected.sort())
})

t.test('a batch of many tenants is added up, and lets others in between', async (t) => {
  const { figures, store, rows } = await startFigures(t)
  const [acme] = await store.read.select().from(schema.tenants)
  const ids = Array.from({ length: 400 }, (_, at) => `many-${at}`)
  await store.change(async ({ queries }) => {
    for (const [at, tenantId] of ids.entries())
      await queries
        .insert(schema.tenants)
        .values({ ...acme!, tenantId, number: 1000 + at, analyzerKeyHash: tenantId })
  })
  let turns = 0
  let next: NodeJS.Immediate
  const turn = () => {
    turns++
    next = setImmediate(turn)
  }
  next = setImmediate(turn)
  const counts = ids.flatMap((id): DecisionCount[] => [
    [id, 'refuse', 'sealed', 2],
    [id, 'forward', 'session', 3],
  ])
  await figures.receive('edge-1', batch({ counts }))
  clearImmediate(next)
  t.ok(turns >= 10, `${turns} turns of the event loop`)
  t.equal((await rows()).length, 4 * ids.length)
  const service = await store.read.select().from(schema.serviceFigures)
  t.same(
    service.map(({ step, outcome, count }) => `${step} ${outcome} ${count}`).sort(),
    ['minute', 'hour', 'day']
      .flatMap((step) => [`${step} forwarded 1200`, `${step} sealed 800`])
      .sort(),
  )
  const refused = await store.read.select().from(schema.tenantRefusals)
  t.same([refused.length, new Set(refused.map(({ count }) => count))], [800, new Set([2])])
})

t.test('a batch counts once, however often it comes; the next one counts', async (t) => {
  const { figures, sealed } = await startFigures(t)
  for (const again of [batch(), batch(), batch({ age_seconds: 7200 })])
    await figures.receive('edge-1', again)
  t.equal(await sealed(), 3)
  await figures.receive('edge-1', batch({ batch: 2 }))
  await figures.receive('edge-1', batch())
  t.equal(await sealed(), 6)
  await figures.receive('edge-1', batch({ run: 'run-2' }))
  await figures.receive('edge-2', batch())
  t.equal(await sealed(), 12, 'another run, another gateway')
})

t.test('counts arrive once over links that break and a control plane that is killed', async (t) => {
  const { figures, sealed } = await startFigures(t)
  let isDeaf = false
  const control = await startControlPlane(t, {
    async onFigures(gatewayId, counted) {
      await figures.receive(gatewayId, counted)
      // committed, and killed before it can say so
      if (isDeaf) await new Promise(() => {})
    },
  })
  const folder = temporaryFolder(t)
  const options = { port: control.port, folder, timing: { figuresMs: 1 } }
  const gateway = startGateway(t, options)
  await until(() => gateway.link.status().isConnected)
  gateway.link.countDecisions([decided(1, 'refuse', 'sealed')])
  await untilAsync(async () => (await sealed()) === 1)

  isDeaf = true
  gateway.link.countDecisions([decided(10, 'refuse', 'sealed')])
  await untilAsync(async () => (await sealed()) === 11)
  gateway.link.countDecisions([decided(100, 'refuse', 'sealed')])
  await control.kill()
  isDeaf = false
  await control.start()
  await untilAsync(async () => (await sealed()) >= 111)
  t.equal(await sealed(), 111)

  isDeaf = true
  gateway.link.countDecisions([decided(1000, 'refuse', 'sealed')])
  await untilAsync(async () => (await sealed()) === 1111)
  await gateway.close()
  isDeaf = false
  const later = startGateway(t, options)
  later.link.countDecisions([decided(10_000, 'refuse', 'sealed')])
  await untilAsync(async () => (await sealed()) >= 11_111)
  t.equal(await sealed(), 11_111, 'the gateway was started again')
})

t.test(
  'an older control plane leaves counts out, as it does all that it does not know',
  async (t) => {
    const older = UpMessageSchema.options.filter(
      ({ entries }) => entries.type.literal !== 'figures',
    )
    const text = JSON.stringify({ type: 'figures', ...batch() })
    t.match(parseFleetMessage(UpMessageSchema, text), { kind: 'message' })
    t.strictSame(parseFleetMessage(v.variant('type', older), text), {
      kind: 'unknown',
      type: 'figures',
    })
  },
)

async function untilAsync(isTrue: () => Promise<boolean>): Promise<void> {
  let is = false
  void (async () => {
    while (!is) {
      is = await isTrue()
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  await until(() => is)
}
