/** Names that no file declares: `global.WIKI = { … }`, and `WIKI.app = express()` anywhere else. */
import type { Node } from '@babel/types'
import { oncePer } from '../../syntax/once-per.ts'
import type { Source } from '../../syntax/parse.ts'
import type { Step } from './callbacks.ts'
import type { Reach, Spot } from './codebase.ts'
import { indexOf } from './reach-index.ts'

/** The object that all files share, by its names. */
const SHARED = /^(?:global|globalThis)$/

export function ofGlobal(reach: Reach, name: string, members: readonly string[]): Step[] {
  const written = writesIn(reach)
  const [first, ...rest] = members
  const whole = SHARED.test(name) ? [] : (written.get(name) ?? [])
  const own =
    first === undefined ? [] : (written.get(SHARED.test(name) ? first : `${name}.${first}`) ?? [])
  return [
    ...own.map((spot) => ({ ...spot, members: rest })),
    ...whole.map((spot) => ({ ...spot, members })),
  ]
}

const writesIn = oncePer(({ sources }: Reach) => {
  const found = new Map<string, Spot[]>()
  for (const source of sources.values())
    for (const [way, values] of indexOf(source).writes)
      for (const node of values) {
        const name = globalName(source, node, way)
        if (name !== null) found.set(name, [...(found.get(name) ?? []), { source, node }])
      }
  return found
})

/** Of `global.WIKI` and `WIKI.app`; null: the name is declared in the file, or is `this`. */
function globalName(source: Source, value: Node, way: string): string | null {
  const [owner = '', name = ''] = way.split('.')
  if (SHARED.test(owner)) return name
  const parent = source.parents.get(value)
  const left = parent?.type === 'AssignmentExpression' ? parent.left : null
  const object = left?.type === 'MemberExpression' ? left.object : null
  const isFree = object?.type === 'Identifier' && source.bindings.resolve(object) === undefined
  return isFree && !/^(?:module|exports|process|window|document)$/.test(owner) ? way : null
}
