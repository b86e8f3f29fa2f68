/** Every node of a tree and its parent, without recursion: `a+a+a+…` nests as deep as it is long. */
import type { File, Node } from '@babel/types'
import { LIMITS } from '../../../../shared/limits.ts'

const ASIDE: ReadonlySet<string> = new Set(['loc', 'extra', 'errors', 'comments', 'tokens'])

/** A parent before its children, these in the order of the tree; null where it is too large. */
export function nodesOf(file: File) {
  const { analyzerSourceNodesMax, analyzerSourceDepthMax } = LIMITS
  const nodes: Node[] = []
  const parents = new Map<Node, Node>()
  const waiting: Node[] = [file]
  const depths = [0]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const depth = depths.pop() ?? 0
    if (nodes.push(node) > analyzerSourceNodesMax || depth > analyzerSourceDepthMax) return null
    const children = childrenOf(node)
    for (let i = children.length - 1; i >= 0; i--) {
      const child = children[i] as Node
      parents.set(child, node)
      waiting.push(child)
      depths.push(depth + 1)
    }
  }
  return { nodes, parents }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (const key in node) {
    const value = node[key as keyof Node] as unknown
    if (value === null || typeof value !== 'object' || ASIDE.has(key)) continue
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(item)) children.push(item)
  }
  return children
}

function isNode(value: unknown): value is Node {
  return typeof (value as { type?: unknown } | null)?.type === 'string'
}

/** From the parent outwards. */
export function* ancestorsOf(parents: ReadonlyMap<Node, Node>, node: Node): Generator<Node> {
  for (let at = parents.get(node); at !== undefined; at = parents.get(at)) yield at
}

/** The function that `node` stands in; null at the top of a file. */
export function functionAround(parents: ReadonlyMap<Node, Node>, node: Node): Node | null {
  for (const around of ancestorsOf(parents, node)) if (isFunction(around)) return around
  return null
}

/** The statement that `node` is a part of, the innermost. */
export function statementAround(parents: ReadonlyMap<Node, Node>, node: Node): Node {
  let statement = node
  for (const around of ancestorsOf(parents, node)) {
    if (/^(?:Program|BlockStatement|StaticBlock|SwitchCase|TSModuleBlock)$/.test(around.type))
      return statement
    statement = around
  }
  return statement
}

export function isFunction(node: Node) {
  return (
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'ObjectMethod' ||
    node.type === 'ClassMethod' ||
    node.type === 'ClassPrivateMethod'
  )
}
