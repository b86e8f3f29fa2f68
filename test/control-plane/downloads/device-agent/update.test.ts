/** What becomes the next program of a machine: only what is newer, and signed by a key that root believes. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createRunTool } from '../../../../control-plane/downloads/device-agent/key/tools.ts'
import { createDeviceFolder } from '../../../../control-plane/downloads/device-agent/state/device-state.ts'
import { isNewer } from '../../../../control-plane/downloads/device-agent/update/manifest.ts'
import { update } from '../../../../control-plane/downloads/device-agent/update/update.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { challengeKey } from '../../../support/device-agent.ts'

const [first, second, stranger] = [challengeKey('k1'), challengeKey('k2'), challengeKey('k1')]
const UPDATE = { typ: 'dev-update+jwt' }
const program = (version: string) => `process.stdout.write('${version}\\n')\n`

async function machine(t: Test) {
  const folder = temporaryFolder(t)
  const programFile = join(folder, 'agent.mjs')
  writeFileSync(programFile, program('1.2.3'))
  const state = createDeviceFolder(join(folder, 'state'), { userId: process.getuid?.() })
  const keys = { keys: [first.jwk, second.jwk] }
  await state.writeUpdates({ version: 1, keys })

  const offered = (version: string, changes: object = {}) => {
    const bytes = Buffer.from(program(version))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { version, sha256, bytes: bytes.length, keys, ...changes }
  }
  const take = (latest: string, content: string) =>
    update({
      state,
      service: {
        fetchFile: async (path) => Buffer.from(path.endsWith('latest') ? latest : content),
      },
      tool: createRunTool({}),
      nodeFile: process.execPath,
      programFile,
      version: '1.2.3',
    })
  return { folder, programFile, state, offered, take, keys }
}

void t.test('a newer program that is signed is taken, and the next key with it', async (t) => {
  const { programFile, state, offered, take, folder } = await machine(t)
  const third = challengeKey('k3')
  const keys = { keys: [second.jwk, third.jwk] }
  const latest = await first.sign(offered('1.10.0', { keys }), UPDATE)
  t.strictSame(await take(latest, program('1.10.0')), { kind: 'updated', version: '1.10.0' })
  t.equal(readFileSync(programFile, 'utf8'), program('1.10.0'))
  t.strictSame(readdirSync(folder).sort(), ['agent.mjs', 'state'], 'nothing else is left')
  t.match(await state.readUpdates(), { keys })
  const same = await second.sign(offered('1.2.3', { keys }), UPDATE)
  t.match(await take(same, ''), { kind: 'current' })
  for (const by of [first, stranger]) {
    const before = await by.sign(offered('2.0.0'), UPDATE)
    t.match(await take(before, program('2.0.0')), { kind: 'refused' }, 'a key that was replaced')
    t.match(await state.readUpdates(), { keys }, 'and brings nothing of before back')
  }
})

void t.test('anything else changes nothing', async (t) => {
  const { programFile, state, offered, take, keys } = await machine(t)
  const next = offered('1.3.0')
  const [header, payload] = (await first.sign(next, UPDATE)).split('.')
  const refused: Readonly<Record<string, readonly [string, string]>> = {
    'another signature': [await stranger.sign(next, UPDATE), program('1.3.0')],
    'no signature': [`${header}.${payload}.`, program('1.3.0')],
    'a challenge': [await first.sign(next), program('1.3.0')],
    'alg none': [await first.sign(next, { ...UPDATE, alg: 'none' }), program('1.3.0')],
    'an older one': [await first.sign(offered('1.2.2'), UPDATE), program('1.2.2')],
    'another program': [await first.sign(next, UPDATE), program('6.6.6')],
    'another program of that length, which says it is this version': [
      await first.sign(next, UPDATE),
      program('1.3.0').replaceAll("'", '"'),
    ],
    'a longer program': [await first.sign({ ...next, bytes: 1 }, UPDATE), program('1.3.0')],
    'one that does not start': [
      await first.sign(offered('1.3.0', ofContent('syntax error here')), UPDATE),
      'syntax error here',
    ],
    'a page of a proxy': ['<html>', '<html>'],
    nothing: ['', ''],
  }
  for (const [name, [latest, content]] of Object.entries(refused)) {
    t.match(await take(latest, content), { kind: 'refused' }, name)
    t.equal(readFileSync(programFile, 'utf8'), program('1.2.3'), name)
    t.match(await state.readUpdates(), { keys }, name)
  }
})

function ofContent(text: string) {
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { sha256, bytes: Buffer.byteLength(text) }
}

void t.test('versions are numbers', (t) => {
  t.ok(isNewer('1.10.0', '1.9.9'))
  t.ok(isNewer('2.0.0', '1.99.99'))
  for (const [version, than] of [
    ['1.2.3', '1.2.3'],
    ['1.2.2', '1.2.3'],
    ['0.9.9', '1.0.0'],
    ['1.2', '1.0.0'],
    ['2.0.0-rc', '1.0.0'],
  ] as const)
    t.notOk(isNewer(version, than), `${version} and ${than}`)
  t.end()
})
