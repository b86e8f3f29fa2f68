/** What the programs log, behind the summary: warnings and errors, or every line with `--log`. */
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import pretty from 'pino-pretty'
import { TERMINAL_LINES } from '../../shared/log.ts'

/** More than a start says; of what comes before the summary the newest is kept. */
const HELD_LINES_MAX = 500

/** Info is 30. What is no line of the log was printed by a program that is ending. */
const UNEVENTFUL = /^\{"level":[123]0,/
/** Programs that end warn of each other's absence. */
const UNEVENTFUL_AT_THE_END = /^\{"level":[1234]0,/

export function createProgramLog(isAll: boolean, stdout: Writable & { readonly isTTY?: boolean }) {
  const out: Writable = stdout.isTTY === true ? pretty(TERMINAL_LINES) : stdout
  let uneventful = UNEVENTFUL
  let held: string[] | undefined = []

  return {
    take(output: Readable) {
      createInterface({ input: output }).on('line', (line) => {
        if (!isAll && uneventful.test(line)) return
        if (held === undefined) out.write(`${line}\n`)
        else if (held.push(line) > HELD_LINES_MAX) held.shift()
      })
    },
    /** Somebody has pressed Ctrl-C. */
    ending() {
      uneventful = UNEVENTFUL_AT_THE_END
    },
    /** The summary is there, or will never be. */
    release() {
      for (const line of held ?? []) out.write(`${line}\n`)
      held = undefined
    },
  }
}
