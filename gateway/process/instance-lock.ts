/**
 * One gateway per folder: a second one would take over the name in the fleet and write the same
 * files. The lock names its process, so that what a crash leaves behind is seen to be nobody's.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { ConfigError } from '../../shared/config/config.ts'

/** Answers how to give it back. */
export function lockInstance(directory: string, id: string): () => void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = `${directory}/lock`
  const mine = `${process.pid} ${startOf(process.pid)}`
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (tryLock(file, mine) && isStill(file, mine)) return () => takeAway(file, mine)
    const found = textOf(file)
    if (found === undefined) continue // given back at this moment
    const [pid = '', startedTicks = ''] = found.split(' ')
    if (isRunning(Number(pid), startedTicks))
      throw new ConfigError(
        `gateway.id: gateway "${id}" is already running as process ${pid}; give this one a different id or data_dir`,
      )
    takeAway(file, found)
  }
  throw new ConfigError(
    `${file}: could not be locked; if no gateway is running here, remove this file`,
  )
}

/** Others that start at the same moment may take the same stale lock away. */
const TRIES_MAX = 10
const SETTLE_MS = 50

/** Who took a stale lock for the one that it had read has put ours back by then, or lost it. */
function isStill(file: string, mine: string): boolean {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLE_MS)
  return textOf(file) === mine
}

/** Written aside and linked, so that there is no moment in which a lock names nobody. */
function tryLock(file: string, mine: string): boolean {
  const aside = `${file}-${process.pid}`
  try {
    writeFileSync(aside, mine, { mode: 0o600 })
    linkSync(aside, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/** This lock, and no other that has come in its place since it was read. */
function takeAway(file: string, text: string): void {
  const taken = `${file}-${process.pid}-taken`
  try {
    renameSync(file, taken)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  // Somebody's fresh one: back to where it was, unless a third has locked meanwhile.
  if (textOf(taken) !== text)
    try {
      linkSync(taken, file)
    } catch {}
  rmSync(taken, { force: true })
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
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
