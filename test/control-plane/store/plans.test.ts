/**
 * How SQLite finds the rows of each statement that a sign-in, a sign-out, a token and the minutely
 * jobs run. It keeps no statistics here and decides by the columns of the indexes alone, so an index
 * that is new can take a statement away from the one that was made for it; and whatever it reads, it
 * reads on the event loop that everybody shares.
 */
import Database from 'better-sqlite3'
import t from 'tap'
import { fetch } from 'undici'
import { DAY_MS } from '../../../shared/clock.ts'
import { tenantsWithRevocationsAfter } from '../../../control-plane/store/queries/fleet.ts'
import { noteLogouts } from '../../../control-plane/store/queries/logout-notices.ts'
import { nextDueMail, tenantsWithDueMails } from '../../../control-plane/store/queries/mails.ts'
import { failuresOfSite } from '../../../control-plane/store/queries/attempts.ts'
import {
  aliveCountsAfter,
  hasEndedSince,
  usersOfSessions,
} from '../../../control-plane/store/queries/sessions.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { movableClock } from '../../support/control-plane.ts'
import { personAt } from '../realm/account-visit.ts'
import { provingMachine } from '../../support/proving-machine.ts'
import {
  ACTOR,
  ADA,
  Browser,
  signIn,
  startWorld,
  type TestTenant,
  type World,
} from '../realm/realm-world.ts'
import { begin, setPolicy } from '../realm/steps.ts'

/** They grow with what people and strangers do, and not with what administrators set up. */
const GROWING = [
  'audit',
  'device_challenges',
  'device_postures',
  'device_typed_codes',
  'enrolled_devices',
  'figure_batches',
  'known_devices',
  'mails',
  'outbox',
  'realm_records',
  'revocations',
  'sessions',
  'sign_ins',
]
/** Most rows of a tenant may have the same of these, or lie on the same side of a time. */
const UNSELECTIVE = new Set([
  'at',
  'consumed_at',
  'created_at',
  'ended_at',
  'event',
  'expires_at',
  'is_failure',
  'is_known_device',
  'kept_until',
  'kind',
  'model',
  'next_at',
  'outcome',
  'reason',
  'revoked_at',
  'taken_at',
  'tenant_id',
  'tenant_number',
])

/** What reads a range of a table on purpose, and what bounds it. */
const ALLOWED: Readonly<Record<string, string>> = {
  'SEARCH audit USING INDEX audit_at (at<?)': 'all of them go, so many a round',
  'SEARCH device_challenges USING INDEX device_challenges_expiry (expires_at<?)': 'all of them go',
  'SEARCH device_typed_codes USING INDEX device_typed_codes_expiry (expires_at<?)':
    'all of them go',
  'SEARCH enrolled_devices USING COVERING INDEX enrolled_devices_kept (tenant_id=? AND revoked_at=?)':
    'how many there are, for one that enrolls',
  'SEARCH enrolled_devices USING INDEX enrolled_devices_revoked (revoked_at<?)': 'all of them go',
  'SEARCH figure_batches USING INDEX figure_batches_age (taken_at<?)': 'all of them go',
  'SEARCH mails USING COVERING INDEX mails_due (next_at<?)': 'what is due, a thousand at most',
  'SEARCH mails USING INDEX mails_turn (tenant_id=? AND kind=? AND next_at<?)':
    'the first that is due',
  'SEARCH outbox USING COVERING INDEX sqlite_autoindex_outbox_1': 'the newest, where it ends',
  'SEARCH outbox USING INDEX outbox_created (created_at<?)': 'go, up to where webhooks are',
  'SEARCH realm_records USING COVERING INDEX realm_records_open_all (tenant_id=? AND model=?)':
    'open ones only, the newest first, and whatever is beyond the limit of them goes',
  'SEARCH realm_records USING INDEX realm_records_expiry (expires_at<?)': 'all of them go',
  'SEARCH revocations EXISTS USING COVERING INDEX sqlite_autoindex_revocations_1 (tenant_id=?)':
    'whether there is one: the first that is found is enough',
  'SEARCH revocations USING INDEX revocations_kept (kept_until<?)': 'all go or are put off',
  'SEARCH sessions USING INDEX sessions_expiry (expires_at<?)': 'all of them go, so many a round',
  'SEARCH sign_ins USING INDEX sign_ins_at (at<?)': 'all of them go, so many a round',
}

const statements = new Set<string>()
const { prepare } = Database.prototype
Database.prototype.prepare = function (this: Database.Database, source: string) {
  statements.add(source)
  return prepare.call(this, source)
} as typeof prepare

/** Of `SEARCH sessions USING INDEX sessions_user (tenant_id=? AND user_id=?)` the columns count. */
function isWide(step: string): boolean {
  const [, how, table = '', columns] = /^(SCAN|SEARCH) (\S+)(?:.*? \(([^)]*)\))?/.exec(step) ?? []
  if (how === undefined || !GROWING.includes(table)) return false
  if (how === 'SCAN' || columns === undefined) return true
  return columns.split(' AND ').every((column) => UNSELECTIVE.has(column.replace(/[=<>]+\?$/, '')))
}

/** A list that is longer weighs more: SQLite may then find by the columns beside it. */
const withLongLists = (statement: string) =>
  statement.replace(/ in \(\?(?:, \?)*\)/g, ` in (${Array(500).fill('?').join(', ')})`)

