/** Who has a database: control planes that know of each other, or one alone. */
import { readlinkSync } from 'node:fs'
import t from 'tap'
import { openPostgres } from '../../../control-plane/store/engines/postgres.ts'
import { postgresAddress } from '../../../control-plane/store/engines/postgres-address.ts'
import { holdDatabase, type Process } from '../../../control-plane/store/engines/postgres-holder.ts'
import { asAdmin, newUrl } from '../../support/postgres-store.ts'

const SECOND: Process = { host: 'web-2', pid: 7, boot: 'two' }
const nothing = () => Promise.resolve()

const FIRST: Process = { host: 'web-1', pid: 4711, boot: 'one' }

t.test('control planes share a database with each other, and with nobody alone', async (t) => {
  const url = await newUrl()
  const open = () => openPostgres(postgresAddress(url))
  const first = await holdDatabase(await open(), { self: FIRST, renewMs: 20 })
  const second = await holdDatabase(await open(), { self: SECOND, renewMs: 20 })
  const engine = await open()
  const alone = { self: { host: 'web-3', pid: 1, boot: 'three' }, isAlone: true, renewMs: 20 }
  const refused = {
    message: /another control plane uses this database: process \d+ on web-[12], since 20.* UTC/,
  }
  await t.rejects(holdDatabase(engine, alone), refused)
  await first.engine.transaction(nothing)
  await first.engine.close()
  await t.rejects(holdDatabase(engine, alone), refused)
  await second.engine.transaction(nothing)
  await second.engine.close()
  const third = await holdDatabase(engine, alone)
  const late = await open()
  await t.rejects(holdDatabase(late, { self: FIRST }), {
    message: /process 1 on web-3, since .* UTC. It shares it with none: stop that one/,
  })
  await late.close()
  await third.engine.close()
  const left = await asAdmin(url, `SELECT name FROM facts WHERE name = 'control_plane'`)
  t.strictSame(left, [])
})

t.test(
  'a process is known by its container as well, whose numbers others do not see',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const url = await newUrl()
    const held = await holdDatabase(await openPostgres(postgresAddress(url)))
    const [row] = await asAdmin(url, `SELECT value FROM facts WHERE name = 'control_plane'`)
    const { boot } = JSON.parse(String(row?.['value'])) as Process
    t.equal(boot.split(' ')[1], readlinkSync('/proc/self/ns/pid'))
    await held.engine.close()
  },
)

t.test('one that has stood still is believed gone, and changes nothing any more', async (t) => {
  const url = await newUrl()
  const still = await holdDatabase(await openPostgres(postgresAddress(url)), {
    leaseMs: 200,
    renewMs: 1e6,
    isAlone: true,
    self: { host: 'web-1', pid: 1, boot: 'one' },
  })
  const second = await holdDatabase(await openPostgres(postgresAddress(url)), {
    self: SECOND,
    isAlone: true,
  })
  await t.rejects(still.engine.transaction(nothing), { code: 'unavailable' })
  await t.rejects(still.engine.transactionOf('acme', nothing), { code: 'unavailable' })
  await still.engine.close()
  await second.engine.transaction(nothing)
  await second.engine.close()
})

t.test(
  'whoever finds another one in its place says so, and changes nothing any more',
  async (t) => {
    const url = await newUrl()
    const held = await holdDatabase(await openPostgres(postgresAddress(url)), { renewMs: 20 })
    const another = { ...SECOND, id: 'another', since: 0, until: 1e15 }
    await asAdmin(
      url,
      // as any control plane does: the lock of all changes, or what was read before is written behind it
      `SELECT pg_advisory_xact_lock(24129, 0);
       UPDATE facts SET value = '${JSON.stringify(another)}' WHERE name = 'control_plane'`,
    )
    t.match(await held.lost, /process 7 on web-2/)
    await t.rejects(held.engine.transaction(nothing), { code: 'unavailable' })
    await held.engine.close()
    const [left] = await asAdmin(url, `SELECT value FROM facts WHERE name = 'control_plane'`)
    t.match(left?.['value'], /another/, 'and leaves the other one its place')
  },
)

t.test('one that was killed on the same machine is not waited for', async (t) => {
  const url = await newUrl()
  const open = () => openPostgres(postgresAddress(url))
  const pid = 2 ** 22 + 1 // Linux gives no process so high a number
  const killed = await open()
  const gone = await holdDatabase(killed, {
    self: { host: 'here', pid, boot: 'b' },
    isAlone: true,
    renewMs: 1e6,
    leaseMs: 1e6,
  })
  await killed.close() // without a word
  const another = await open()
  const refused = t.rejects(
    holdDatabase(another, {
      self: { host: 'there', pid: 1, boot: 'b' },
      isAlone: true,
      renewMs: 20,
    }),
    { message: new RegExp(`process ${process.pid} on here`) },
  )
  const next = await holdDatabase(await open(), {
    self: { host: 'here', pid: process.pid, boot: 'b' },
    renewMs: 20,
  })
  await refused
  await next.engine.close()
  await another.close()
  await gone.engine.close()
})
