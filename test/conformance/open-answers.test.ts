/**
 * Whatever is still open when its session is over ends with it: event streams, downloads, and
 * answers that have not begun. What Next.js answers behind a proxy.ts never comes by there, so that
 * target is left out.
 */
import t, { type Test } from 'tap'
import { RawClient } from '../support/wire.ts'
import { BEGUN, OPEN_PATHS, type OpenPath } from './open-answers.ts'
import type { Target } from './target.ts'
import { headOf, startWorld, type World } from './world.ts'

interface Open {
  readonly name: string
  readonly path: OpenPath
  readonly client: RawClient
}

/** Shorter than what the edge waits for a silent application. */
const SHORT_SECONDS = 20

async function openOn(t: Test, target: Target, path: OpenPath, cookie: string): Promise<Open> {
  const before = target.arrivals.length
  const client = new RawClient(target.port)
  t.teardown(() => client.close())
  client.send(headOf({ target: path, cookie, lines: ['Connection: close'] }))
  if (path === '/open/wait')
    while (target.arrivals.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
  else
    await client.until((received) => received.endsWith(BEGUN) || received.includes(`${BEGUN}\r\n`))
  return { name: `${target.name} ${path}`, path, client }
}

/** Every kind, everywhere; one after the other at each target, so that its arrivals can be told apart. */
async function openEverywhere(t: Test, world: World, cookie: string): Promise<Open[]> {
  const targets = world.targets.filter(({ leftOf }) => leftOf === undefined)
  const opened = await Promise.all(
    targets.map(async (target) => {
      const here: Open[] = []
      for (const path of OPEN_PATHS) here.push(await openOn(t, target, path, cookie))
      return here
    }),
  )
  return opened.flat()
}

async function allEnd(t: Test, opened: readonly Open[]): Promise<void> {
  for (const { name, path, client } of opened) {
    await client.closed
    // the edge can still refuse what has not begun; inside, the application holds the response
    const status = /^HTTP\/1\.1 (\d+)/.exec(client.received)?.[1]
    if (path === '/open/wait') t.notMatch(status, '200', name)
    else t.equal(status, '200', name)
  }
}

const ENDINGS: Readonly<Record<string, (world: World) => unknown>> = {
  'the session is revoked': (world) => world.change({}, { sids: { 'sid-1': world.nowSeconds() } }),
  'everybody is revoked': (world) => world.change({}, { all: world.nowSeconds() }),
  'the session has expired': (world) => world.setClocks(SHORT_SECONDS),
  'the tenant is suspended': (world) => world.change({ status: 'suspended' }),
  'the path is sealed': (world) => world.change({ sealed: ['/open'] }),
}

for (const [name, end] of Object.entries(ENDINGS))
  t.test(`open answers end when ${name}`, async (t) => {
    const world = await startWorld(t)
    const wish = { issuedAgoSeconds: 5, lifeSeconds: SHORT_SECONDS }
    const opened = await openEverywhere(t, world, world.session(wish))
    t.ok(
      opened.every(({ client }) => !client.isClosed),
      'all are open',
    )
    await end(world)
    await allEnd(t, opened)
  })

t.test('an event stream that nobody looks at is idle, a download and a wait are not', async (t) => {
  const world = await startWorld(t, { state: { idle_seconds: SHORT_SECONDS } })
  const opened = await openEverywhere(t, world, world.session({ issuedAgoSeconds: 5 }))
  world.setClocks(SHORT_SECONDS + 1)
  const streams = opened.filter(({ path }) => path === '/open/stream')
  const others = opened.filter(({ path }) => path !== '/open/stream')
  await allEnd(t, streams)
  for (const { name, client } of others) t.notOk(client.isClosed, name)
  await world.change({}, { all: world.nowSeconds() })
  await allEnd(t, others)
})

t.test('a revocation of somebody else ends nothing', async (t) => {
  const world = await startWorld(t)
  const ada = await openEverywhere(t, world, world.session({ issuedAgoSeconds: 5 }))
  const bob = { sub: 'bob', sid: 'sid-2', issuedAgoSeconds: 5 }
  const bobs = await openEverywhere(t, world, world.session(bob))
  await world.change({}, { subjects: { bob: world.nowSeconds() } })
  await allEnd(t, bobs)
  for (const { name, client } of ada) t.notOk(client.isClosed, name)
})
