/**
 * Loaded before a program that is measured: tells how many bytes of JavaScript it has allocated since
 * its start, in a file of `BENCH_ALLOCATED` for each process, whenever it is sent SIGUSR2.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getHeapStatistics } from 'node:v8'

const folder = process.env.BENCH_ALLOCATED!

process.on('SIGUSR2', () => {
  const { total_allocated_bytes: bytes } = getHeapStatistics() as unknown as Allocations
  writeFileSync(join(folder, String(process.pid)), `${bytes}\n`)
})

interface Allocations {
  readonly total_allocated_bytes: number
}
