import t from 'tap'
import {
  createRevocations,
  ROUNDS_PER_READING,
} from '../../../control-plane/sessions/revocations.ts'
import { ENFORCED_BY_NOBODY } from '../../../control-plane/store/enforced.ts'
import { sql } from '../../../control-plane/store/drizzle.ts'
import { upsertRevocations } from '../../../control-plane/store/queries/revocations.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { ON_POSTGRES } from '../../support/databases.ts'
import { startAccounts } from '../../support/session-accounts.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

void t.test(
  'each kind of revocation ends what it names, and nothing of another tenant',
  async (t) => {
    const { revocations, issue, record, records, alive } = await startAccounts(t)
    await issue('a1')
    await issue('a2')
    await issue('b1', 'bob')
    await issue('x1', 'ada', 'other')
    await record('of-a1', { accountId: 'ada', sid: 'a1' })
    await record('of-a2', { accountId: 'ada', sid: 'a2' })
    await record('of-b1', { accountId: 'bob', sid: 'b1' })
    await record('of-x1', { accountId: 'ada', sid: 'a1', tenantId: 'other' })

    await revocations.revoke('acme', { sid: 'a1' }, ACTOR)
    t.strictSame(await alive(), ['a2', 'b1'])
    t.strictSame(await records(), ['of-a2', 'of-b1', 'of-x1'])
    await revocations.revoke('acme', { subject: 'ada' }, ACTOR)
    t.strictSame(await alive(), ['b1'])
    t.strictSame(await records(), ['of-b1', 'of-x1'])
    await revocations.revoke('acme', { all: true }, ACTOR)
    t.strictSame(await alive(), [])
    t.strictSame(await records(), ['of-x1'])
    t.strictSame(await alive('other'), ['x1'])
  },
)

void t.test('not-before is the next whole second, and only ever grows', async (t) => {
  const { revocations, issue, clock } = await startAccounts(t)
  await issue('a1')
  const first = await revocations.revoke('acme', { subject: 'ada' }, ACTOR)
  t.equal(first.notBefore, Math.floor(clock.nowMs() / 1000) + 1)
  t.equal(await revocations.notBefore('acme', 'ada'), first.notBefore)
  t.equal(await revocations.notBefore('acme', 'bob'), 0)
  t.equal(await revocations.notBefore('other', 'ada'), 0)
  clock.advance(10_000)
  const second = await revocations.revoke('acme', { all: true }, ACTOR)
  t.equal(await revocations.notBefore('acme', 'ada'), second.notBefore, 'the later one counts')
  clock.advance(-60_000)
  await revocations.revoke('acme', { all: true }, ACTOR)
  t.strictSame(await revocations.revokedState('acme'), {
    all: second.notBefore,
    subjects: { ada: first.notBefore },
    sids: {},
  })
})

void t.test('a user called __proto__ is revoked like any other', async (t) => {
  const { revocations, issue } = await startAccounts(t)
  await issue('__proto__', '__proto__')
  await revocations.revoke('acme', { subject: '__proto__' }, ACTOR)
  await revocations.revoke('acme', { sid: '__proto__' }, ACTOR)
  const { subjects, sids } = await revocations.revokedState('acme')
  t.ok(Object.hasOwn(subjects, '__proto__') && Object.hasOwn(sids, '__proto__'))
  t.match(JSON.stringify(subjects), /"__proto__":\d+/)
})

void t.test('a renewed token moves a session on, and never brings an ended one back', async (t) => {
  const { sessions, revocations, issue, clock, alive } = await startAccounts(t)
  await issue('a1')
  clock.advance(60_000)
  await issue('a1')
  const renewed = await sessions.find('acme', 'a1')
  t.equal(renewed?.issuedAt, clock.nowMs())
  t.equal(renewed?.createdAt, clock.nowMs() - 60_000)
  await revocations.revoke('acme', { sid: 'a1' }, ACTOR)
  clock.advance(2000)
  await issue('a1')
  t.strictSame(await alive(), [])
  const before = await sessions.find('acme', 'a1')
  clock.advance(2000)
  await issue('a1', 'eve')
  t.strictSame(await sessions.find('acme', 'a1'), before, "nor does it become another one's")
})

