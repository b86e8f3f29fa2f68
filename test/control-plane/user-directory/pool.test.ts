/** The bulkhead: how much of us one tenant's database can hold. */
import t from 'tap'
import type { DirectoryConnection } from '../../../control-plane/user-directory/connection.ts'
import { DirectoryFault } from '../../../control-plane/user-directory/faults.ts'
import { createPool } from '../../../control-plane/user-directory/pool.ts'
import { LIMITS } from '../../../shared/limits.ts'

/** Databases that answer when they are told to. */
function openings() {
  const all: { isAlive: boolean; isClosed: boolean }[] = []
  const open = async (): Promise<DirectoryConnection> => {
    const state = { isAlive: true, isClosed: false }
    all.push(state)
    return {
      get isAlive() {
        return state.isAlive && !state.isClosed
      },
      isReadOnly: async () => true,
      columns: async () => [],
      find: async () => [],
      close: () => void (state.isClosed = true),
    }
  }
  return { all, open }
}

const kindOf = (error: unknown) => (error instanceof DirectoryFault ? error.kind : String(error))

t.test('so many connections and so many waiting, and the next one is refused', async (t) => {
  const { all, open } = openings()
  const pool = createPool(open)
  const held = Promise.withResolvers<void>()
  const most = LIMITS.directoryConnectionsPerTenantMax + LIMITS.directoryWaitingPerTenantMax
  const uses = Array.from({ length: most }, () => pool.use(() => held.promise))
  t.equal(await pool.use(async () => 'used').catch(kindOf), 'waited_too_long')
  t.equal(all.length, LIMITS.directoryConnectionsPerTenantMax)
  held.resolve()
  await Promise.all(uses)
  t.equal(await pool.use(async () => 'used'), 'used', 'and then there is room again')
  t.equal(all.length, LIMITS.directoryConnectionsPerTenantMax, 'over connections that are kept')
  pool.close()
  t.ok(all.every(({ isClosed }) => isClosed))
})

t.test('nobody waits for ever', async (t) => {
  const { open } = openings()
  const pool = createPool(open)
  const held = Promise.withResolvers<void>()
  const uses = Array.from({ length: LIMITS.directoryConnectionsPerTenantMax }, () =>
    pool.use(() => held.promise),
  )
  t.equal(await pool.use(async () => 'used').catch(kindOf), 'waited_too_long')
  held.resolve()
  await Promise.all(uses)
  t.equal(await pool.use(async () => 'used'), 'used')
  pool.close()
})

t.test('a connection that has ended is not used, and one that ends in use once more', async (t) => {
  const { all, open } = openings()
  const pool = createPool(open)
  await pool.use(async () => 'used')
  all[0]!.isAlive = false
  await pool.use(async () => 'used')
  t.same(
    all.map(({ isClosed }) => isClosed),
    [true, false],
  )
  let tries = 0
  const answer = await pool.use(async () => {
    if (++tries === 1) throw new DirectoryFault('lost')
    return 'used'
  })
  t.equal(answer, 'used')
  t.equal(tries, 2)
  const always = () => Promise.reject(new DirectoryFault('lost'))
  t.equal(await pool.use(always).catch(kindOf), 'lost', 'but not for ever')
  pool.close()
})

t.test('a pool that is closed keeps nothing of what is under way', async (t) => {
  const { all, open } = openings()
  const pool = createPool(open)
  const held = Promise.withResolvers<void>()
  const use = pool.use(() => held.promise)
  pool.close()
  held.resolve()
  await use
  t.same(
    all.map(({ isClosed }) => isClosed),
    [true],
  )
})
