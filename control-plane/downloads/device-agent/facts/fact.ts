/** How a probe says what it found. */
import type { DeviceFact, Fact } from '../../../../shared/device/facts.ts'
import type { FactReason } from '../../../../shared/device/reasons.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { CommandResult, Earlier, Machine } from './machine.ts'

/** A fact with a reason that its words are kept for. */
export interface FactOf<Name extends DeviceFact> extends Fact {
  readonly reason: FactReason<Name>
}

export type Probe<Name extends DeviceFact> = (
  machine: Machine,
  earlier: Earlier,
) => Promise<FactOf<Name>>

export function fact<Name extends DeviceFact>(
  value: Fact['value'],
  reason: FactReason<Name>,
  detail = '',
): FactOf<Name> {
  const shown = printable(detail)
  return shown === '' ? { value, reason } : { value, reason, detail: shown }
}

/** One line; what others named may hold anything. */
function printable(text: string): string {
  const clean = text.replace(/\p{C}+/gu, ' ').trim()
  const characters = Array.from(clean)
  const most = LIMITS.deviceDetailCharactersMax
  // counted as schemas count, by code units
  if (clean.length <= most) return clean
  let short = ''
  for (const character of characters) {
    if (short.length + character.length > most - 1) break
    short += character
  }
  return `${short}…`
}

/** `a, b, c and 4 more`, but without words: `a, b, c (+4)`. */
export function some(names: readonly string[], most = 4): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown} (+${names.length - most})` : shown
}

/** Why a command that should have answered did not. */
export function unanswered<Name extends DeviceFact>(
  result: CommandResult,
  detail: string,
): FactOf<Name> {
  switch (result.kind) {
    case 'missing':
      return fact('unknown', 'tool_missing', detail)
    case 'timed_out':
      return fact('unknown', 'timed_out', detail)
    case 'failed':
    case 'ended':
      return fact('unknown', 'not_readable', detail)
  }
}
