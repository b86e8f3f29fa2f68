/**
 * The units and the page beside them, on a Debian that a real systemd runs as process 1: its commands
 * as they are printed, both programs within what the units leave them, killed, and asked again.
 */
// long: starts a system
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { HARDENING } from '../../control-plane/downloads/resident/unit-parts.ts'
import { startSystemd, WITHOUT_SYSTEMD } from '../support/systemd-machine.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = join(PROJECT, 'deploy/systemd')
const ANALYZE = '/usr/bin/systemd-analyze'
const UNITS = readdirSync(FOLDER).filter((name) => name.endsWith('.service'))
/** A gateway has ports below 1024, and asks which addresses are its own. */
const LOOSER = /^(?:CapabilityBoundingSet|AmbientCapabilities|RestrictAddressFamilies)=/
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

void t.test('both units keep their programs in', async (t) => {
  t.same(UNITS, ['service-control-plane.service', 'service-gateway.service'])
  for (const unit of UNITS) {
    const lines = textOf(unit).split('\n')
    for (const line of HARDENING)
      t.ok(
        lines.some((other) => other === line || (LOOSER.test(line) && other.startsWith(line))),
        `${unit}: ${line}`,
      )
    t.notMatch(textOf(unit), /MemoryDenyWriteExecute/, 'V8 compiles while it runs')
  }
})

void t.test(
  'what is left open',
  { skip: !existsSync(ANALYZE) && 'no systemd-analyze' },
  async (t) => {
    for (const unit of UNITS) {
      const text = await new Promise<string>((resolve) =>
        execFile(
          ANALYZE,
          ['security', '--offline=yes', '--no-pager', join(FOLDER, unit)],
          (error, out) => resolve(out),
        ),
      )
      const [, exposure = ''] = /exposure level for \S+: ([\d.]+)/.exec(text) ?? []
      t.ok(exposure !== '' && Number(exposure) <= 2.5, `${unit}: exposure ${exposure} of 10`)
    }
  },
)

void t.test(
  'installed as the page says, killed, and backed up',
  { skip: WITHOUT_SYSTEMD },
  async (t) => {
    const [install = '', start = '', link = '', backup = ''] = [
      ...textOf('README.md').matchAll(/^```sh\n(.*?)^```$/gms),
    ].map(([, commands = '']) => commands)
    const machine = await startSystemd(t, 'service', [], [[PROJECT, '/opt/sign-in-protection']])
    const { isDone, why, read } = await machine.run(`
sudo() { if [ "$1" = -u ]; then runuser -u "$2" -- "\${@:3}"; else "$@"; fi; }
explain() { journalctl --no-pager -n 60 -u service-control-plane -u service-gateway; }
ready() { curl -sf "http://127.0.0.1:$1/health/ready"; }
pid() { systemctl show --property MainPID --value "$1"; }
cd /opt/sign-in-protection
${install}
systemd-analyze verify /etc/systemd/system/service-{control-plane,gateway}.service >/work/verified 2>&1
sed -i 's|https://auth.example.com|http://localhost:8080|' /etc/sign-in-protection/control-plane.yaml
set +e
${start}
started=$?
set -e
# Whatever kept one from its first start, both are tried again as long as the machine runs.
if [ $started != 0 ]; then explain >/work/second-try; fi
until_true ready 8080
until_true ready 8002
cat /etc/sign-in-protection/fleet_key >/work/key
for name in control-plane gateway; do
  unit=service-$name
  first=$(pid $unit)
  grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' "/proc/$first/status" >/work/$name-rights
  id -u $unit >/work/$name-id
  cat "/proc/$first/environ" "/proc/$first/cmdline" >/work/$name-seen
  ls -A "/var/cache/$unit" | wc -l >/work/$name-compiled
  kill -KILL "$first"
  renewed() { [ "$(pid $unit)" != 0 ] && [ "$(pid $unit)" != "$first" ]; }
  until_true renewed
done
until_true ready 8080
until_true ready 8002
link() {
${link}
}
until_true link
link >/work/link
curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1/ >/work/edge
${backup}
stat -c '%a %U' /var/lib/service-control-plane /var/lib/service-control-plane/* >/work/kept
systemctl stop service-gateway service-control-plane
systemctl show --property Result --value service-gateway service-control-plane >/work/result
journalctl --no-pager -o cat -u service-control-plane -u service-gateway >/work/log
cd /work
`)
    t.ok(isDone, why)
    if (read('second-try') !== '') t.comment(`not at the first try:\n${read('second-try')}`)
    t.equal(read('verified'), '')
    for (const name of ['control-plane', 'gateway']) {
      const uid = read(`${name}-id`).trim()
      t.match(read(`${name}-rights`), new RegExp(`Uid:\\s+${uid}\\s+${uid}`))
      t.match(read(`${name}-rights`), /NoNewPrivs:\s+1\nSeccomp:\s+2/)
      t.notOk(read(`${name}-seen`).includes(read('key').trim()), 'its key is not in sight')
      t.ok(Number(read(`${name}-compiled`)) > 0, 'what V8 has made of it is kept')
    }
    t.match(read('control-plane-rights'), /CapEff:\s+0+\n/)
    t.match(read('gateway-rights'), /CapEff:\s+0+400\n/, 'ports below 1024, and nothing else')
    t.match(read('link'), /^http:\/\/localhost:8080\/console\S+\n/)
    t.equal(read('edge'), '404', 'no tenant has this name')
    t.notMatch(read('kept'), /^\d\d[1-7]|^\d[1-7]/m, 'all of it is for its user alone')
    t.notMatch(read('kept'), / root$/m)
    t.match(read('kept'), /service-control-plane/)
    t.strictSame(read('result').trim().split(/\n+/), ['success', 'success'])
    t.notOk(read('log').includes(read('key').trim()))
  },
)
