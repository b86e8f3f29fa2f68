/** What Node programs have allocated: garbage sooner or later, if they stay as large as they are. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { familyOf } from './cpu.ts'
import { programPath } from './peers/peer.ts'

const ANSWER_MS_MAX = 5_000

/** For a program that is about to be started. */
export function watchAllocations(folder: string) {
  mkdirSync(folder)
  return {
    flags: ['--import', programPath('allocated.ts')],
    environment: { BENCH_ALLOCATED: folder },
    /** Of this process and those that it has started with its flags, since their start. */
    async bytes(pid: number): Promise<number> {
      let bytes = 0
      for (const member of familyOf(pid)) bytes += await askFor(member, join(folder, `${member}`))
      return bytes
    },
  }
}

async function askFor(pid: number, path: string): Promise<number> {
  rmSync(path, { force: true })
  process.kill(pid, 'SIGUSR2')
  const untilMs = performance.now() + ANSWER_MS_MAX
  while (performance.now() < untilMs) {
    const text = textOf(path)
    if (text.endsWith('\n')) return Number(text)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`process ${pid} does not say what it has allocated`)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // not written yet
  }
}
