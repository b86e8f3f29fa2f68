/** What tests cost, whatever else the machine does meanwhile: time of a core, not time of a clock. */
import { readFileSync } from 'node:fs'

/** What Linux counts in, on every machine. */
const TICK_MS = 10

/** `utime stime cutime cstime`, counted from the state behind the program's name. */
const [FIRST, END] = [11, 15]

/**
 * Of this process, and of all below it that has ended and was waited for: not what a browser leaves
 * to others when it is closed, half of what it costs. Elsewhere than on Linux, of this process alone.
 */
export function cpuMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return TICK_MS * fields.slice(FIRST, END).reduce((sum, ticks) => sum + Number(ticks), 0)
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

/** Since the last look. */
export function createMeter(): () => number {
  let countedMs = 0
  return () => {
    const [beforeMs, nowMs] = [countedMs, cpuMs()]
    countedMs = nowMs
    return Math.round(nowMs - beforeMs)
  }
}
