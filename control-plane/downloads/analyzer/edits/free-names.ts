/** Names for what is added to a file: none that occurs in it in any role. */
import type { Node } from '@babel/types'
import type { Source } from '../syntax/parse.ts'
import type { GuardName } from './wishes.ts'

export interface FreeNames {
  /** What the guard is called in this file: mostly by its own name. */
  readonly guard: string
  readonly service: string
}

const SERVICE_NAMES = ['service', 'signInService', 'serviceNode', 'guardingService'] as const
const GUARD_NAMES: Readonly<Record<GuardName, readonly string[]>> = {
  verifyClaims: ['verifyClaims', 'verifyServiceClaims', 'verifySignedClaims'],
  enforce: ['enforce', 'enforceSignIn', 'enforceService'],
}

/** null: somebody has thought of all of them. */
export function freeNames(source: Source, guard: GuardName): FreeNames | null {
  const taken = namesIn(source)
  const free = (names: readonly string[]) => names.find((name) => !taken.has(name))
  const own = free(GUARD_NAMES[guard])
  const service = free(SERVICE_NAMES)
  return own === undefined || service === undefined ? null : { guard: own, service }
}

/** Keys of objects and members are no names of the file: `this.service` stands in nobody's way. */
function namesIn(source: Source): ReadonlySet<string> {
  const names = new Set<string>()
  for (const node of source.nodes) {
    if (node.type === 'JSXIdentifier') names.add(node.name)
    if (node.type !== 'Identifier') continue
    const parent = source.parents.get(node)
    const isMember =
      (parent?.type === 'MemberExpression' || parent?.type === 'OptionalMemberExpression') &&
      parent.property === node &&
      !parent.computed
    if (!isMember && !isKey(source, node)) names.add(node.name)
  }
  return names
}

function isKey(source: Source, node: Node): boolean {
  const parent = source.parents.get(node)
  if (parent === undefined || !('key' in parent) || parent.key !== node) return false
  const isComputed = 'computed' in parent && parent.computed === true
  const isShorthand = 'shorthand' in parent && parent.shorthand === true
  return !isComputed && !isShorthand
}
