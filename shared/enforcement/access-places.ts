/**
 * Which rules does a path fall under? By the spelling that was decided on, its longest prefix of whole
 * segments; and where servers behind us may read another page in it, every place that any reading
 * names, so that a rule on `/admin` holds wherever a sealed `/admin` would (path.ts).
 */
import { LIMITS } from '../limits.ts'
import { isReadAlike, isUnder, judgeReadings } from './path.ts'
import { isReadInOrder, readAlone } from './read-alone.ts'
import {
  compareReading,
  isNamed,
  SHORT_NAME,
  stemOf,
  type PrefixComparison,
} from './sealed-segments.ts'

/** Nothing in it that any server reads in another way but for its case. */
const SIMPLE = /^(?:\/[A-Za-z0-9_@=+,$&'*-]+)*\/?$/
const AMBIGUOUS_NAME = /\/(?:_next|page-data)(?:\/|$)/i

interface Placed<Content> {
  /** As it was written, without a slash at its end; '' for everything. */
  readonly path: string
  readonly content: Content
}

export interface Places<Content> {
  /** The most specific place, where no other reading names another. */
  readonly place: Content | undefined
  /** All that have to be asked beside it, each for itself. */
  readonly others: ReadonlySet<Content>
}

export type PlaceFinder<Content> = (path: string) => Places<Content> | 'unreadable'

const NONE: ReadonlySet<never> = new Set()
const NONE_PASSED: ReadonlySet<number> = new Set()

/** Of prefixes that differ by more than case. */
export function compilePlaces<Content>(placed: readonly Placed<Content>[]): PlaceFinder<Content> {
  const root = new Node<Content>('')
  for (const one of placed) Node.add(root, one)
  return (path) => {
    const deepest = Node.deepest(root, path)
    if (isSimple(path) || (Node.endsAlike(root, path) && isReadInOrder(path))) {
      if (deepest === undefined) return { place: undefined, others: NONE }
      if (isUnder(path, deepest.path)) return { place: deepest.content, others: NONE }
    }
    const found = new Set<Node<Content>>()
    if (root.here !== undefined) found.add(root)
    const alone = readAlone(path)
    const judge = (reading: string) =>
      compareReading(reading, (named, passed) => new Collecting(root, found, named, passed))
    if (alone !== undefined) {
      for (const named of alone) {
        const collecting = new Collecting(root, found, named, NONE_PASSED)
        collecting.isUnderAny(0)
        if (collecting.isGivenUp) return 'unreadable'
      }
    } else if (judgeReadings(path, judge) === 'unreadable') return 'unreadable'
    // what is written exactly so, and read alike by all, needs nobody above it to be asked as well
    const isExact =
      deepest !== undefined &&
      isUnder(path, deepest.path) &&
      (alone !== undefined || isReadAlike(path, deepest.path))
    const others = new Set<Content>()
    for (const { here } of found)
      if (here !== undefined && !(isExact && isAbove(here.path, deepest.path)))
        others.add(here.content)
    return { place: isExact ? deepest.content : undefined, others }
  }
}

const isSimple = (path: string) => SIMPLE.test(path) && !AMBIGUOUS_NAME.test(path)

const isAbove = (prefix: string, path: string) => isUnder(path.toLowerCase(), prefix.toLowerCase())

class Node<Content> {
  /** In lower case, as readings are. */
  readonly name: string
  here: Placed<Content> | undefined
  readonly #children = new Map<string, Node<Content>>()
  /** `admin.php` is found by `admin`. */
  readonly #byStem = new Map<string, Node<Content>[]>()

  constructor(name: string) {
    this.name = name
  }

  static add<Content>(root: Node<Content>, placed: Placed<Content>): void {
    let node = root
    for (const name of placed.path.toLowerCase().split('/').slice(1)) node = node.#child(name)
    node.here = placed
  }

  #child(name: string): Node<Content> {
    const known = this.#children.get(name)
    if (known !== undefined) return known
    const child = new Node<Content>(name)
    this.#children.set(name, child)
    const stem = stemOf(name)
    this.#byStem.set(stem, [...(this.#byStem.get(stem) ?? []), child])
    return child
  }

  /** By the letters alone: of `/a/b/c` with `/a` and `/a/b` the second. */
  static deepest<Content>(root: Node<Content>, path: string): Placed<Content> | undefined {
    const lowered = path.toLowerCase()
    let node: Node<Content> | undefined = root
    let { here } = root
    for (let from = 1; node !== undefined && from <= lowered.length;) {
      const slash = lowered.indexOf('/', from)
      const to = slash === -1 ? lowered.length : slash
      node = node.#children.get(lowered.slice(from, to))
      here = node?.here ?? here
      from = to + 1
    }
    return here
  }

  /** Whatever its odd segments are read as: no place has such a name, as none has one further down. */
  static endsAlike<Content>(root: Node<Content>, path: string): boolean {
    const lowered = path.toLowerCase()
    let node = root
    for (let from = 1; node.#children.size > 0 && from < lowered.length;) {
      const slash = lowered.indexOf('/', from)
      const to = slash === -1 ? lowered.length : slash
      const segment = lowered.slice(from, to)
      const child = node.#children.get(segment)
      if (segment.includes('%')) return false
      if (segment.includes('.') && node.#byStem.has(stemOf(segment))) return false
      if (child === undefined) return true
      node = child
      from = to + 1
    }
    return true
  }

  /** Which of the next segments of prefixes `segment` may stand for. */
  candidates(segment: string): Iterable<Node<Content>> {
    // a short name is found by nothing but looking at each
    if (SHORT_NAME.test(segment)) return this.#children.values()
    return this.#byStem.get(stemOf(segment)) ?? []
  }
}

class Collecting<Content> implements PrefixComparison {
  readonly #root: Node<Content>
  readonly #found: Set<Node<Content>>
  readonly #named: readonly string[]
  readonly #passed: ReadonlySet<number>
  #stepsLeft: number = LIMITS.pathComparisonsMax

  constructor(
    root: Node<Content>,
    found: Set<Node<Content>>,
    named: readonly string[],
    passed: ReadonlySet<number>,
  ) {
    this.#root = root
    this.#found = found
    this.#named = named
    this.#passed = passed
  }

  get isGivenUp(): boolean {
    return this.#stepsLeft < 0 || this.#found.size > LIMITS.pathPlacesMax
  }

  /** Never says so: whoever found one looks for the others. */
  isUnderAny(first: number): boolean {
    this.#below(this.#root, first)
    return false
  }

  #below(node: Node<Content>, first: number): void {
    for (let at = first; at < this.#named.length; at++) {
      for (const child of node.candidates(this.#named[at]!)) {
        this.#stepsLeft--
        if (this.isGivenUp) return
        if (!isNamed(this.#named, at, child.name)) continue
        if (child.here !== undefined) this.#found.add(child)
        this.#below(child, at + 1)
      }
      if (!this.#passed.has(at)) return
    }
  }
}