void t.test('a token that was revoked while it was made is refused, by any target', async (t) => {
  const { sessions, revocations, issue, clock } = await startAccounts(t)
  await issue('of-sid')
  const targets = [{ sid: 'of-sid' }, { subject: 'ada' }, { all: true }] as const
  for (const target of targets) {
    const issued = {
      tenantId: 'acme',
      sid: 'sid' in target ? 'of-sid' : `of-${Object.keys(target)[0]}`,
      userId: 'ada',
      ip: '',
      userAgent: '',
      expiresAtMs: clock.nowMs() + HOUR_MS,
    }
    const before = clock.nowMs()
    await revocations.revoke('acme', target, ACTOR)
    const revoked = { name: 'SessionRevoked' }
    await t.rejects(sessions.record({ ...issued, issuedAtMs: before }), revoked)
    clock.advance(500) // the first second in which tokens may be issued again
    const late = { ...issued, issuedAtMs: clock.nowMs() }
    await t.rejects(sessions.record({ ...late, signedInAtMs: before }), revoked)
    if (!('sid' in target)) t.equal(await sessions.find('acme', issued.sid), undefined)
    await sessions.record(late)
    clock.advance(1000 - 500)
  }
})

void t.test('activity moves last-seen forward, never into the future', async (t) => {
  const { sessions, issue, clock } = await startAccounts(t)
  await issue('a1')
  const born = clock.nowMs()
  clock.advance(60_000)
  const seen = async (atMs: number, tenantId = 'acme') => {
    await sessions.seen([{ tenantId, sid: 'a1', atMs }])
    return ((await sessions.find('acme', 'a1'))?.lastSeenAt ?? 0) - born
  }
  t.equal(await seen(born + 30_000), 30_000)
  t.equal(await seen(born + 10_000), 30_000, 'reports may come out of order')
  t.equal(await seen(born + HOUR_MS), 60_000, "a gateway's clock may be wrong")
  t.equal(await seen(born + 60_001, 'other'), 60_000)
})

void t.test(
  'an entry is forgotten when no token can run into it any more, not before',
  async (t) => {
    const { revocations, sessions, tenants, issue, clock } = await startAccounts(t)
    await issue('a1')
    await issue('b1', 'bob')
    await revocations.revoke('acme', { subject: 'ada' }, ACTOR)
    const kept = async () => Object.keys((await revocations.revokedState('acme')).subjects)
    clock.advance(1800_000)
    t.equal(await revocations.prune(100), 0)

    // a shorter maximum must not shorten the memory: it may be raised again while the token lives
    await tenants.patch('acme', { maxSessionSeconds: 60 }, ACTOR)
    t.equal(await revocations.prune(100), 0)
    t.strictSame(await kept(), ['ada'])
    await tenants.patch('acme', { maxSessionSeconds: 3600 }, ACTOR)
    clock.advance(1800_000 + 2000)
    t.equal(await revocations.prune(100), 1)
    t.strictSame(await kept(), [])

    t.equal(await sessions.prune(100), 0, 'an ended session is shown for a while')
    clock.advance(24 * HOUR_MS)
    t.equal(await sessions.prune(1), 1, 'so many at a time')
    t.equal(await sessions.prune(100), 1)
  },
)

void t.test('an entry that is still needed is put off, and then looked at once', async (t) => {
  const { revocations, clock } = await startAccounts(t)
  const kept = async () => Object.keys((await revocations.revokedState('acme')).sids)
  for (const sid of ['s1', 's2', 's3']) await revocations.end('acme', sid, ACTOR, 'signed_out')
  t.equal(await revocations.prune(2), 2, 'so many a round')
  t.equal(await revocations.prune(2), 1)
  t.equal(await revocations.prune(2), 0)
  t.strictSame(await kept(), ['s1', 's2', 's3'])
  clock.advance(HOUR_MS + 2000)
  t.equal(await revocations.prune(2), 2)
  t.equal(await revocations.prune(2), 1)
  t.strictSame(await kept(), [])
})

void t.test('what a session was ended by outlives the session’s own row', async (t) => {
  const { revocations, sessions, store, tenants, issue, clock } = await startAccounts(t)
  await issue('a1')
  await tenants.patch('acme', { maxSessionSeconds: 60 }, ACTOR)
  await revocations.revoke('acme', { subject: 'ada' }, ACTOR)
  clock.advance(500)
  await store.change(({ queries }) => queries.delete(schema.sessions))
  t.equal(await sessions.find('acme', 'a1'), undefined)
  clock.advance(1000)
  const kept = async () => Object.keys((await revocations.revokedState('acme')).subjects)
  clock.advance(HOUR_MS / 2)
  await revocations.prune(100)
  t.strictSame(await kept(), ['ada'], 'its token lives for an hour')
  clock.advance(HOUR_MS / 2)
  await revocations.prune(100)
  t.strictSame(await kept(), [])
})

