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

/**
 * What the machine holds for them: pages of files that they share, such as their program, count once,
 * as for the limit of a container; those that were copied from their parent are shared out.
 */
export function residentBytes(pids: readonly number[]): number {
  let own = 0
  let shared = 0
  for (const pid of pids) {
    const { Rss = 0, Anonymous = 0, Pss_Anon: ownPart = Anonymous } = kibibytesOf(pid)
    own += ownPart
    shared = Math.max(shared, Rss - Anonymous)
  }
  return (own + shared) * 1024
}

/** https://docs.kernel.org/filesystems/proc.html: smaps_rollup. */
function kibibytesOf(pid: number): Record<string, number> {
  try {
    const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1').matchAll(
      /^(\w+): +(\d+) kB/gm,
    )
    const named = ([, name = '', kibibytes]: readonly string[]) =>
      [name, Number(kibibytes)] as const
    return Object.fromEntries([...lines].map(named))
  } catch {
    return {} // it has just ended
  }
}
