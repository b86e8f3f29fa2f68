/**
 * The agent on a Debian that a real systemd runs as process 1: installed as people install it, run as
 * a user that exists for it alone, updated, and removed, with nothing left behind.
 */
// long: starts a system, and copies a runtime of 100 MiB
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { create } from 'tar'
import t, { type Test } from 'tap'
import {
  fetchRuntimes,
  runtimesFolder,
} from '../../../../../control-plane/downloads/device-agent/runtimes.ts'
import { newTenant } from '../../../../support/api.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { startPublicServer } from '../../../../support/public-server.ts'
import { startSystemd, WITHOUT_SYSTEMD } from '../../../../support/systemd-machine.ts'
import { VERSION } from '../../../../../shared/version.ts'

const skip = WITHOUT_SYSTEMD

/** What is asked of the agent, again and again. */
const WORDS = `
explain() {
  systemctl status --no-pager --lines 40 'service-device-*'
  service-device-agent status
}
heard() { service-device-agent status --json | grep -q '"checked_in_at": *"20'; }
known() { service-device-agent status --json | grep -q '"facts_age_s": *[0-9]'; }
answers() { [ "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:18653/)" = 404 ]; }
`

async function start(t: Test, options: { dataDir?: string } = {}) {
  const { baseUrl, port, operator } = await startPublicServer(t, options)
  await operator('POST', '/tenants', newTenant('acme'))
  await operator('POST', '/tenants/acme/publish')
  const machine = await startSystemd(t, 'device-agent', [port])
  return {
    baseUrl,
    operator,
    async ticket() {
      const made = await operator('POST', '/tenants/acme/device-tickets', { platform: 'linux' })
      return String(made.body['ticket'])
    },
    run: (story: string) => machine.run(`${WORDS}${story}`),
  }
}

void t.test(
  'installed, run, updated and removed: the file system is as it was',
  { skip },
  async (t) => {
    const { run, ticket, baseUrl, operator } = await start(t)
    const [secret, another] = [await ticket(), await ticket()]
    const { isDone, why, read, left } = await run(`
tree before
curl -fsSL '${baseUrl}/install/linux?ticket=${secret}' | sh
until_true heard
until_true known
until_true answers
tree between
grep -rl '${secret}' /usr/local /etc /var/lib /run >found 2>/dev/null || true
pid=$(systemctl show --property MainPID --value service-device-agent.service)
cat "/proc/$pid/status" >listener
tr '\\0' '\\n' <"/proc/$pid/cmdline" >cmdline
tr '\\0' '\\n' <"/proc/$pid/environ" >environ
ls -lnA /var/lib/private/service-device-agent-running >kept
service-device-agent status --json >status.json

sed -i 's/${VERSION.replaceAll('.', '\\.')}/0.0.1/g' /usr/local/lib/service-device-agent/agent.mjs
service-device-agent --version >older
systemctl restart service-device-agent.service
rm /run/service-device-agent/looked.json
systemctl start service-device-collector.service
service-device-agent --version >newer
until_true answers
[ "$pid" != "$(systemctl show --property MainPID --value service-device-agent.service)" ]

pid=$(systemctl show --property MainPID --value service-device-agent.service)
service-device-agent enroll --again <<'END'
${another}
END
until_true heard
until_true answers
[ "$pid" != "$(systemctl show --property MainPID --value service-device-agent.service)" ]
service-device-agent status --json >anew.json

curl -fsSL '${baseUrl}/install/linux?ticket=${await ticket()}' >script
sh script uninstall
tree after
systemctl list-units --all --no-legend 'service-device-*' >units
`)
    t.ok(isDone, why)
    t.strictSame(left(), [], 'nothing is left behind, and all is as it was')
    t.match(read('between'), ' /usr/local/lib/service-device-agent/agent.mjs')
    t.equal(read('units'), '')
    t.equal(read('found'), '', 'the ticket is on no disk')
    t.notMatch(read('cmdline') + read('environ'), secret)
    t.match(read('listener'), /^CapEff:\t0+$/m)
    t.match(read('listener'), /^NoNewPrivs:\t1$/m)
    t.match(read('listener'), /^Seccomp:\t2$/m)
    const [, uid = '0'] = /^Uid:\t(\d+)/m.exec(read('listener')) ?? []
    t.ok(Number(uid) >= 61_184 && Number(uid) <= 65_519, `a user that systemd makes up: ${uid}`)
    t.match(read('kept'), new RegExp(`^-rw------- 1 ${uid} \\d+ .* device\\.json$`, 'm'))
    t.match(JSON.parse(read('status.json')), { key_storage: 'file', facts_age_s: Number })
    t.equal(read('older').trim(), '0.0.1')
    t.equal(read('newer').trim(), VERSION)
    const deviceIn = (name: string) => (JSON.parse(read(name)) as { device_id: string }).device_id
    t.not(
      deviceIn('anew.json'),
      deviceIn('status.json'),
      'it runs as the one that was enrolled last',
    )
    const devices = (await operator('GET', '/tenants/acme/devices')).items
    const ids = devices.map(({ device_id: id }) => id)
    t.strictSame(ids, [deviceIn('status.json')], 'which has left')
  },
)

void t.test('a machine without Node is given one', { skip }, async (t) => {
  const dataDir = temporaryFolder(t)
  await handOutRuntime(t, dataDir)
  const { run, ticket, baseUrl } = await start(t, { dataDir })
  const { isDone, why, read, left } = await run(`
for folder in $(echo "$PATH" | tr : ' '); do rm -f "$folder/node"; done
hash -r
! command -v node
tree before
curl -fsSL '${baseUrl}/install/linux?ticket=${await ticket()}' | sh
until_true heard
until_true answers
readlink "/proc/$(systemctl show --property MainPID --value service-device-agent.service)/exe" >runtime
stat -c '%a %u %s' /usr/local/lib/service-device-agent/node >node
curl -fsSL '${baseUrl}/install/linux?ticket=${await ticket()}' | sh -s uninstall
tree after
`)
  t.ok(isDone, why)
  t.equal(read('runtime').trim(), '/usr/local/lib/service-device-agent/node')
  t.match(read('node'), /^755 0 \d{8,}$/m)
  t.strictSame(left(), [], 'nothing is left behind')
})

/** The one that these tests run on, packed as the registry packs it. */
async function handOutRuntime(t: Test, dataDir: string): Promise<void> {
  const file = join(temporaryFolder(t), 'node.tgz')
  const cwd = join(dirname(process.execPath), '..')
  await create({ file, cwd, prefix: 'package' }, ['bin/node'])
  const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  await fetchRuntimes({
    folder: runtimesFolder(dataDir),
    pack: async () => file,
    say() {},
    pins: { [`linux-${process.arch}`]: { version: process.versions.node, integrity } },
  })
}
