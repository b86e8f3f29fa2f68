/**
 * The last word on an edit: the new text is parsed, what was added is taken out of its tree, and what
 * is left has to be the old tree. So a missing semicolon, a directive that is none any more or an
 * expression that went on into our line never reaches a file.
 */
import type { Node } from '@babel/types'
import { parseSource, type PackageType, type Source } from '../syntax/parse.ts'
import { endOf, startOf } from '../syntax/places.ts'
import { placeOf, withChanges, type Change, type Changed } from './changes.ts'

/** The new text; or why it is not what it should be. */
export function applied(
  source: Source,
  changes: readonly Change[],
  packageType: PackageType,
): { readonly text: string } | { readonly problem: string } {
  const changed = withChanges(source.text, changes)
  const parsed = parseSource(source.path, changed.text, packageType)
  if ('problem' in parsed) return { problem: `with the change, the file ${parsed.problem}` }
  try {
    const comparison = new Comparison(changed)
    const isSame = comparison.areSame(source.file.program, parsed.source.file.program)
    // what came along is what was to be added, and nothing besides
    const wanted = [...changes].sort((a, b) => placeOf(a) - placeOf(b)).map(codeOf)
    if (isSame && wanted.join('') === comparison.addedCode()) return { text: changed.text }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return { problem: 'the change would alter other code in this file' }
}

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

/** Without what stands in no tree. */
const plain = (code: string) => code.replaceAll(/\/\/.*$|[\s;]/gm, '')

const codeOf = (change: Change) => plain('callee' in change ? change.callee : change.text)

class Comparison {
  /** What was taken out: where it began, and where it ended. */
  readonly #taken: { readonly start: number; readonly end: number }[] = []
  readonly #changed: Changed

  constructor(changed: Changed) {
    this.#changed = changed
  }

  addedCode(): string {
    const { text } = this.#changed
    const inOrder = this.#taken.toSorted((a, b) => a.start - b.start)
    return inOrder.map(({ start, end }) => plain(text.slice(start, end))).join('')
  }

  areSame(before: unknown, after: unknown): boolean {
    if (Array.isArray(before) && Array.isArray(after)) return this.#areSameLists(before, after)
    if (!isObject(before) || !isObject(after)) return Object.is(before, after)
    if (isNode(after) && isNode(before)) {
      const inner = this.#withoutAdded(after)
      if (inner !== undefined) return this.areSame(before, inner)
    }
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    for (const key of keys)
      if (!ASIDE.has(key) && !this.areSame(before[key], after[key])) return false
    return true
  }

  #areSameLists(before: readonly unknown[], after: readonly unknown[]): boolean {
    const left: unknown[] = []
    for (const item of after)
      if (isNode(item) && this.#isAdded(item)) this.#take(startOf(item), endOf(item))
      else left.push(item)
    return (
      left.length === before.length &&
      before.every((item, index) => this.areSame(item, left[index]))
    )
  }

  /** What `service.node(…)` was put around, and what `.use(…)` was put behind. */
  #withoutAdded(node: Node): Node | undefined {
    if (node.type !== 'CallExpression') return undefined
    const { callee, arguments: given } = node
    if (this.#isAdded(callee) && given.length === 1) {
      this.#take(startOf(callee), endOf(callee))
      return given[0]
    }
    if (callee.type !== 'MemberExpression' || !this.#isAdded(callee.property)) return undefined
    this.#take(endOf(callee.object), endOf(node))
    return callee.object
  }

  #take(start: number, end: number) {
    this.#taken.push({ start, end })
  }

  #isAdded({ start, end }: Node): boolean {
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
