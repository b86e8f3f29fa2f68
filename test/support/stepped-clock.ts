/** The clock of a program, which somebody else sets while it runs: libfaketime's work. */
import { globSync, writeFileSync } from 'node:fs'

export const [FAKE_TIME] = globSync('/usr/lib/*/faketime/libfaketime.so.1')

/** Passed to `t.test` as `skip`. */
export const NO_STEPPED_CLOCK = FAKE_TIME === undefined && 'faketime is not installed here'

/** How soon a program hears of it. */
const READ_AGAIN_SECONDS = 1

export function steppedClock(file: string) {
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s`)
  set(0)
  return {
    set,
    /** Time since a start goes on as it does: only what a clock on the wall says is set. */
    environment: {
      LD_PRELOAD: FAKE_TIME ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: String(READ_AGAIN_SECONDS),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  }
}
