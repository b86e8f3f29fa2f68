/**
 * One gateway per folder: a second one would take over the name in the fleet and write the same
 * files. The lock names its process, so that what a crash leaves behind is seen to be nobody's.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { ConfigError } from '../shared/config.ts'

/** Answers how to give it back. */
export function lockInstance(directory: string, id: string): () => void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = `${directory}/lock`
  for (let tries = 0; tries < 2; tries++) {
    if (tryLock(file)) return () => rmSync(file, { force: true })
    const [pid = '', startedTicks = ''] = readFileSync(file, 'utf8').split(' ')
    if (isRunning(Number(pid), startedTicks))
      throw new ConfigError(
        `gateway.id: gateway "${id}" runs already as process ${pid}; give this one another id or data_dir`,
      )
    rmSync(file, { force: true })
  }
  throw new ConfigError(`${file}: cannot be locked; remove it if no gateway runs here`)
}

function tryLock(file: string): boolean {
  try {
    writeFileSync(file, `${process.pid} ${startOf(process.pid)}`, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isRunning(pid: number, startedTicks: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return startOf(pid) === startedTicks
}

/**
 * In a container the same small numbers come again after a crash; when a process began does not.
 * undefined: it is dead, and its number only waits for a parent to take notice (a container without
 * an init never does), so that signals still find it.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return /^[ZXx]$/.test(state) ? undefined : (fields[18] ?? '')
  } catch {
    return '' // no /proc here: the number alone has to do
  }
}
