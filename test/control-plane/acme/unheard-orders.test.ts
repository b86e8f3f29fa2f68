/** Orders that were asked for, and of which nobody has heard whether they are there. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LEASE_MS } from '../../../control-plane/services/leases.ts'
import { HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { hurriedClock, startOrdering } from '../../support/acme.ts'
import { ACTOR, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'
import { openDatabase } from '../../support/databases.ts'
import { startFakeAuthority } from '../../support/fake-authority.ts'

const NAME = 'app.example.test'
const NEW_ORDER = 'POST /new-order'

async function startWith(t: Test, count = 1) {
  const clock = hurriedClock()
  const authorities = await Promise.all(
    Array.from({ length: count }, () => startFakeAuthority(t, clock)),
  )
  const directories = authorities.map(({ directory }) => directory)
  const ordering = await startOrdering(t, { clock, directories })
  await ordering.services.tenants.create(tenantNamed('app', { hostnames: [NAME] }), ACTOR)
  await ordering.services.tenants.publish('app', ACTOR)
  const [first, second] = authorities
  return { ...ordering, authority: first!, second: second! }
}

type Authority = Awaited<ReturnType<typeof startFakeAuthority>>
const askedIn = ({ requests }: Authority) => requests.filter((one) => one === NEW_ORDER).length
const orderedIn = ({ orders }: Authority) => orders.filter((one) => one.hostname === NAME).length

/** Its first answer to a new order is lost; `instead`: what a proxy before it says. */
function loseAnswer(authority: Authority, instead: false | number = false) {
  let isLost = false
  authority.onAnswer((request) => {
    if (isLost || request !== NEW_ORDER) return true
    isLost = true
    return instead
  })
}

for (const handsOutAgain of [false, true])
  void t.test(
    handsOutAgain ? 'it is handed out again' : 'it is found in the list of the account',
    async (t) => {
      const { run, orders, authority, second, clock } = await startWith(t, 2)
      if (handsOutAgain) authority.lists(undefined)
      loseAnswer(authority)
      await run()
      t.match(await orders(), [{ step: 'asking', orderUrl: null }])
      clock.advance(2 * MINUTE_MS)
      await run()
      t.match(await orders(), [{ step: 'issued', issuedBy: authority.directory }])
      t.strictSame([authority.orders.length, second.orders.length], [1, 0])
      t.equal(askedIn(authority), handsOutAgain ? 2 : 1)
    },
  )

for (const isNewestFirst of [false, true])
  void t.test(
    `it is found behind hundreds of others, a few on a page; newest first: ${isNewestFirst}`,
    async (t) => {
      const { run, orders, authority, clock } = await startWith(t)
      const others = Array.from({ length: 400 }, (_, at) => `h${at}.example.test`)
      authority.hasOrdered(others)
      authority.lists({ perPage: 3, isNewestFirst })
      loseAnswer(authority)
      await run()
      clock.advance(2 * MINUTE_MS)
      await run()
      t.match(await orders(), [{ step: 'issued', failures: 0 }])
      t.equal(orderedIn(authority), 1)
    },
  )

void t.test('what a proxy says is no word of the authority', async (t) => {
  const { run, orders, authority, clock } = await startWith(t)
  loseAnswer(authority, 503)
  await run()
  t.match(await orders(), [{ step: 'asking', orderUrl: null }])
  clock.advance(6 * MINUTE_MS)
  await run()
  t.match(await orders(), [{ step: 'issued', failures: 0 }])
  t.equal(orderedIn(authority), 1)
})

void t.test('one that is given up because the authority is away is looked for first', async (t) => {
  const { run, orders, authority, clock, answers } = await startWith(t)
  let isAway = false
  authority.onAnswer((request) => {
    isAway ||= request === NEW_ORDER
    return !isAway
  })
  for (let hours = 0; (await orders())[0]?.step !== 'waiting'; hours++) {
    t.ok(hours < 5, 'within hours')
    await run()
    clock.advance(HOUR_MS)
  }
  t.match(await orders(), [{ step: 'waiting', orderUrl: null, failures: 1 }])
  answers(false) // and the hostname leads elsewhere for a while
  await run()
  t.match(await orders(), [{ step: 'waiting', failures: 2 }])
  answers(true)
  isAway = false
  authority.onAnswer(() => true)
  clock.advance(HOUR_MS)
  await run()
  t.match(await orders(), [{ step: 'issued', failures: 0 }])
  t.equal(orderedIn(authority), 1)
  t.equal(askedIn(authority), 1)
})

void t.test('nothing is sent any more once others may look for it', async (t) => {
  const { run, orders, authority, clock } = await startWith(t)
  // each nonce is refused, and that takes its time
  authority.refuse(NAME, { status: 400, type: 'badNonce' })
  authority.onRequest((request) => {
    if (request === NEW_ORDER) clock.advance(LIMITS.acmeRequestMsMax)
    return Promise.resolve()
  })
  await run()
  t.equal(askedIn(authority), 4, 'and the last is answered, or gone, when its time is over')
  t.match(await orders(), [{ step: 'asking', orderUrl: null }])
})

void t.test('two who both find that one is missing do not both ask for it', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const clock = hurriedClock()
  const late = { ...clock, nowMs: () => clock.nowMs() + LEASE_MS + 1000 }
  const authority = await startFakeAuthority(t, clock)
  const shared = { masterKey: Buffer.alloc(32, 1), directories: [authority.directory] }
  const one = await startOrdering(t, { ...shared, clock, engine: await openDatabase(file) })
  const engine = await openDatabase(file)
  const other = await startOrdering(t, { ...shared, clock: late, engine })
  await one.services.tenants.create(tenantNamed('app', { hostnames: [NAME] }), ACTOR)
  await one.services.tenants.publish('app', ACTOR)
  loseAnswer(authority)
  await one.run()
  t.match(await one.orders(), [{ step: 'asking' }])
  authority.orders.length = 0 // it was lost before it was one
  clock.advance(2 * MINUTE_MS)
  let isLooking = false
  authority.onRequest(async (request) => {
    if (isLooking || !request.startsWith('POST /orders')) return
    isLooking = true
    await other.run()
  })
  await one.run()
  t.ok(isLooking)
  t.match(await one.orders(), [{ step: 'issued', failures: 0 }])
  t.equal(authority.orders.length, 1)
})

void t.test(
  'where nothing tells of it, it is asked for once more, and not a third time',
  async (t) => {
    const { run, orders, authority, clock } = await startWith(t)
    authority.lists(undefined, { handsOutAgain: false })
    loseAnswer(authority)
    await run()
    clock.advance(2 * MINUTE_MS)
    await run()
    t.match(await orders(), [{ step: 'issued', failures: 0 }])
    clock.advance(HOUR_MS)
    await run()
    t.equal(orderedIn(authority), 2)
    t.equal(authority.orders.filter(({ finalized }) => finalized > 0).length, 1, 'one certificate')
  },
)
