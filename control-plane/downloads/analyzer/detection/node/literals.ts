/** Ports and texts that code settles on: as they stand, or where the environment says nothing. */
import { literal } from '../../syntax/texts.ts'
import type { Spot } from './codebase.ts'
import { outcomesOf } from './evaluate.ts'
import type { Outcome } from './outcomes.ts'
import type { Tracer } from './trace.ts'

/** `3000`, `env.PORT || 3000`, `Number(PORT)`, `{ port: 3000 }`, `app.get('port')` and the like. */
export function portOf(spot: Spot, tracer: Tracer): number | null {
  for (const outcome of portOutcomes(spot, tracer)) {
    const port = asPort(outcome)
    if (port !== null) return port
  }
  return null
}

const OBJECTS = /^(?:Object|Class|New)Expression$|^ClassDeclaration$/

/** Of options it is their `port`. */
export function portOutcomes(spot: Spot, tracer: Tracer): readonly Outcome[] {
  return outcomesOf(spot, tracer).flatMap((outcome) =>
    outcome.value === null && outcome.way.length === 0 && OBJECTS.test(outcome.at.node.type)
      ? outcomesOf(outcome.at, tracer, ['port'])
      : [outcome],
  )
}

/** Also `${PORT:-3000}`, as files of settings say it. */
export function asPort({ value }: Outcome): number | null {
  if (typeof value === 'number') return validPort(value)
  if (typeof value !== 'string') return null
  const digits = /^(?:\$\{\w+:-?)?(\d{1,5})\}?$/.exec(value)?.[1]
  return digits === undefined ? null : validPort(Number(digits))
}

export function validPort(port: number): number | null {
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null
}

/** A text that is written there, or what is made of one. */
export function textAt(spot: Spot, tracer: Tracer): string | null {
  const direct = literal(spot.node)
  if (direct !== null) return direct
  for (const { value } of outcomesOf(spot, tracer)) if (typeof value === 'string') return value
  return null
}
