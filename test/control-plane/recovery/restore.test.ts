/** A backup taken while changes go on, and what becomes of what happened after it. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { recoveryCommand } from '../../../control-plane/recovery/commands.ts'
import { turn } from '../../../control-plane/devices/ratchet.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, startServices, temporaryFolder, tenantNamed } from '../../support/control-plane.ts'

const HOUR_MS = 3_600_000

async function start(t: Test) {
  const dataDir = temporaryFolder(t)
  const file = join(dataDir, 'service.db')
  const settings = { database: 'sqlite', dataDir, masterKey: randomBytes(32) }
  const open = () => startServices(t, { file, masterKey: settings.masterKey, clock: systemClock })
  const said: string[] = []
  const run = (...args: string[]) =>
    recoveryCommand(args)!.run(settings, (line) => void said.push(line))
  return { dataDir, file, settings, open, run, said, backup: join(dataDir, 'backup.db') }
}

type Services = Awaited<ReturnType<typeof startServices>>

const recordSession = (services: Services, sid: string) =>
  services.sessions.record({
    tenantId: 'acme',
    sid,
    userId: 'ada',
    ip: '192.0.2.1',
    userAgent: 'test',
    issuedAtMs: Date.now() - 5000,
    expiresAtMs: Date.now() + HOUR_MS,
  })

const DEVICE = {
  deviceId: 'dev_1',
  tenantId: 'acme',
  ticketId: 'tkt_1',
  userId: null,
  publicKey: 'x.y',
  platform: 'linux',
  arch: 'x64',
  hostname: 'desk',
  agent: '1.0.0',
  keyStorage: 'file',
  machineHash: 'm',
  network: null,
  enrolledAt: 1,
  seenAt: 1,
  currentHash: 'at the backup',
  otherHash: null,
  previousHash: 'before',
  turnedBy: 'boot.1',
  boots: ['boot'],
} as const

/** What lets somebody in once, each still open. */
async function fill({ store }: Services) {
  const times = { createdAt: Date.now(), expiresAt: Date.now() + HOUR_MS }
  const row = { tenantId: 'acme', ...times }
  await store.change(async ({ queries }) => {
    const link = { ...row, userId: 'ada', contentSealed: '' } as const
    await queries.insert(schema.accountTickets).values([
      { ...link, ticketHash: 'reset', purpose: 'reset' },
      { ...link, ticketHash: 'used', purpose: 'invite', usedAt: 5 },
    ])
    await queries.insert(schema.realmRecords).values({
      ...row,
      model: 'AuthorizationCode',
      idHash: 'code',
      payloadSealed: '',
    })
    await queries.insert(schema.deviceTickets).values({
      ...row,
      ticketId: 'tkt_1',
      ticketHash: 'ticket',
      platform: 'linux',
      uses: 1,
      usesLeft: 1,
    })
    await queries.insert(schema.connectorTokens).values({
      ...row,
      tokenId: 'tok_1',
      tokenHash: 'token',
      name: '',
      uses: 5,
      usesLeft: 3,
    })
    await queries.insert(schema.consoleSessions).values({
      ...times,
      sessionHash: 'console',
      userId: 'op',
      sid: 's',
      signedInAt: 1,
      lastSeenAt: 1,
    })
    await queries.insert(schema.consoleLinks).values({ ...times, linkHash: 'operator' })
    await queries.insert(schema.enrolledDevices).values(DEVICE)
  })
}

t.test(
  'a copy of a running database comes back, and nothing of before lets anybody in',
  async (t) => {
    const { dataDir, file, open, run, said, backup } = await start(t)
    const before = await open()
    await before.tenants.create(tenantNamed('acme'), ACTOR)
    await fill(before)
    await recordSession(before, 'revoked-after')
    const epoch = await before.store.epoch()
    await run('backup', '--to', backup)
    t.equal(statSync(backup).mode & 0o777, 0o600)
    t.match(said, [/^Backed up to .*backup\.db/, /master key/])
    await before.revocations.revoke('acme', { sid: 'revoked-after' }, ACTOR)
    await before.tenants.create(tenantNamed('later'), ACTOR)
    const revision = await before.store.revision()
    await before.close()

    said.length = 0
    await run('restore', `--from=${backup}`)
    t.match(said[0], /^Restored from .*backup\.db\. The database before it is kept as (\S+)\.$/)
    t.match(said.join('\n'), /2 sessions ended/)
    t.match(said.join('\n'), /2 links in mails .* 2 tickets and join tokens/)
    t.match(said.join('\n'), /1 devices/)
    t.same(
      readdirSync(dataDir).filter((name) => /restored|part|wal|shm/.test(name)),
      [],
      'nothing is left lying about',
    )
    t.equal(statSync(file).mode & 0o777, 0o600)
    const [, kept = ''] = / kept as (\S+)\.$/.exec(said[0]!)!
    const old = new Database(kept, { readonly: true })
    t.equal(old.prepare("SELECT 1 FROM tenants WHERE tenant_id = 'later'").all().length, 1)
    old.close()

    const { store, tenants, sessions, ...after } = await open()
    t.not(await store.epoch(), epoch)
    t.ok((await store.revision()) > revision, 'no revision means two things')
    t.equal((await tenants.get('acme')).name, 'acme')
    await t.rejects(tenants.get('later'))
    const { items } = await sessions.list('acme', { limit: 10 })
    t.match(items, [{ sid: 'revoked-after', endReason: 'restored' }])
    const revoked = await after.revocations.revokedState('acme')
    t.ok(revoked.all > Date.now() / 1000 - 60, 'sessions that the copy does not know are over, too')
    const { read } = store
    t.same(await read.select().from(schema.realmRecords), [])
    t.same(await read.select().from(schema.consoleSessions), [])
    t.notOk((await read.select().from(schema.accountTickets)).some(({ usedAt }) => usedAt === null))
    t.ok((await read.select().from(schema.consoleLinks)).every(({ usedAt }) => usedAt !== null))
    t.match(await read.select().from(schema.deviceTickets), [{ usesLeft: 0 }])
    t.match(await read.select().from(schema.connectorTokens), [{ usesLeft: 0, uses: 5 }])
    const [device] = await read.select().from(schema.enrolledDevices)
    const shown = { prevHash: 'later than the backup', isNonceGood: false, bootId: 'boot', ctr: 9 }
    t.equal(turn(device!, shown, 'next').kind, 'lost', 'it takes a nonce, and is no clone')
    t.equal(turn(DEVICE, shown, 'next').kind, 'suspect')
    t.match(await read.select().from(schema.audit), [
      ...Array.from({ length: 1 }, () => ({ action: 'tenant.created' })),
      { action: 'database.restored', content: { sessions: 1, links: 2 } },
    ])
  },
)

