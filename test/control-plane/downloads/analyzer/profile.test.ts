/** The saved key: read only where nobody else could have read it or put it there. */
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Problem } from '../../../../control-plane/downloads/command-line/exit.ts'
import { createProfile } from '../../../../control-plane/downloads/analyzer/profile.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'

const SERVICE = 'https://id.example.com'
const SAVED = { key: 'sak_of-acme', tenantId: 'acme' }
/** Whoever runs the tests; as root everything belongs to root, which is trusted. */
const ME = process.getuid?.() ?? 0

function start(t: Test, environment: Record<string, string> = {}, userId: number | undefined = ME) {
  const homeFolder = temporaryFolder(t)
  const profile = createProfile({ environment, homeFolder, userId })
  return { homeFolder, profile, folder: join(homeFolder, '.config/service-analyzer') }
}

const modeOf = (path: string) => statSync(path).mode & 0o777

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (error instanceof Problem) return error
  throw new Error(`no problem: ${String(error)}`)
}

void t.test('is for its owner alone, whatever the umask says', async (t) => {
  const { profile, folder } = start(t)
  const before = process.umask(0)
  t.teardown(() => process.umask(before))
  t.equal(await profile.read(SERVICE), null)
  await profile.save(SERVICE, SAVED)
  t.equal(modeOf(folder), 0o700)
  t.equal(modeOf(profile.path), 0o600)
  t.strictSame(await profile.read(SERVICE), SAVED)
  t.strictSame(readdirSync(folder), ['profile.json'], 'nothing lies beside it')
})

void t.test('holds one key per service, and forgets one at a time', async (t) => {
  const { profile } = start(t)
  const other = { key: 'sak_of-other', tenantId: 'other' }
  await profile.save(SERVICE, SAVED)
  await profile.save('http://localhost:8080', other)
  await profile.save(SERVICE, { ...SAVED, key: 'sak_newer' })
  t.strictSame(await profile.read(SERVICE), { ...SAVED, key: 'sak_newer' })
  t.equal(await profile.remove(SERVICE), true)
  t.equal(await profile.remove(SERVICE), false)
  t.equal(await profile.read(SERVICE), null)
  t.strictSame(await profile.read('http://localhost:8080'), other)
  t.equal(await profile.remove('http://localhost:8080'), true)
  t.notOk(existsSync(profile.path), 'an empty one is no file')
})

void t.test('what others can read is refused, with the command that mends it', async (t) => {
  for (const mode of [0o640, 0o604, 0o644, 0o660]) {
    const { profile } = start(t)
    await profile.save(SERVICE, SAVED)
    chmodSync(profile.path, mode)
    const problem = await problemOf(profile.read(SERVICE))
    t.equal(problem.code, 'profile_unsafe')
    t.match(problem.lines[1], `Run: chmod 600 ${profile.path}`)
    t.notMatch(problem.lines.join('\n'), SAVED.key)
    t.equal((await problemOf(profile.save(SERVICE, SAVED))).code, 'profile_unsafe')
    chmodSync(profile.path, 0o600)
    t.strictSame(await profile.read(SERVICE), SAVED, 'and then it is read')
  }
})

void t.test('a folder that others can write to is refused', async (t) => {
  const { profile, folder } = start(t)
  await profile.save(SERVICE, SAVED)
  chmodSync(folder, 0o770)
  const problem = await problemOf(profile.read(SERVICE))
  t.match(problem.lines[1], `Run: chmod 700 ${folder}`)
})

void t.test(
  'a link of our own is followed and stays one; one of somebody else is not',
  async (t) => {
    const { profile, folder, homeFolder } = start(t)
    await profile.save(SERVICE, SAVED)
    const kept = join(homeFolder, 'dotfiles.json')
    writeFileSync(kept, readFileSync(profile.path), { mode: 0o600 })
    await profile.remove(SERVICE)
    symlinkSync(kept, profile.path)
    t.strictSame(await profile.read(SERVICE), SAVED)
    await profile.save(SERVICE, { ...SAVED, key: 'sak_newer' })
    t.ok(lstatSync(profile.path).isSymbolicLink())
    t.match(readFileSync(kept, 'utf8'), 'sak_newer')
    t.equal(modeOf(kept), 0o600)

    await t.test('of somebody else', { skip: ME !== 0 && 'only root can make one' }, async (t) => {
      lchownSync(profile.path, 4242, 4242)
      const asUser = createProfile({ environment: {}, homeFolder, userId: 1000 })
      const problem = await problemOf(asUser.read(SERVICE))
      t.match(problem.message, /belongs to another user/)
      t.ok(existsSync(folder))
    })
  },
)

void t.test('what is no profile is not used, and not shown', async (t) => {
  const contents: readonly (readonly [string, string])[] = [
    ['not JSON', 'sak_secret'],
    ['another form', '{"version":2,"services":{"x":"sak_secret"}}'],
    ['no key', '{"version":1,"services":{"x":{"key":1,"tenant_id":"sak_secret"}}}'],
    ['too large', `{"version":1,"services":{},"sak_secret":"${'x'.repeat(70_000)}"}`],
    ['empty', ''],
  ]
  for (const [name, text] of contents) {
    const { profile, folder } = start(t)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(profile.path, text, { mode: 0o600 })
    const problem = await problemOf(profile.read(SERVICE))
    t.equal(problem.code, 'profile_unreadable', name)
    t.match(problem.lines[1], /rm -r .* && service-analyzer login/)
    t.notMatch(problem.lines.join('\n'), 'sak_secret')
  }
  const { profile } = start(t)
  mkdirSync(profile.path, { recursive: true, mode: 0o700 })
  chmodSync(join(profile.path, '..'), 0o700)
  t.match((await problemOf(profile.read(SERVICE))).message, /is not a file|cannot be read/)
})

void t.test('lies where the system keeps settings; a relative place does not count', async (t) => {
  const place = temporaryFolder(t)
  const { profile } = start(t, { XDG_CONFIG_HOME: place })
  t.equal(profile.path, join(place, 'service-analyzer/profile.json'))
  const relative = start(t, { XDG_CONFIG_HOME: 'settings' })
  t.equal(relative.profile.path, join(relative.folder, 'profile.json'))
})