void t.test('a new password, a disabled and a removed account end what was open', async (t) => {
  const { users, issue, alive, revocations } = await startAccounts(t)
  const create = (username: string) =>
    users.create(
      'acme',
      { username, email: `${username}@x.test`, name: username, password: 'long enough' },
      ACTOR,
    )
  const people = [
    await create('ada'),
    await create('bob'),
    await create('eve'),
    await create('joe'),
  ]
  const [ada, bob, eve, joe] = people.map(({ userId }) => userId) as [
    string,
    string,
    string,
    string,
  ]
  for (const userId of [ada, bob, eve, joe]) await issue(`of-${userId}`, userId)
  await users.patch('acme', ada, { password: 'another long one' }, ACTOR)
  await users.patch('acme', bob, { isDisabled: true }, ACTOR)
  await users.remove('acme', eve, ACTOR)
  await users.patch('acme', joe, { name: 'Joseph', isDisabled: false }, ACTOR)
  t.strictSame(await alive(), [`of-${joe}`])
  t.equal(await revocations.notBefore('acme', joe), 0)
  t.match(await users.authenticate('acme', 'ada', 'long enough'), { reason: 'wrong_password' })
  t.match(await users.authenticate('acme', 'ada', 'another long one'), { kind: 'ok' })
})

void t.test('how long it has to be remembered is said where it is more than a day', async (t) => {
  const { revocations, sessions, store, issue, clock } = await startAccounts(t)
  const told: unknown[] = []
  store.onCommit(({ revoked }) => void told.push(...revoked.values()))
  await issue('short')
  await revocations.revoke('acme', { sid: 'short' }, ACTOR)
  t.notHas(await revocations.revokedState('acme'), { session_seconds: Number })

  const issuedAtMs = clock.nowMs()
  const long = { tenantId: 'acme', sid: 'long', userId: 'ada', ip: '192.0.2.1', userAgent: 'test' }
  await sessions.record({ ...long, issuedAtMs, expiresAtMs: issuedAtMs + 30 * DAY_MS })
  clock.advance(DAY_MS / 2)
  await revocations.revoke('acme', { sid: 'long' }, ACTOR)
  t.match(await revocations.revokedState('acme'), { session_seconds: 30 * 86_400 })
  t.match(told.at(-1), { sids: { long: Number }, session_seconds: 30 * 86_400 })
  await revocations.revoke('acme', { all: true }, ACTOR)
  t.notHas(told.at(-1), { session_seconds: Number }, 'of all nothing is forgotten')
})

void t.test(
  'all sessions of a tenant end a few at a time, and gateways hear of it first',
  async (t) => {
    const { revocations, store, issue, record, records, alive, clock } = await startAccounts(t)
    const most = LIMITS.sessionsEndedPerChangeMax
    const sids = Array.from({ length: 2 * most + 1 }, (_, at) => `s${at}`)
    for (const sid of sids) await issue(sid)
    await record('of-s0', { accountId: 'ada', sid: 's0' })
    let commits = 0
    let refusedMs = Infinity
    store.onCommit(() => {
      commits++
      clock.advance(1)
    })
    const leftThen: number[] = []
    store.enforceBy(async () => {
      leftThen.push((await store.read.select().from(schema.sessions)).filter(isAlive).length)
      clock.advance(2000)
      await issue('since') // who signs in again meanwhile
      refusedMs = clock.nowMs()
      return ENFORCED_BY_NOBODY
    })
    const { sessions, enforced } = await revocations.revoke('acme', { all: true }, ACTOR)
    t.equal(sessions, sids.length)
    t.match(await enforced, { atMs: refusedMs }, 'what is written down behind it counts for itself')
    t.ok(clock.nowMs() > refusedMs)
    t.same(leftThen, [sids.length])
    t.ok(commits >= 5, 'the revocation, the new session, and three of what is written down')
    t.same(await alive(), ['since'])
    t.same(await records(), [])
  },
)

const isAlive = ({ endedAt }: { readonly endedAt: number | null }) => endedAt === null

