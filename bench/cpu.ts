/** CPU time of processes and their children, from /proc. */
import { readFileSync, readdirSync } from 'node:fs'

/** Linux counts in ticks of 10 ms on every platform that Node runs on. */
const TICK_US = 10_000

function statOf(pid: number): string[] | undefined {
  try {
    // The name of the program may hold spaces and brackets; the fields begin behind its last one.
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return undefined
  }
}

/** The process and all that it has started. */
export function familyOf(pid: number): number[] {
  const family = [pid]
  const others = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  for (let isGrowing = true; isGrowing;) {
    const found = others.filter(
      (other) => !family.includes(other) && family.includes(Number(statOf(other)?.[1])),
    )
    family.push(...found)
    isGrowing = found.length > 0
  }
  return family
}

export interface CpuTime {
  readonly userUs: number
  readonly kernelUs: number
}

export function cpuTime(pids: readonly number[]): CpuTime {
  let user = 0
  let kernel = 0
  for (const pid of pids) {
    const stat = statOf(pid)
    user += Number(stat?.[11] ?? 0)
    kernel += Number(stat?.[12] ?? 0)
  }
  return { userUs: user * TICK_US, kernelUs: kernel * TICK_US }
}

export function residentBytes(pids: readonly number[]): number {
  let pages = 0
  for (const pid of pids) pages += Number(statOf(pid)?.[21] ?? 0)
  return pages * 4096
}
