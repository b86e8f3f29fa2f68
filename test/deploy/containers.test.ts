/**
 * The images as their files say: the last stage carried out on this Debian instead of the one that
 * the file names, the packages of this project instead of those that npm would fetch; then both programs
 * as a container runs them, without rights, on a file system that takes nothing but the volume.
 */
// long: makes two root file systems
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { containerFile } from '../support/container-files.ts'
import { temporaryFolder } from '../support/control-plane.ts'
import { WITHOUT_MACHINES } from '../support/machine.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const HOME = '/opt/sign-in-protection'
const PROGRAMS = ['control-plane', 'gateway'] as const
type ProgramName = (typeof PROGRAMS)[number]

const CONFIGS: Readonly<Record<ProgramName, string>> = {
  'control-plane': `base_url: http://localhost:8080
data_dir: /var/lib/sign-in-protection
control_plane: { listen: "0.0.0.0:8080", fleet_listen: "0.0.0.0:8081" }
`,
  gateway: `data_dir: /var/lib/sign-in-protection
gateway: { listen: "0.0.0.0:8000", status_listen: "0.0.0.0:8002", control_plane: "http://127.0.0.1:8081" }
`,
}
const KEY = 'a-fleet-key-that-only-this-test-has'

/** What makes the root file system of one image, and what a command in it begins with. */
function stepsOf(program: ProgramName): string {
  const { all, last, settings } = containerFile(
    join(PROJECT, `deploy/containers/Containerfile.${program}`),
  )
  const copied = all.filter((line) => /^COPY (?!--from)/.test(line))
  const copies = copied.map((line) => {
    const parts = line.split(' ').slice(1)
    const to = parts.pop() ?? ''
    return `cp -r ${parts.map((from) => `"$project/${from}"`).join(' ')} "root$home/${to}"`
  })
  const runs = settings('RUN').map((line) => {
    const [, packages] = INSTALLS.exec(line) ?? []
    // a name space without a network fetches nothing: what they bring is here, or the test ends
    return packages === undefined
      ? `chroot root sh -ec '${line}'`
      : `chroot root dpkg -s ${packages} >/dev/null`
  })
  const [user = ''] = settings('USER')
  const [volume = ''] = settings('VOLUME')
  const [uid, gid] = user.split(':')
  const variables = settings('ENV').join(' ')
  if (last.some((line) => !KNOWN.test(line))) throw new Error(`not known: ${last.join('\n')}`)
  return `
mount -t tmpfs none ${program} && cd ${program} && mkdir changes work root volume
mount -t overlay overlay -o lowerdir=/,upperdir=changes,workdir=work root
rm -rf "root$home" && mkdir -p "root$home/node_modules" root/etc/sign-in-protection
${copies.join('\n')}
mount --bind "$project/node_modules" "root$home/node_modules"
${runs.join('\n')}
cp "$folder/${program}.yaml" root/etc/sign-in-protection/
cp -a root${volume}/. volume/
chown "$(stat -c %u:%g root${volume})" volume && chmod "$(stat -c %a root${volume})" volume
mount -o remount,ro root && mount --bind volume root${volume} && mount -t proc none root/proc
cd ..
${program.replace('-', '_')}=(chroot ${program}/root setpriv --reuid ${uid} --regid ${gid} --clear-groups
  --no-new-privs --bounding-set=-all env -i -C ${HOME} PATH=/usr/bin:/bin ${variables} SERVICE_FLEET_KEY=${KEY})
`
}
const INSTALLS =
  /^apt-get update && apt-get install -y --no-install-recommends ([a-z0-9 .+-]+) && rm -rf \/var\/lib\/apt\/lists\/\*$/
const KNOWN =
  /^(?:FROM|WORKDIR|COPY|RUN|USER|VOLUME|ENV|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD) /

const argumentsOf = (program: ProgramName, instruction: string): string => {
  const file = containerFile(join(PROJECT, `deploy/containers/Containerfile.${program}`))
  const [text = ''] = file.settings(instruction)
  const words = JSON.parse(text.slice(text.indexOf('['))) as string[]
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
}

const skip = WITHOUT_MACHINES || false
void t.test('built as the files say, both run, are healthy and end', { skip }, async (t) => {
  const folder = temporaryFolder(t)
  for (const program of PROGRAMS) {
    mkdirSync(join(folder, program))
    writeFileSync(join(folder, `${program}.yaml`), CONFIGS[program])
  }
  const starts = PROGRAMS.map((program) => {
    const name = program.replace('-', '_')
    const within = `"\${${name}[@]}"`
    return `
${within} ${argumentsOf(program, 'ENTRYPOINT')} ${argumentsOf(program, 'CMD')} >"$folder/${program}.log" 2>&1 &
${name}_pid=$!
is_healthy() { ${within} ${argumentsOf(program, 'HEALTHCHECK')}; }
is_healthy && echo early >>"$folder/wrong"
for _ in $(seq 300); do is_healthy && break; sleep 0.2; done
is_healthy && echo ${program} >>"$folder/healthy"
grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs):' /proc/$${name}_pid/status >"$folder/${program}.rights"
`
  })
  const story = `set -eu
project=$1 folder=$2 home=${HOME}
ip link set lo up
${PROGRAMS.map(stepsOf).join('\n')}
set +e
${starts.join('\n')}
"\${control_plane[@]}" touch ${HOME}/written 2>/dev/null && echo 'the file system takes files' >>"$folder/wrong"
for pid in $gateway_pid $control_plane_pid; do kill $pid; wait $pid; echo $? >>"$folder/codes"; done
ls -A control-plane/volume >"$folder/kept"; ls -A gateway/volume >>"$folder/kept"
true
`
  const spaces = ['--mount', '--net', '--pid', '--fork', '--mount-proc']
  const args = [...spaces, 'bash', '-c', story, 'bash', PROJECT, folder]
  const child = spawn('unshare', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  t.equal(await new Promise((resolve) => child.once('close', resolve)), 0, said)
  const read = (name: string) => {
    try {
      return readFileSync(join(folder, name), 'utf8')
    } catch {
      return ''
    }
  }
  const logs = PROGRAMS.map((program) => read(`${program}.log`)).join('')
  t.equal(read('wrong'), '')
  t.equal(read('healthy'), 'control-plane\ngateway\n', said + logs)
  for (const program of PROGRAMS)
    t.match(
      read(`${program}.rights`),
      /Uid:\s+10001.*CapEff:\s+0+\n.*CapBnd:\s+0+\n.*NoNewPrivs:\s+1/s,
      program,
    )
  t.equal(read('codes'), '0\n0\n', 'SIGTERM ends them in good order')
  t.match(read('kept'), /compiled[^]*service\.db[^]*gateway/, 'in their volumes, and nowhere else')
  t.notMatch(logs, KEY)
})
