/** A key in a TPM that is made of software, by the tools that ask a real one. */
import { spawn } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { existsSync } from 'node:fs'
import t from 'tap'
import {
  makeKey,
  openKey,
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
  t.match(await call(['enroll'], { ticket: await ticket(), tpm }), { code: 0, out: /^Enrolled as/ })
  t.not(device().device_id, before)
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
