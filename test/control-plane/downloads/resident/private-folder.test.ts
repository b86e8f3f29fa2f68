/** The folder with the key: nobody else's, whole or not there, and a full disk loses nothing. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import * as fileSystem from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  createPrivateFolder,
  type FileSystem,
} from '../../../../control-plane/downloads/resident/private-folder.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'

const userId = process.getuid?.()
const words = { program: 'it', exposed: 'begin anew', anew: 'begin anew' }

function start(t: Test, files?: FileSystem) {
  const path = join(temporaryFolder(t), 'a', 'state')
  const world = files === undefined ? { userId, words } : { userId, files, words }
  return { path, folder: createPrivateFolder(path, world) }
}

void t.test('what is written is its owner’s alone, and is read again', async (t) => {
  const { path, folder } = start(t)
  t.equal(await folder.read('key'), null, 'there is no folder')
  await folder.write('key', 'one')
  await folder.write('key', 'two')
  t.equal(await folder.read('key'), 'two')
  t.equal(await folder.read('other'), null)
  t.strictSame(readdirSync(path), ['key'], 'nothing half-written is left')
  t.equal(statSync(path).mode & 0o777, 0o700)
  t.equal(statSync(join(path, 'key')).mode & 0o777, 0o600)
  writeFileSync(join(path, '.draft-of-one-that-was-killed'), '')
  await folder.remove(['key'])
  t.throws(() => statSync(path), { code: 'ENOENT' })
  await folder.remove(['key'])
})

void t.test('a folder or a file that others can read is refused, with what to do', async (t) => {
  const { path, folder } = start(t)
  await folder.write('key', 'secret')
  for (const mode of [0o640, 0o604, 0o610, 0o602]) {
    chmodSync(join(path, 'key'), mode)
    await t.rejects(folder.read('key'), {
      code: 'state_unsafe',
      lines: [/Others on this machine can read the key/, `Run: chmod 600 ${path}/key`],
    })
  }
  chmodSync(join(path, 'key'), 0o600)
  for (const mode of [0o755, 0o710, 0o701, 0o770]) {
    chmodSync(path, mode)
    const refused = { code: 'state_unsafe', lines: [/look into/, `Run: chmod 700 ${path}`] }
    await t.rejects(folder.read('key'), refused)
    await t.rejects(folder.write('key', 'new'), refused)
  }
  chmodSync(path, 0o700)
  t.equal(await folder.read('key'), 'secret')
})

void t.test(
  'what another user owns is refused',
  { skip: userId === 0 ? false : 'only root can give a file away' },
  async (t) => {
    const { path, folder } = start(t)
    await folder.write('key', 'secret')
    chownSync(join(path, 'key'), 1234, 1234)
    const refused = {
      code: 'state_unsafe',
      lines: [/belongs to another user \(uid 1234\)/, /chown/],
    }
    await t.rejects(folder.read('key'), refused)
    chownSync(join(path, 'key'), 0, 0)
    chownSync(path, 1234, 1234)
    await t.rejects(folder.read('key'), refused)
    await t.rejects(folder.write('key', 'new'), refused)
  },
)

void t.test('what is no plain file of a sensible size is refused', async (t) => {
  const { path, folder } = start(t)
  await folder.write('key', 'secret')
  symlinkSync(join(path, 'key'), join(path, 'link'))
  await t.rejects(folder.read('link'), /it is a symbolic link/)
  mkdirSync(join(path, 'folder'), { mode: 0o700 })
  await t.rejects(folder.read('folder'), { code: 'state_unreadable' })
  writeFileSync(join(path, 'large'), Buffer.alloc(256 * 1024 + 1), { mode: 0o600 })
  await t.rejects(folder.read('large'), /it is too large/)
  const file = createPrivateFolder(join(path, 'key'), { userId, words })
  await t.rejects(file.read('key'), /it is not a folder/)
})

for (const [code, advice] of [
  ['ENOSPC', /The disk is full/],
  ['EDQUOT', /quota/],
  ['EROFS', /read-only/],
  ['EACCES', /Choose a folder you can write to/],
] as const)
  for (const step of ['open', 'write', 'sync', 'rename'] as const)
    void t.test(`${code} at ${step}: what was there is there still`, async (t) => {
      const before = start(t)
      await before.folder.write('key', 'old')
      const folder = createPrivateFolder(before.path, { userId, words, files: failing(step, code) })
      await t.rejects(folder.write('key', 'new'), {
        code: 'state_unwritable',
        lines: [`Cannot write to ${before.path} (${code}).`, advice],
      })
      t.equal(await folder.read('key'), 'old')
      t.strictSame(readdirSync(before.path), ['key'])
      t.equal(readFileSync(join(before.path, 'key'), 'utf8'), 'old')
    })

function failing(step: 'open' | 'write' | 'sync' | 'rename', code: string): FileSystem {
  const fail = () => Promise.reject(Object.assign(new Error(code), { code }))
  const open: FileSystem['open'] = async (path, flags, mode) => {
    if (flags !== 'wx') return fileSystem.open(path, flags, mode)
    if (step === 'open') return fail()
    const handle = await fileSystem.open(path, flags, mode)
    if (step === 'write') handle.writeFile = fail
    if (step === 'sync') handle.sync = fail
    return handle
  }
  return { ...fileSystem, open, ...(step === 'rename' && { rename: fail }) }
}
