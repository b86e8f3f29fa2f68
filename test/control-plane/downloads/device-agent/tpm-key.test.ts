/** A key in a TPM that is made of software, by the tools that ask a real one. */
import { spawn } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import {
  makeKey,
  openKey,
  StoredKeySchema,
} from '../../../../control-plane/downloads/device-agent/key/device-key.ts'
import { KeyLost } from '../../../../control-plane/downloads/device-agent/key/open-key.ts'
import type { TpmWorld } from '../../../../control-plane/downloads/device-agent/key/tpm-key.ts'
import { createRunTool } from '../../../../control-plane/downloads/device-agent/key/tools.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { agentHere } from '../../../support/device-agent.ts'
import { newTenant } from '../../../support/api.ts'
import { freePort } from '../../../support/ports.ts'
import { startPublicServer } from '../../../support/public-server.ts'

const isThere = existsSync('/usr/bin/swtpm') && existsSync('/usr/bin/tpm2_sign')
const options = { skip: !isThere && 'swtpm and tpm2-tools are not installed' }

async function startTpm(t: Parameters<typeof temporaryFolder>[0]): Promise<TpmWorld> {
  const [port, folder] = [await freePort(), temporaryFolder(t)]
  const control = port + 1 // where the tools look for it
  const child = spawn('/usr/bin/swtpm', [
    ...[
      'socket',
      '--tpm2',
      '--tpmstate',
      `dir=${folder}`,
      '--flags',
      'not-need-init,startup-clear',
    ],
    ...['--server', `type=tcp,port=${port}`, '--ctrl', `type=tcp,port=${control}`],
  ])
  t.teardown(() => child.kill())
  const tcti = `swtpm:host=127.0.0.1,port=${port}`
  const tool = createRunTool({ TPM2TOOLS_TCTI: tcti })
  const look = async (left: number): Promise<void> => {
    const { code } = await tool('tpm2_getcap', ['-Q', 'properties-fixed'], { folder })
    if (code !== 0 && left > 0) await look(left - 1)
  }
  await look(200)
  return { tool, device: null }
}

void t.test('a key is made in the TPM, signs there, and is lost with it', options, async (t) => {
  const tpm = await startTpm(t)
  const { key, why } = await makeKey(tpm)
  t.equal(why, '')
  t.equal(key.storage, 'tpm')
  const open = openKey(key, tpm)
  const bytes = Buffer.from('what is signed')
  const publicKey = createPublicKey({ key: open.publicKey, format: 'jwk' })
  for (let count = 0; count < 3; count++) {
    const signature = await open.sign(bytes)
    t.ok(verify('sha256', bytes, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature))
  }
  const other = await startTpm(t)
  const elsewhere = await openKey(key, other)
    .sign(bytes)
    .catch((error: unknown) => error)
  t.ok(elsewhere instanceof KeyLost, 'worth nothing elsewhere')

  const { baseUrl, operator } = await startPublicServer(t)
  await operator('POST', '/tenants', newTenant('acme'))
  await operator('POST', '/tenants/acme/publish')
  const { call, device, start } = agentHere(t, baseUrl)
  const ticket = async () => {
    const made = await operator('POST', '/tenants/acme/device-tickets', { platform: 'linux' })
    return String(made.body['ticket'])
  }
  t.match(await call(['enroll'], { ticket: await ticket(), tpm }), {
    code: 0,
    out: /The key is in the TPM\./,
  })
  const before = device().device_id
  await tpm.tool('tpm2_clear', ['-Q', '-c', 'p'], { folder: '/' })
  const running = start(['run', '--port', '0'], { tpm })
  await running.logged('the TPM has lost the key of this device')
  running.stop()
  t.match(await running.ended, { code: 0 }, 'it goes on running')
  t.match(await call(['status'], { tpm }), { code: 1, out: /the TPM has lost its key/ })
  t.match(await call(['status', '--json'], { tpm }), { out: /"state": "key_lost"/ })
  t.match(await call(['enroll'], { ticket: await ticket(), tpm }), { code: 0, out: /^Enrolled as/ })
  t.not(device().device_id, before)
})

void t.test('wrong PINs of somebody else lock no key of ours', options, async (t) => {
  const tpm = await startTpm(t)
  const folder = temporaryFolder(t)
  const asked = async (name: string, ...args: string[]) =>
    (await tpm.tool(name, ['-Q', ...args], { folder })).code
  const { key } = await makeKey(tpm)
  t.equal(await asked('tpm2_dictionarylockout', '-s', '-n', '1', '-t', '9999', '-l', '9999'), 0)
  t.equal(await asked('tpm2_createprimary', '-C', 'o', '-p', 'theirs', '-c', 'theirs.ctx'), 0)
  const create = ['-C', 'theirs.ctx', '-u', 'a.pub', '-r', 'a.priv']
  t.not(await asked('tpm2_create', ...create, '-P', 'guessed'), 0)
  t.not(await asked('tpm2_create', ...create, '-P', 'theirs'), 0, 'the TPM is locked')
  t.equal((await openKey(key, tpm).sign(Buffer.from('all the same'))).length, 64)
  t.match(await makeKey(tpm), { key: { storage: 'tpm' }, why: '' })
})

void t.test('a key of an agent from before goes on', options, async (t) => {
  const tpm = await startTpm(t)
  const folder = temporaryFolder(t)
  const ask = async (name: string, ...args: string[]) =>
    t.equal((await tpm.tool(name, ['-Q', ...args], { folder })).code, 0, name)
  await ask('tpm2_createprimary', '-C', 'o', '-G', 'ecc256', '-c', 'primary.ctx')
  await ask(
    'tpm2_create',
    ...['-C', 'primary.ctx', '-G', 'ecc256:ecdsa-sha256', '-u', 'key.pub', '-r', 'key.priv'],
    ...['-a', 'fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign'],
  )
  const read = (name: string) => readFileSync(join(folder, name)).toString('base64')
  const point = { x: 'x'.repeat(43), y: 'y'.repeat(43) }
  const kept = { storage: 'tpm', public: read('key.pub'), private: read('key.priv'), ...point }
  const key = v.parse(StoredKeySchema, kept)
  t.equal((await openKey(key, tpm).sign(Buffer.from('as before'))).length, 64)
})

void t.test('without a TPM that works the key is in a file, and it is said why', async (t) => {
  const none = { tool: createRunTool({}), device: '/dev/no-such-tpm' }
  t.match(await makeKey(none), { key: { storage: 'file' }, why: 'there is none' })
  const broken: TpmWorld = {
    tool: async () => ({ code: 1, out: Buffer.alloc(0), err: 'ERROR: 0x9a2' }),
    device: null,
  }
  t.match(await makeKey(broken), { key: { storage: 'file' }, why: 'tpm2_createprimary failed' })
  const { key } = await makeKey(none)
  const later: TpmWorld = {
    ...broken,
    tool: async () => ({ code: null, out: Buffer.alloc(0), err: '' }),
  }
  t.equal(openKey(key, later).storage, 'file')
})
