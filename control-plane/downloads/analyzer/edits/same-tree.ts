/**
 * The last word on an edit: the new text is parsed, what was added is taken out of its tree, and what
 * is left has to be the old tree. So a missing semicolon, a directive that is none any more or an
 * expression that went on into our line never reaches a file.
 */
import type { Node } from '@babel/types'
import { parseSource, type PackageType, type Source } from '../syntax/parse.ts'
import { withChanges, type Change, type Changed } from './changes.ts'

/** The new text; or why it is not what it should be. */
export function applied(
  source: Source,
  changes: readonly Change[],
  packageType: PackageType,
): { readonly text: string } | { readonly problem: string } {
  const changed = withChanges(source.text, changes)
  const parsed = parseSource(source.path, changed.text, packageType)
  if ('problem' in parsed) return { problem: `after the change the file ${parsed.problem}` }
  try {
    const comparison = new Comparison(changed)
    const isSame = comparison.areSame(source.file.program, parsed.source.file.program)
    if (isSame && isExpected(source, changes, comparison, packageType))
      return { text: changed.text }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return { problem: 'the change would mean something else in this file' }
}

/** What came along is what was to be added, and nothing besides. */
function isExpected(
  source: Source,
  changes: readonly Change[],
  { statements, callees }: Comparison,
  packageType: PackageType,
): boolean {
  const inOrder = [...changes].sort((a, b) => placeOf(a) - placeOf(b))
  const expected = (kind: Change['kind'], code: (change: Change) => string) => {
    const text = inOrder.filter((change) => change.kind === kind).map(code)
    // inside an async function, so that `await` is one; an import has to stay outside
    const imports = text.join('\n').match(/^[ \t]*import .*$/gm) ?? []
    const rest = text.join('\n').replaceAll(/^[ \t]*import .*$/gm, '')
    const parsed = parseSource(
      source.path,
      `${imports.join('\n')}\nasync () => {\n${rest}\n}`,
      packageType,
    )
    return 'problem' in parsed ? undefined : parsed.source.file.program.body
  }
  const added = expected('statements', (change) =>
    change.kind === 'statements' ? change.text : '',
  )
  const wrapped = expected('wrapping', (change) =>
    change.kind === 'wrapping' ? change.callee : '',
  )
  const codeOf = (body: readonly Node[] | undefined): readonly Node[] => {
    const last = body?.at(-1)
    if (body === undefined || last?.type !== 'ExpressionStatement') return []
    const { expression } = last
    if (expression.type !== 'ArrowFunctionExpression' || expression.body.type !== 'BlockStatement')
      return []
    return [...body.slice(0, -1), ...expression.body.body]
  }
  const plain = new Comparison({ text: '', added: [] })
  return (
    plain.areSame(codeOf(added), statements) &&
    plain.areSame(
      codeOf(wrapped).map((node) => (node.type === 'ExpressionStatement' ? node.expression : node)),
      callees,
    )
  )
}

const placeOf = (change: Change) => (change.kind === 'statements' ? change.at : change.start)

/** Where something stands is not what it is. */
const ASIDE: ReadonlySet<string> = new Set([
  'start',
  'end',
  'loc',
  'range',
  'extra',
  'errors',
  'comments',
  'tokens',
])

class Comparison {
  readonly statements: Node[] = []
  readonly callees: Node[] = []
  readonly #changed: Changed

  constructor(changed: Changed) {
    this.#changed = changed
  }

  areSame(before: unknown, after: unknown): boolean {
    if (Array.isArray(before) && Array.isArray(after)) return this.#areSameLists(before, after)
    if (!isObject(before) || !isObject(after)) return Object.is(before, after)
    if (isNode(after) && isNode(before)) {
      const wrapped = this.#unwrapped(after)
      if (wrapped !== undefined) return this.areSame(before, wrapped)
    }
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    for (const key of keys)
      if (!ASIDE.has(key) && !this.areSame(before[key], after[key])) return false
    return true
  }

  #areSameLists(before: readonly unknown[], after: readonly unknown[]): boolean {
    const left: unknown[] = []
    for (const item of after)
      if (isNode(item) && this.#isAdded(item.start, item.end)) this.statements.push(item)
      else left.push(item)
    return (
      left.length === before.length &&
      before.every((item, index) => this.areSame(item, left[index]))
    )
  }

  /** What `service.node(…)` was put around. */
  #unwrapped(node: Node): Node | undefined {
    if (node.type !== 'CallExpression' || node.arguments.length !== 1) return undefined
    if (!this.#isAdded(node.callee.start, node.callee.end)) return undefined
    this.callees.push(node.callee)
    return node.arguments[0]
  }

  #isAdded(start: number | null | undefined, end: number | null | undefined): boolean {
    if (start == null || end == null) return false
    const { added, text } = this.#changed
    // `;[1].map(…)`: a semicolon that opened a line of theirs may end ours now
    return added.some(
      (range) =>
        range.start <= start && start < range.end && /^[\s;]*$/.test(text.slice(range.end, end)),
    )
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isNode(value: unknown): value is Node {
  return isObject(value) && typeof value['type'] === 'string'
}
