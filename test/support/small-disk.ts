/** A disk of its own, small enough to be filled. Only root may have one. */
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

interface Teardown {
  teardown(work: () => unknown): void
}

const PIECE = Buffer.alloc(64 * 1024, 1)

/** Passed to `t.test` as `skip`. */
export const NO_SMALL_DISK = (() => {
  const folder = `/tmp/small-disk-${process.pid}`
  mkdirSync(folder)
  try {
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
    if (status === 0) execFileSync('umount', [folder])
    return status !== 0 && 'a file system cannot be mounted here'
  } finally {
    rmSync(folder, { recursive: true })
  }
})()

/** In a folder that is there, whoever owns it. */
export function mountSmallDisk(t: Teardown, folder: string, megabytes: number, owner = 0) {
  const options = `size=${megabytes}m,uid=${owner},gid=${owner},mode=0700`
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  t.teardown(() => execFileSync('umount', ['-l', folder]))
  const ballast = join(folder, 'ballast')
  return {
    fill(): void {
      const file = openSync(ballast, 'a')
      try {
        // to the last byte, by pieces that get smaller
        for (let piece = PIECE; piece.length > 0;)
          try {
            writeSync(file, piece)
          } catch {
            piece = piece.subarray(0, piece.length >> 1)
          }
      } finally {
        closeSync(file)
      }
    },
    empty: () => rmSync(ballast, { force: true }),
  }
}
