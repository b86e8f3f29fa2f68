/** The secret by which a user's own journals are known. */
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  sealBy,
  sealSecretOf,
} from '../../../../../control-plane/downloads/analyzer/journal/seal.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'

void t.test('a seal holds for its text and its user alone', async (t) => {
  const home = temporaryFolder(t)
  const seal = sealBy(sealSecretOf({}, home))
  const sealed = await seal.of('text')
  t.match(sealed, /^[0-9a-f]{64}$/)
  t.equal(await seal.isOurs('text', sealed), true)
  t.equal(await seal.isOurs('other', sealed), false)
  t.equal(await seal.isOurs('text', null), false)
  t.equal(await seal.isOurs('text', 'ab'), false)
  const other = sealBy(sealSecretOf({ XDG_STATE_HOME: temporaryFolder(t) }, home))
  t.equal(await other.isOurs('text', sealed), false)
  await other.of('text')
  t.equal(await other.isOurs('text', sealed), false)
})

void t.test('a secret that others can read or write, or that is none, is not used', async (t) => {
  const home = temporaryFolder(t)
  const seal = sealBy(sealSecretOf({ XDG_STATE_HOME: 'relative' }, home))
  const sealed = await seal.of('text')
  const file = join(home, '.local/state/service-analyzer/seal')
  t.equal(statSync(file).mode & 0o777, 0o600)
  chmodSync(file, 0o640)
  t.equal(await seal.isOurs('text', sealed), false)
  t.equal(await seal.of('text'), null, 'nor is anything sealed by it')
  chmodSync(file, 0o600)
  t.equal(await seal.isOurs('text', sealed), true)
  writeFileSync(file, '')
  t.equal(await seal.of('text'), null, 'an empty one would be known to everybody')
})

void t.test('without a home nothing is sealed, and nothing is ours', async (t) => {
  const seal = sealBy(sealSecretOf({}, null))
  t.equal(await seal.of('text'), null)
  t.equal(await seal.isOurs('text', 'a'.repeat(64)), false)
  t.notOk(existsSync('.local'))
})