/** Each with the steps that SQLite takes, in the words of `EXPLAIN QUERY PLAN`. */
function explained(file: string): { statement: string; steps: string[] }[] {
  const database = new Database(file, { readonly: true })
  try {
    return [...statements]
      .filter((statement) => /^\s*(select|insert|update|delete|with)\b/i.test(statement))
      .flatMap((statement) => [...new Set([statement, withLongLists(statement)])])
      .map((statement) => {
        const nulls = Array.from(statement.matchAll(/\?/g), () => null)
        const explain = database.prepare<null[], { detail: string }>(
          `EXPLAIN QUERY PLAN ${statement}`,
        )
        return { statement, steps: explain.all(...nulls).map(({ detail }) => detail) }
      })
  } finally {
    database.close()
  }
}

void t.test('no statement of a sign-in, or of a device, reads a whole tenant', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const { jobs } = world
  t.teardown(() => jobs.close())

  for (const username of ['nobody', 'ada', 'ada', 'ada', 'ada', 'ada', 'ada', 'ada'])
    await (await begin(world, acme)).send({ username, password: 'wrong' })
  clock.advance(DAY_MS)

  const browser = new Browser(world.baseUrl)
  await signIn(browser, acme)
  browser.forgetCookies(({ name }) => !/device/.test(name))
  const { idToken } = await signIn(browser, acme)
  await ownSessions(acme, idToken)
  const here = await personAt(world, acme)
  await (await begin(world, acme)).send(ADA) // a session without a token
  t.match((await here.send('/sessions', { others: '1' })).html, /All other sessions/)
  here.browser.forgetCookies(({ name }) => !/device/.test(name))
  const { tokens, party } = await signIn(here.browser, acme)
  const left = `${acme.issuer}/logout?${new URLSearchParams({ id_token_hint: tokens.id_token ?? '' }).toString()}`
  await here.browser.visit(left)
  t.match((await here.browser.visit((await party.begin()).url)).html, /name="password"/)

  const { userId } = acme.ada
  await devices(world, acme)
  await world.attempts.newestOf('acme', userId)
  await world.attempts.lastSignInOf('acme', userId)
  const { read } = world.store
  await hasEndedSince(read, 'acme', userId, clock.nowMs())
  await usersOfSessions(read, 'acme', ['one'])
  await world.store.change(async ({ queries, nowMs }) => {
    await queries.update(schema.tenants).set({ backchannelLogoutUri: 'https://acme.test/out' })
    await noteLogouts(queries, 'acme', { sids: ['one'] }, nowMs)
    await queries.update(schema.tenants).set({ backchannelLogoutUri: null })
  })
  await aliveCountsAfter(read, 'acme', '', clock.nowMs(), 10)
  await failuresOfSite(read, { tenantId: 'acme', site: '2001:db8:1::/48' }, 0, 10)
  await tenantsWithRevocationsAfter(read, '', 10)
  await tenantsWithDueMails(read, clock.nowMs())
  await nextDueMail(read, 'acme', clock.nowMs())
  await jobs.run()
  clock.advance(400 * DAY_MS)
  await jobs.run()

  const plans = explained(world.file)
  const wide = plans.filter(({ steps }) => steps.some((step) => isWide(step) && !ALLOWED[step]))
  t.strictSame(wide, [], `${plans.length} statements`)
  const taken = new Set(plans.flatMap(({ steps }) => steps))
  t.strictSame(
    Object.keys(ALLOWED).filter((step) => !taken.has(step)),
    [],
    'nothing is allowed that is not there',
  )
  const ofFailures = plans.filter(({ statement }) => /where .*"is_failure" = \?/.test(statement))
  t.ok(ofFailures.length >= 2)
  t.strictSame(
    ofFailures.filter(({ steps }) => !steps.some((step) => step.includes('is_failure=?'))),
    [],
    'whoever signs in well all day is no work for whoever looks for failures',
  )
})

/** One that enrolls, proves a sign-in, falls out of the policy, and is shown and revoked. */
async function devices(world: World, acme: TestTenant) {
  const { userId } = acme.ada
  const machine = await provingMachine(world, { userId })
  await machine.checkIn()
  const person = await begin(world, acme)
  await setPolicy(world, 'device', {
    ...{ require: 'enrolled', facts: ['firewall'], on_violation: 'end_sessions' },
  })
  await person.password()
  const uid = /\/sign-in\/([\w-]+)\?/.exec(person.page.url)?.[1] ?? ''
  const to = await person.browser.once(`${acme.issuer}/sign-in/${uid}/device`)
  await person.browser.visit(await machine.prove(to.headers.get('location') ?? ''))
  await person.claims((await person.send({ device: 'continue' })).url)
  await world.jobs.run()
  await machine.checkIn({ firewall: { value: false, reason: 'no_firewall' } })
  await world.enrolledDevices.ofPerson('acme', userId)
  await world.enrolledDevices.find('acme', machine.deviceId)
  await world.enrolledDevices.revoke('acme', [machine.deviceId], ACTOR)
  await setPolicy(world, 'device', { require: 'any' })
}

async function ownSessions({ issuer, clientId, clientSecret }: TestTenant, token: string) {
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  const body = new URLSearchParams({ session_token: token })
  const headers = { authorization: `Basic ${credentials}` }
  return fetch(`${issuer}/own-sessions`, { method: 'POST', headers, body })
}
