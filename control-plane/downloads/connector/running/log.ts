/** One line for each thing that happens: for people at a terminal, JSON for everything else. */
import { visibleText } from '../../analyzer/terminal/words.ts'

type Fields = Readonly<Record<string, string | number | boolean | undefined>>

export interface Log {
  info(fields: Fields, message: string): void
  warn(fields: Fields, message: string): void
}

interface LogWorld {
  readonly output: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly nowMs: () => number
}

export function createLog({ output, nowMs }: LogWorld): Log {
  const write = (level: 'info' | 'warn') => (fields: Fields, message: string) => {
    const time = new Date(nowMs()).toISOString()
    const line =
      output.isTTY === true
        ? `${time.slice(11, 19)} ${level === 'warn' ? 'warning: ' : ''}${forPeople(fields, message)}`
        : JSON.stringify({ time, level, msg: message, ...fields })
    output.write(`${line}\n`)
  }
  return { info: write('info'), warn: write('warn') }
}

function forPeople(fields: Fields, message: string): string {
  const told = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name.replaceAll('_', ' ')}: ${value}`],
  )
  return visibleText(told.length === 0 ? message : `${message} (${told.join(', ')})`)
}
