/** Calls of a program to the kernel that fail from now on, as on a disk that breaks: strace's work. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Passed to `t.test` as `skip`. */
export const NO_STRACE = (() => {
  const inject = ['-e', 'inject=fsync:error=EIO']
  const { status } = spawnSync('strace', ['-qq', '-e', 'trace=fsync', ...inject, 'true'])
  return status !== 0 && 'strace is not installed, or may not look at programs here'
})()

const ATTACHED_MS_MAX = 10_000
const POLL_MS = 20
const GONE = -1

/** Also of what these begin. Ends what it does, not the programs, when the answer is called. */
export async function failCalls(
  pids: readonly number[],
  calls: readonly string[],
  error: string,
): Promise<() => Promise<void>> {
  const names = calls.join(',')
  const which = ['-e', `trace=${names}`, '-e', `inject=${names}:error=${error}`]
  const whom = pids.flatMap((pid) => ['-p', String(pid)])
  const tracer = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...which, ...whom], {
    stdio: 'ignore',
  })
  const gone = once(tracer, 'exit')
  const untilMs = performance.now() + ATTACHED_MS_MAX
  while (!pids.every((pid) => [tracer.pid, GONE].includes(tracerOf(pid)))) {
    if (performance.now() > untilMs) throw new Error(`strace is not at ${pids.join(', ')}`)
    await sleep(POLL_MS)
  }
  return async () => {
    tracer.kill('SIGTERM') // lets go of all of them
    await gone
  }
}

/** A worker of a database server may have ended meanwhile. */
function tracerOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^TracerPid:\s+(\d+)$/m.exec(status)?.[1])
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return GONE
    throw error
  }
}
