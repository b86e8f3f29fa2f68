/** The installer for Linux in several shells, as root in a namespace of its own, with a systemctl that takes notes. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { makeInstaller } from '../../../../control-plane/downloads/bundling/installer.ts'
import { newTenant } from '../../../support/api.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { startPublicServer } from '../../../support/public-server.ts'

const SCRIPT = new URL(
  '../../../../control-plane/downloads/device-agent/install.sh',
  import.meta.url,
)
const SHELLS = [['/usr/bin/dash'], ['/usr/bin/busybox', 'sh'], ['/usr/bin/ksh']] as const

/** Folders that the installer writes to are empty here, and gone with the namespace. */
const HERE = `
for folder in /usr/local /etc/systemd/system /var/lib /run; do mount -t tmpfs none "$folder"; done
mkdir -p /run/systemd/system /usr/local/bin /usr/local/lib`
const TREE = 'find /usr/local /etc/systemd/system /var/lib /run | sort'

function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/run'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const isAble = process.getuid?.() === 0 && canUnshare()

for (const [shell, ...words] of SHELLS)
  void t.test(
    `${shell} installs the agent, and leaves nothing behind`,
    { skip: (!isAble || !existsSync(shell)) && 'needs root, namespaces and this shell' },
    async (t) => {
      const { baseUrl, operator } = await startPublicServer(t)
      await operator('POST', '/tenants', newTenant('acme'))
      await operator('POST', '/tenants/acme/publish')
      const makeTicket = async () => {
        const made = await operator('POST', '/tenants/acme/device-tickets', { platform: 'linux' })
        return String(made.body['ticket'])
      }
      const [ticket, second] = [await makeTicket(), await makeTicket()]
      const folder = temporaryFolder(t)
      const bin = join(folder, 'bin')
      mkdirSync(bin)
      const notes = join(folder, 'notes')
      const fake = `#!/bin/sh\necho "$*" >>${notes}\n[ "$1" != --version ] || echo 'systemd 252 (252.1)'\n`
      writeFileSync(join(bin, 'systemctl'), fake, { mode: 0o755 })
      const answer = await fetch(`${baseUrl}/install/linux?ticket=${ticket}`)
      const script = await answer.text()
      const run = [shell, ...words, '-s'].join(' ')
      const work = `set -e
${HERE}
${TREE} >before
${run} <&3
${TREE} >between
cat /etc/systemd/system/* >units
grep -rl '${ticket}' /usr/local /etc/systemd/system /var/lib /run >found || true
service-device-agent collect
service-device-agent status --json >status.json
mv ${notes} first
: >${notes}
service-device-agent enroll <ticket >same
cp ${notes} unchanged
service-device-agent enroll --again <ticket >anew
cp ${notes} renewed
service-device-agent status --json >status-anew.json
${run} uninstall <&4
${TREE} >after`
      const ended = await new Promise<{ code: number; out: string; err: string }>((resolve) => {
        writeFileSync(join(folder, 'script'), script)
        writeFileSync(join(folder, 'ticket'), `${second}\n`)
        const path = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/sbin']
        execFile(
          'unshare',
          ['-m', 'sh', '-c', `exec 3<script 4<script; ${work}`],
          { cwd: folder, env: { PATH: path.join(':'), TMPDIR: folder } },
          (error, out, err) => resolve({ code: error === null ? 0 : 1, out, err }),
        )
      })
      t.match(ended, { code: 0, out: /^Enrolled as dev_[0-9a-f]{16} of acme/ }, ended.err)
      t.match(ended.out, /The agent is removed\.\n$/)
      const read = (name: string) => readFileSync(join(folder, name), 'utf8')
      t.equal(read('after'), read('before'), 'the tree is as it was')
      t.equal(read('found'), '', 'the ticket is on no disk')
      t.match(read('between'), '/usr/local/lib/service-device-agent/agent.mjs')
      t.match(read('units'), /DynamicUser=yes/)
      t.match(read('units'), 'LoadCredential=device.json:/var/lib/service-device-agent/device.json')
      const status = (name: string) => JSON.parse(read(name)) as { device_id: string }
      const before = status('status.json')
      t.match(before, { key_storage: /tpm|file/, facts_age_s: Number })
      t.match(read('first'), /enable service-device-agent.service\nrestart/)
      t.match(readFileSync(notes, 'utf8'), /^stop service-device-collector\.service$/m)
      t.match(read('same'), 'The ticket was not used.')
      t.equal(read('unchanged'), '', 'what runs goes on')
      t.match(read('anew'), 'The services of the agent have started again with it.')
      t.match(read('renewed'), /^daemon-reload\nenable service-device-agent\.service\nrestart/m)
      t.not(status('status-anew.json').device_id, before.device_id)
      const left = (await operator('GET', '/tenants/acme/devices')).items
      const ids = left.map(({ device_id: id }) => id)
      t.strictSame(ids, [before.device_id], 'the new one has left')
    },
  )

const shellcheck = '/usr/bin/shellcheck'
void t.test('shellcheck has nothing to say', { skip: !existsSync(shellcheck) }, async (t) => {
  const values = 'BASE_URL VERSION TICKET AGENT_SHA256 NODE_X64_SHA256 NODE_ARM64_SHA256'
  const given = Object.fromEntries(values.split(' ').map((name) => [name, 'x']))
  const script = await makeInstaller(SCRIPT, { ...given, NAME: 'agent', SECONDS_MAX: '900' })
  const said = execFileSync(shellcheck, ['-s', 'sh', '-'], { input: script }).toString()
  t.equal(said, '')
})
