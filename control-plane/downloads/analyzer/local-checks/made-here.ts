/** Whether what a middleware is mounted on is an application that the same file makes. */
import type { Node } from '@babel/types'
import { applicationsIn, compact } from '../edits/made-applications.ts'
import { MOUNTED } from '../edits/mounted-frameworks.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { textOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'

/** A chain of names and calls longer than this is not followed. */
const STEPS_MAX = 20

export function carriesApplication(
  source: Source,
  receiver: Node,
): 'an application' | 'a router' | 'not known' {
  if (makingsBehind(source, receiver).length > 0) return 'an application'
  return isRouter(source, receiver) ? 'a router' : 'not known'
}

/** The `express()` that `receiver` stands for; more than one where it is only one of them at a time. */
export function makingsBehind(source: Source, receiver: Node): Node[] {
  const makings = Object.values(MOUNTED).flatMap((framework) => applicationsIn(source, framework))
  const calls = new Set(makings.map(({ call }) => call))
  const node = bare(receiver)
  if (node.type === 'MemberExpression') {
    const name = compact(textOf(source, node))
    return makings.flatMap((making) =>
      'made' in making && compact(making.made.receiver) === name ? [making.call] : [],
    )
  }
  return expressionsOf(source, node).filter((expression) => calls.has(expression))
}

function isRouter(source: Source, receiver: Node): boolean {
  return expressionsOf(source, receiver).some((node) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return false
    const reference = referenceOf(source, node.callee)
    return reference !== null && /router$/i.test(reference.members.at(-1) ?? reference.module)
  })
}

/** All that a name may stand for; of a chain of calls also what it began with. */
function expressionsOf(source: Source, start: Node): Node[] {
  const found: Node[] = []
  const waiting = [start]
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const next = waiting.pop()
    if (next === undefined) break
    const node = bare(next)
    found.push(node)
    if (node.type === 'Identifier') {
      const values = source.bindings.resolve(node)?.values ?? []
      waiting.push(...values.flatMap((one) => (one.members.length === 0 ? [one.expression] : [])))
    } else if (node.type === 'AssignmentExpression') waiting.push(node.right)
    else if (node.type === 'LogicalExpression') waiting.push(node.left, node.right)
    else if (node.type === 'ConditionalExpression') waiting.push(node.consequent, node.alternate)
    else if (node.type === 'CallExpression' && node.callee.type === 'MemberExpression') {
      // app.set(…) and app.use(…) answer the application; express.Router() is none
      const isMethod = /^(?:use|set|enable|disable|register|withTypeProvider)$/
      if (isMethod.test(keyOf(node.callee.property) ?? '')) waiting.push(node.callee.object)
    }
  }
  return found
}
