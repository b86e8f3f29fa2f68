/**
 * A Debian that a real systemd runs as process 1, for what installs itself as a service: a container
 * over this system's own files, with a network of its own. A story is a script that runs in it, once.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './control-plane.ts'
import { startMachine, WITHOUT_MACHINES } from './machine.ts'

const NSPAWN = '/usr/bin/systemd-nspawn'
export const WITHOUT_SYSTEMD = existsSync(NSPAWN)
  ? WITHOUT_MACHINES
  : 'needs systemd-nspawn (systemd-container)'

const UNIT = `[Service]
Type=oneshot
StandardOutput=file:/work/out
StandardError=file:/work/err
WorkingDirectory=/work
TimeoutStartSec=120
ExecStart=/bin/bash -euo pipefail /work/story
ExecStopPost=/bin/systemctl poweroff --no-block
`

/** What is written while it runs is gone with the namespace. */
const BOOT = `set -e
mount -t tmpfs none system
mkdir system/changes system/work system/root
mount -t overlay overlay -o lowerdir=/,upperdir=system/changes,workdir=system/work system/root
cp unit system/root/etc/systemd/system/story.service
mkdir -p system/root/work
exec systemd-nspawn --quiet --directory=system/root --register=no --keep-unit --machine="$2" \
  --network-namespace-path="$1" $3 --bind="$PWD:/work" --bind-ro="$PWD/system/changes:/changes" --boot systemd.unit=story.service`

/**
 * `tree` is what is other than on the system below: names, kinds, rights, owners and contents. The
 * journal and systemd's own notes of what runs change with time.
 */
const WORDS = `
tree() {
  {
    find /changes -mindepth 1 -path /changes/var/log -prune -o -printf '%y %m %U:%G /%P %l\\n'
    find /changes -path /changes/var/log -prune -o -type f -print0 | xargs -0 -r sha256sum
    find /run -xdev \\( -path /run/systemd -o -path /run/log \\) -prune -o -printf '%y %m %U:%G %p %l\\n'
  } | sort >"$1"
}
explain() { :; }
trap 'echo "failed: $BASH_COMMAND" >&2; explain >&2' ERR
until_true() {
  for _ in $(seq 600); do if "$@"; then return; fi; sleep 0.1; done
  echo "never: $*" >&2
  explain >&2 || true
  exit 1
}
`

export interface SystemdMachine {
  /** What it said, and whatever it wrote into its folder. `explain` in it is said when it waits in vain. */
  run(story: string): Promise<Told>
}

interface Told {
  readonly isDone: boolean
  readonly why: string
  read(name: string): string
  /** What stands in the tree `before` and not in `after`, or the other way round. */
  left(): string[]
}

/** `ports`: of this machine, at the same addresses there; `shown`: its folders, and where they are there. */
export async function startSystemd(
  t: Test,
  name: string,
  ports: readonly number[],
  shown: readonly (readonly [string, string])[] = [],
): Promise<SystemdMachine> {
  const machine = await startMachine(t, ports)
  return {
    async run(story) {
      const folder = temporaryFolder(t)
      mkdirSync(join(folder, 'system'))
      writeFileSync(join(folder, 'unit'), UNIT)
      writeFileSync(join(folder, 'story'), `${WORDS}\n${story}\necho >done\n`)
      const binds = shown.map(([here, there]) => `--bind-ro=${here}:${there}`).join(' ')
      const args = ['--mount', 'sh', '-c', BOOT, 'sh', machine.namespace, name, binds]
      const child = spawn('unshare', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      let console = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (console += chunk.toString()))
      await new Promise((resolve) => child.once('close', resolve))
      const read = (name: string) =>
        existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
      const isDone = existsSync(join(folder, 'done'))
      const lines = (name: string) => new Set(read(name).split('\n'))
      return {
        isDone,
        why: isDone ? '' : `${read('out')}${read('err')}${console}`,
        read,
        left: () =>
          [...lines('before').symmetricDifference(lines('after'))].filter(
            (line) => !isOfSystem(line),
          ),
      }
    },
  }
}

/** A folder that something was in for a while is listed from then on, as it always was. */
function isOfSystem(line: string): boolean {
  const [, mode = '', owner = '', path = ''] = /^d (\d+) (\d+:\d+) (\S+) $/.exec(line) ?? []
  if (path === '' || !existsSync(path)) return false
  const found = statSync(path)
  return (found.mode & 0o7777).toString(8) === mode && `${found.uid}:${found.gid}` === owner
}
