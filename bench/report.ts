/** The tables. */
import { median, ratioOf, spreadOf, type Measured } from './measured.ts'
import type { IdleMeasured } from './rounds.ts'

const NAME_WIDTH = 24

export function printCase(name: string, measured: ReadonlyMap<string, Measured>): void {
  const [first] = measured.values()
  if (first === undefined) return
  console.log(`\n${name}`)
  console.log(
    'peer'.padEnd(NAME_WIDTH) +
      'CPU µs/req   (min–max)  in user    req/s   p50 µs   p99 µs   RSS MB   ratio to it',
  )
  for (const row of measured.values()) {
    const { cpuUs, userUs, perSecond, p50Us, p99Us, residentBytes, errors } = row
    const range = `${Math.min(...cpuUs).toFixed(1)}–${Math.max(...cpuUs).toFixed(1)}`
    console.log(
      row.peer.padEnd(NAME_WIDTH) +
        median(cpuUs).toFixed(1).padStart(10) +
        range.padStart(12) +
        median(userUs).toFixed(1).padStart(9) +
        median(perSecond).toFixed(0).padStart(9) +
        median(p50Us).toFixed(0).padStart(9) +
        median(p99Us).toFixed(0).padStart(9) +
        (residentBytes / 1e6).toFixed(0).padStart(9) +
        (row === first
          ? ''
          : `${ratioOf(first, row).toFixed(2)}× ± ${spreadOf(first, row).toFixed(2)}`.padStart(
              16,
            )) +
        (row.allocatedBytes.length > 0
          ? `   garbage ${(median(row.allocatedBytes) / 1000).toFixed(1)} KB/req`
          : '') +
        (row.besideUs.length > 0 ? `   connector ${median(row.besideUs).toFixed(1)} µs` : '') +
        (errors > 0 ? `   ${errors} ERRORS` : ''),
    )
  }
}

export function printIdle(name: string, rows: readonly IdleMeasured[]): void {
  console.log(`\n${name}`)
  console.log('peer'.padEnd(NAME_WIDTH) + '    open   MB before   MB after   bytes per connection')
  for (const { peer, open, beforeBytes, afterBytes } of rows)
    console.log(
      peer.padEnd(NAME_WIDTH) +
        String(open).padStart(8) +
        (beforeBytes / 1e6).toFixed(0).padStart(12) +
        (afterBytes / 1e6).toFixed(0).padStart(11) +
        ((afterBytes - beforeBytes) / open).toFixed(0).padStart(23),
    )
}
