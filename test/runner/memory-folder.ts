/**
 * Where tests put what they throw away: in memory, if there is room. A commit waits there for no
 * disk, and what a program has written outlives its SIGKILL as it would on one.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'

/** Of all lanes together, packages that are installed and database clusters among it. */
const BYTES_MIN = 4 * 1024 ** 3

let made: string | undefined

/** Also when the run is stopped: nobody else gives that memory back. */
export function removeMemoryFolder(): void {
  if (made !== undefined) rmSync(made, { recursive: true, force: true, maxRetries: 5 })
}

/** Undefined where it is small, or takes no programs, as in many a container. */
export function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < BYTES_MIN) return undefined
    const folder = mkdtempSync(join(MEMORY, 'tests-'))
    made = folder
    process.once('exit', removeMemoryFolder)
    chmodSync(folder, 0o711) // databases run as somebody else, in folders of their own below it
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(program)
    return folder
  } catch {
    return undefined
  }
}
