/** What a module gives away under a name, through whatever it passes on of others. */
import type { Source } from '../../syntax/parse.ts'
import { WHOLE } from '../../syntax/exports.ts'
import type { Step } from './callbacks.ts'
import type { Reach } from './codebase.ts'
import { indexOf } from './reach-index.ts'

/** `exports.default = exports.app`, as TypeScript writes it. */
export function ofOwnExports(
  reach: Reach,
  source: Source,
  name: string,
  members: readonly string[],
): Step[] {
  const [first, ...rest] = members
  if (name === 'module' && first === 'exports' && rest.length > 0) return given(reach, source, rest)
  return name === 'exports' && first !== undefined ? given(reach, source, members) : []
}

/** `members` of all that a module gives away. */
export function exported(
  reach: Reach,
  from: Source,
  module: string,
  members: readonly string[],
  depth = 0,
): Step[] {
  const source = reach.target(from, module)
  return source === undefined || depth > 20 ? [] : given(reach, source, members, depth)
}

function given(reach: Reach, source: Source, members: readonly string[], depth = 0): Step[] {
  const all = indexOf(source).exports
  const [name = 'default', ...rest] = members
  const fitting = all.filter((one) => one.name === name || (one.name === '*' && name !== 'default'))
  const whole = all.filter((one) => one.name === WHOLE)
  const steps = fitting.flatMap((one) =>
    'value' in one
      ? [{ source, node: one.value, members: rest }]
      : exported(
          reach,
          source,
          one.module,
          // export * as routes
          one.imported !== '*' ? [one.imported, ...rest] : one.name === '*' ? members : rest,
          depth + 1,
        ),
  )
  // module.exports = app, asked for as the default, as it is, or for one of its members
  const ofWhole = whole.flatMap((one) =>
    'value' in one
      ? [{ source, node: one.value, members: name === 'default' ? rest : members }]
      : [],
  )
  return [...steps, ...ofWhole]
}
