/** One line for each thing that happens: for people at a terminal, JSON for everything else. */
import { visibleText } from '../command-line/words.ts'

type Fields = Readonly<Record<string, string | number | boolean | undefined>>

export interface Log {
  info(fields: Fields, message: string): void
  warn(fields: Fields, message: string): void
}

/** As gateway and control plane write them. */
const [INFO, WARN] = [30, 40] as const
type Level = typeof INFO | typeof WARN

interface LogWorld {
  /** As its lines say. */
  readonly program: string
  readonly output: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly nowMs: () => number
}

export function createLog({ program, output, nowMs }: LogWorld): Log {
  const write = (level: Level) => (fields: Fields, message: string) => {
    const time = nowMs()
    const line =
      output.isTTY === true
        ? `${new Date(time).toISOString().slice(11, 19)} ${level === WARN ? 'warning: ' : ''}${forPeople(fields, message)}`
        : JSON.stringify({ level, time, program, ...fields, msg: message })
    output.write(`${line}\n`)
  }
  return { info: write(INFO), warn: write(WARN) }
}

function forPeople(fields: Fields, message: string): string {
  const told = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name.replaceAll('_', ' ')}: ${value}`],
  )
  return visibleText(told.length === 0 ? message : `${message} (${told.join(', ')})`)
}