void t.test(
  'what a process did not come to write down is dead, and written by the next',
  async (t) => {
    const { store, sessions, issue, record, records, alive, clock } = await startAccounts(t)
    const most = LIMITS.sessionsEndedPerChangeMax
    for (let at = 0; at < 2 * most; at++) await issue(`s${at}`, at === 0 ? 'ada' : `p${at}`)
    await record('of-s0', { accountId: 'ada', sid: 's0' })
    let changes = 0
    const cut: typeof store = {
      ...store,
      change: (work) =>
        ++changes > 1 ? Promise.reject(new Error('the store is closed')) : store.change(work),
    }
    const other = createRevocations({ store })
    await other.finishEndings(isOpen)
    const before = createRevocations({ store: cut })
    const { sessions: ended } = await before.revoke('acme', { all: true }, ACTOR)
    t.equal(ended, 2 * most, 'it holds, whatever becomes of the rest')
    t.equal((await alive()).length, 2 * most, 'nothing is written down of them')
    t.equal(await sessions.countAlive('acme'), 0)
    t.same(await sessions.aliveOf('acme', 'ada'), [], 'who comes back is not one too many')

    clock.advance(2000)
    await issue('since')
    t.equal(await sessions.countAlive('acme'), 1)
    await t.rejects(before.finishEndings(isOpen), /closed/, 'as long as it cannot')
    await createRevocations({ store }).finishEndings(isOpen)
    t.same(await alive(), ['since'])
    await issue('left')
    clock.advance(2000)
    changes = 0
    await createRevocations({ store: cut }).revoke('acme', { all: true }, ACTOR)
    for (let round = 2; round < ROUNDS_PER_READING; round++) await other.finishEndings(isOpen)
    t.same(await alive(), ['left', 'since'])
    for (let round = 0; round < 2; round++) await other.finishEndings(isOpen)
    t.same(await alive(), [], 'also by another one that has run all the while')
    t.same(await records(), [])
  },
)

void t.test('a process that ends does not wait for what is to be written down', async (t) => {
  const { store, issue, alive } = await startAccounts(t)
  const most = LIMITS.sessionsEndedPerChangeMax
  for (let at = 0; at < 3 * most; at++) await issue(`s${at}`)
  let changes = 0
  const cut: typeof store = {
    ...store,
    change: (work) =>
      ++changes > 1 ? Promise.reject(new Error('the store is closed')) : store.change(work),
  }
  await createRevocations({ store: cut }).revoke('acme', { all: true }, ACTOR)
  const next = createRevocations({ store })
  let asked = 0
  await next.finishEndings(() => asked++ > 0)
  t.equal((await alive()).length, 2 * most)
  await next.finishEndings(() => true)
  t.equal((await alive()).length, 2 * most)
  await next.finishEndings(isOpen)
  t.same(await alive(), [])
})

const refusesUpdates = ON_POSTGRES
  ? [
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'disk full'; END $$`,
      `CREATE TRIGGER refused BEFORE UPDATE ON sessions FOR EACH ROW
        WHEN (OLD.tenant_id = 'acme') EXECUTE FUNCTION refuse()`,
    ]
  : [
      `CREATE TRIGGER refused BEFORE UPDATE ON sessions WHEN OLD.tenant_id = 'acme'
        BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
    ]

void t.test('a tenant of which nothing can be written holds up no other one', async (t) => {
  const { store, revocations, clock, issue, alive } = await startAccounts(t)
  for (const tenantId of ['acme', 'other']) await issue(`of-${tenantId}`, 'ada', tenantId)
  await store.change(async ({ queries, nowMs }) => {
    for (const text of refusesUpdates) await queries.run(sql.raw(text))
    const times = { createdAt: nowMs, keptUntil: nowMs + HOUR_MS }
    const all = { kind: 'all', target: '', notBefore: Math.floor(nowMs / 1000) + 1 } as const
    for (const tenantId of ['acme', 'other'])
      await upsertRevocations(queries, [{ tenantId, ...all, ...times }])
    const moot = { kind: 'sid', target: 'x', notBefore: 1, createdAt: 1, keptUntil: 1 } as const
    await upsertRevocations(queries, [{ tenantId: 'acme', ...moot }])
  })
  await t.rejects(revocations.finishEndings(isOpen), /disk full/, 'and the log says so')
  t.same(await alive('acme'), ['of-acme'])
  t.same(await alive('other'), [])
  clock.advance(1000)
  t.equal(await revocations.prune(10), 1, 'nor what is tidied')
})

const isOpen = () => false