t.test('what cannot be put back leaves everything as it is', async (t) => {
  const { dataDir, file, settings, open, run, backup } = await start(t)
  const services = await open()
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  await run('backup', '--to', backup)
  await t.rejects(run('restore', '--from', backup), {
    name: 'RecoveryProblem',
    message: /service\.db is open in another program; stop the control plane/,
  })
  await services.close()

  const bytes = () => readFileSync(file)
  const good = bytes()
  const refused = async (path: string, message: RegExp) => {
    await t.rejects(run('restore', '--from', path), { message }, path)
    t.ok(bytes().equals(good), path)
    t.notOk(
      readdirSync(dataDir).some((name) => /restored|part|before/.test(name)),
      path,
    )
  }
  await refused(join(dataDir, 'nowhere.db'), /nowhere\.db: there is no such file/)
  const make = (name: string, write: (path: string) => void) => {
    const path = join(dataDir, name)
    write(path)
    return path
  }
  const noise = make('noise.db', (path) => writeFileSync(path, randomBytes(100_000)))
  await refused(noise, /noise\.db is not a database of this service/)
  const other = make('other.db', (path) => new Database(path).exec('CREATE TABLE a (b)').close())
  await refused(other, /other\.db is not a database of this service/)
  const newer = make('newer.db', (path) => {
    writeFileSync(path, readFileSync(backup))
    new Database(path).exec("INSERT INTO migrations VALUES ('9999-later', 1)").close()
  })
  await refused(newer, /written by a newer version \(it has migration 9999-later\)/)
  const torn = make('torn.db', (path) => {
    const copy = readFileSync(backup)
    copy.fill(0xff, copy.length / 2, copy.length / 2 + 40_000)
    writeFileSync(path, copy)
  })
  await refused(torn, /torn\.db is damaged|the copy of .*torn\.db failed/)
  const { masterKey } = settings
  settings.masterKey = randomBytes(32)
  await refused(backup, /SERVICE_MASTER_KEY is not the one/)
  settings.masterKey = masterKey
  await t.rejects(run('backup', '--to', backup), { message: /already exists; choose another name/ })
  await run('restore', '--from', backup)
  t.ok(existsSync(file))
})

t.test('what is asked for has to be whole', async (t) => {
  t.equal(recoveryCommand(['--config', 'a.yaml']), undefined)
  t.same(recoveryCommand(['backup', '--config', 'a', '--to', 'b'])!.rest, ['--config', 'a'])
  t.same(recoveryCommand(['restore', '--from=b', '--config', 'a'])!.rest, ['--config', 'a'])
  for (const args of [
    ['backup'],
    ['restore', '--from'],
    ['backup', '--to='],
    ['restore', '--to', 'a'],
  ])
    t.throws(() => recoveryCommand(args), { message: /FILE: the file is missing/ }, args.join(' '))
  const postgres = { database: 'postgres://db/service', dataDir: '/', masterKey: randomBytes(32) }
  for (const [args, problem] of [
    [['backup', '--to', 'b'], /pg_dump --format=custom/],
    [['restore', '--from', 'b'], /pg_restore .* then run npm run control-plane -- restored/],
  ] as const)
    await t.rejects(async () => recoveryCommand(args)!.run(postgres, () => undefined), problem)
  t.same(recoveryCommand(['restored', '--config', 'a'])!.rest, ['--config', 'a'])
  const sqlite = { ...postgres, database: 'sqlite' }
  const restored = async () => recoveryCommand(['restored'])!.run(sqlite, () => undefined)
  await t.rejects(restored, { name: 'RecoveryProblem', message: /restore --from FILE/ })
  t.ok(LIMITS.fleetEpochRevisions > LIMITS.fleetAheadRevisionsMax)
})
