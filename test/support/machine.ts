/**
 * A machine for an agent and the browsers on it: a loopback of its own, where the agent has its real
 * port and nobody else has anything, with doors to the programs of a test. Nothing else is reached.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface TestScope {
  after(work: () => Promise<void>): void
}

const DOORS = fileURLToPath(new URL('machine-doors.ts', import.meta.url))
const COMMAND = 'ip link set lo up && exec "$@"'

function isAble(): boolean {
  try {
    execFileSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export const WITHOUT_MACHINES = isAble() ? false : 'needs root, network namespaces and iproute2'

/** Where programs on it may listen for the test. */
const INSIDE = [9222, 9223, 9224] as const

/** `ports`: of this machine, at the same addresses there. */
export async function startMachine(t: TestScope, ports: readonly number[]) {
  const folder = mkdtempSync(join(tmpdir(), 'machine-'))
  const doors = ports.map((port) =>
    createServer((socket) => {
      const other = connect(port, '127.0.0.1')
      socket.pipe(other).pipe(socket)
      socket.on('error', () => other.destroy())
      other.on('error', () => socket.destroy())
    }).listen(join(folder, `out-${port}`)),
  )
  await Promise.all(doors.map((door) => once(door, 'listening')))
  const child = spawn(
    'unshare',
    [
      '--net',
      'sh',
      '-c',
      COMMAND,
      'sh',
      process.execPath,
      DOORS,
      folder,
      ports.join(),
      INSIDE.join(),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.after(async () => {
    child.kill()
    for (const door of doors) door.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the machine did not start'))),
  ])
  const namespace = `/proc/${child.pid}/ns/net`
  const free: number[] = [...INSIDE]
  return {
    folder,
    namespace,
    /** What runs a command there. */
    enter: ['nsenter', `--net=${namespace}`, '--'] as const,
    /** A program that starts another there, with the same arguments. */
    wrapped(program: string): string {
      const file = join(folder, program.replaceAll('/', '-'))
      writeFileSync(file, `#!/bin/sh\nexec nsenter --net=${namespace} -- ${program} "$@"\n`)
      chmodSync(file, 0o755)
      return file
    },
    /** A port there, and the socket that leads to it. */
    takePort() {
      const port = free.shift()
      if (port === undefined) throw new Error('all ports that lead into the machine are taken')
      return { port, socket: join(folder, `in-${port}`) }
    },
  }
}

export type Machine = Awaited<ReturnType<typeof startMachine>>
