/**
 * What an expression comes to where nobody tells the program anything: every value that the code itself
 * gives it, in the order in which they count, and between them what only the outside knows.
 */
import type {
  CallExpression,
  Identifier,
  Node,
  ObjectExpression,
  OptionalCallExpression,
} from '@babel/types'
import { keyOf, methodCall, namesOf } from '../../syntax/bindings.ts'
import { oncePer } from '../../syntax/once-per.ts'
import type { Source } from '../../syntax/parse.ts'
import { bare } from '../../syntax/references.ts'
import { literal } from '../../syntax/texts.ts'
import { functionAround, isFunction } from '../../syntax/walk.ts'
import type { Step } from './callbacks.ts'
import { decided } from './decided.ts'
import type { Spot } from './codebase.ts'
import { EACH } from './loops.ts'
import { indexOf } from './reach-index.ts'
import { distinct, firstOf, open, orElse, wayTo, type Outcome, type Value } from './outcomes.ts'
import type { Tracer } from './trace.ts'

type Call = CallExpression | OptionalCallExpression

/** The call that led into a function, and so what its parameters are. */
interface Frame {
  readonly called: Node
  readonly call: Call
  readonly source: Source
  readonly outer: Frame | null
}

const DEPTH_MAX = 60
const STEPS_MAX = 4000
const OUTCOMES_MAX = 50
const NEXT_MAX = 10

export function outcomesOf(
  { source, node }: Spot,
  tracer: Tracer,
  members: readonly string[] = [],
): readonly Outcome[] {
  const known = knownBy(tracer)
  const way = members.join('.')
  const kept = known.get(node)?.get(way)
  if (kept !== undefined) return kept
  const found = createEvaluation(tracer)({ source, node, members }, null)
  known.set(node, (known.get(node) ?? new Map<string, readonly Outcome[]>()).set(way, found))
  return found
}

const knownBy = oncePer((_: Tracer) => new Map<Node, Map<string, readonly Outcome[]>>())

function createEvaluation(tracer: Tracer) {
  let stepsLeft = STEPS_MAX
  let depth = 0
  const underWay = new Map<Node, Set<string>>()

  function evaluate(step: Step, frame: Frame | null): Outcome[] {
    const at = { ...step, node: bare(step.node) }
    const way = at.members.join('.')
    const ways = underWay.get(at.node) ?? new Set<string>()
    if (depth >= DEPTH_MAX || --stepsLeft < 0 || ways.has(way)) return []
    underWay.set(at.node, ways.add(way))
    depth++
    const found = valuesOf(at, frame)
    depth--
    ways.delete(way)
    return distinct(found).slice(0, OUTCOMES_MAX)
  }

  function valuesOf(at: Step, frame: Frame | null): Outcome[] {
    const { source, node, members } = at
    const inner = (node: Node, more = members) => evaluate({ source, node, members: more }, frame)
    switch (node.type) {
      case 'LogicalExpression': {
        if (node.operator === '&&') return inner(node.right)
        const first = inner(node.left).filter(
          ({ value }) => node.operator === '??' || value === null || Boolean(value),
        )
        return orElse(first, () => inner(node.right))
      }
      case 'ConditionalExpression': {
        const is = decided(node.test, (node) => evaluate({ source, node, members: [] }, frame))
        if (is !== null) return inner(is ? node.consequent : node.alternate)
        return [...inner(node.alternate), ...inner(node.consequent)]
      }
      case 'AssignmentExpression':
        return inner(node.right)
      case 'SpreadElement':
        // listen(...target)
        return inner(node.argument, ['0', ...members])
      case 'CallExpression':
      case 'OptionalCallExpression':
        return ofCall(at, node, frame)
      case 'Identifier': {
        if (node.name === 'undefined') return []
        const passed = ofParameter(at, node, frame)
        if (passed !== null) return passed
        break
      }
      case 'MemberExpression': {
        // settings[kind || 'development']
        const isWorkedOut = node.computed && !/Literal$/.test(node.property.type)
        const name = isWorkedOut ? firstOf(inner(node.property, [])) : null
        if (name !== null) return inner(node.object, [String(name), ...members])
        break
      }
      case 'ObjectExpression':
        if (members.length > 0 && members[0] !== EACH) return ofObject(node, at, frame)
        break
      default:
        if (members.length > 0) break
        if (node.type === 'NullLiteral') return []
        return plain(source, node, inner) ?? further(at, frame)
    }
    return further(at, frame)
  }

  function further(at: Step, frame: Frame | null): Outcome[] {
    const next = tracer.next(at) ?? []
    return next.length === 0 ? [open(at)] : next.flatMap((step) => evaluate(step, frame))
  }

  /** What stands last in an object counts, and what a spread may not have is asked further on. */
  function ofObject(
    object: ObjectExpression,
    { source, members }: Step,
    frame: Frame | null,
  ): Outcome[] {
    const [name, ...rest] = members
    let found: Outcome[] = []
    for (const property of object.properties.toReversed()) {
      const isSpread = property.type === 'SpreadElement'
      if (!isSpread && (property.computed || keyOf(property.key) !== name)) continue
      const [node, way] = isSpread
        ? [property.argument, members]
        : [property.type === 'ObjectMethod' ? property : property.value, rest]
      found = orElse(found, () => evaluate({ source, node, members: way }, frame))
      if (!isSpread) break
    }
    return found.length > 0 ? found : [{ at: { source, node: object }, value: null, way: members }]
  }

  /** Numbers, texts and what is made of them; null: something else. */
  function plain(source: Source, node: Node, inner: (node: Node) => Outcome[]): Outcome[] | null {
    const own = (value: Value): Outcome => ({ at: { source, node }, value, way: [] })
    switch (node.type) {
      case 'NumericLiteral':
      case 'StringLiteral':
      case 'BooleanLiteral':
        return [own(node.value)]
      case 'TemplateLiteral': {
        const parts = node.expressions.map((one) => firstOf(inner(one)))
        if (parts.some((part) => part === null)) return []
        const text = node.quasis.map(
          ({ value }, index) => (value.cooked ?? '') + String(parts[index] ?? ''),
        )
        return [own(text.join(''))]
      }
      case 'BinaryExpression': {
        if (node.operator === '|') return [...inner(node.left), ...inner(node.right)]
        if (node.operator !== '+') return null
        const [a, b] = [firstOf(inner(node.left)), firstOf(inner(node.right))]
        if (a === null || b === null) return []
        if (typeof a !== 'number' || typeof b !== 'number') return [own(`${a}${b}`)]
        // the next one, where a first is taken
        return Math.min(a, b) <= NEXT_MAX ? [] : [own(a + b)]
      }
      case 'UnaryExpression':
        return node.operator === '+' || node.operator === '~' ? inner(node.argument) : null
      default:
        return null
    }
  }

  /** Of the function that was called on the way here: what it was given there, then its default. */
  function ofParameter(at: Step, use: Identifier, frame: Frame | null): Outcome[] | null {
    const { source, members } = at
    const binding = source.bindings.resolve(use)
    if (binding?.kind !== 'parameter') return null
    const around = functionAround(source.parents, binding.node)
    let within = frame
    while (within !== null && within.called !== around) within = within.outer
    if (within === null || around === null || !('params' in around)) {
      const custom = new Set(binding.values.map(({ expression }) => expression))
      const next = tracer.next(at) ?? []
      const each = (steps: readonly Step[]) => steps.flatMap((step) => evaluate(step, frame))
      const found = each(next.filter(({ node }) => !custom.has(node)))
      const rest = next.filter(({ node }) => custom.has(node))
      if (next.length > 0) return orElse(found, () => each(rest))
      const free = around === null ? [] : freePortFor(source, around)
      // whether it is free is not said here
      return [open(at), ...free.flatMap((node) => evaluate({ source, node, members }, frame))]
    }
    const { call, source: from, outer } = within
    const given = call.arguments[(around.params as Node[]).indexOf(binding.node)]
    let found: Outcome[] = []
    for (const { name, value } of namesOf(binding.node, binding.node)) {
      if (name !== use.name || value === undefined) continue
      const isGiven = value.expression === binding.node
      const way = [...value.members, ...members]
      found = orElse(found, () =>
        !isGiven
          ? evaluate({ source, node: value.expression, members }, frame)
          : given
            ? evaluate({ source: from, node: given, members: way }, outer)
            : [],
      )
    }
    // port = port || 3000
    const later = binding.values.filter(({ expression }) =>
      isAssigned(source, expression, binding.node),
    )
    return orElse(found, () =>
      later.flatMap(({ expression, members: inner }) =>
        evaluate({ source, node: expression, members: [...inner, ...members] }, frame),
      ),
    )
  }

  function ofCall(at: Step, node: Call, frame: Frame | null): Outcome[] {
    const { source, members } = at
    const inner = (node: Node, more = members) => evaluate({ source, node, members: more }, frame)
    const callee = bare(node.callee)
    const isMember =
      callee.type === 'MemberExpression' || callee.type === 'OptionalMemberExpression'
    const name = keyOf(isMember ? callee.property : callee) ?? ''
    const [first, second] = node.arguments
    const returned = ofFunctions(at, node, frame)
    if (returned.some(({ value }) => value !== null)) return returned
    const asked = literal(first)
    if (isMember && asked !== null && /^(?:get\w*|value|has|param)$/.test(name))
      return ofSetting(at, callee.object, asked, second, frame)
    if (asked !== null && second && returned.length === 0 && /port$/i.test(asked))
      return [{ at, value: null, way: [asked] }, ...inner(second)]
    if (isMember && PICKS.test(name)) return inner(callee.object, [EACH, ...members])
    if (isMember && KEEPS.test(name) && members.length > 0)
      return inner(callee.object, [EACH, ...members.slice(1)])
    if (members.length === 0) {
      if (isMember && SAME.test(name)) return inner(callee.object)
      if (name === 'default' && first) return inner(first)
      // Number(x), and getPort({ port: 3000 }) of a package
      if (first && CONVERTS.test(name)) {
        const object = bare(first)
        const found = inner(first, object.type === 'ObjectExpression' ? ['port'] : [])
        if (found.length > 0) return found
      }
    }
    return returned.length > 0 ? returned : further(at, frame)
  }

  function ofFunctions(at: Step, call: Call, frame: Frame | null): Outcome[] {
    const { source, members } = at
    return tracer.values({ source, node: call.callee }).flatMap((called) => {
      if (!isFunction(called.node)) return []
      const into = { called: called.node, call, source, outer: frame }
      return (indexOf(called.source).returns.get(called.node) ?? []).flatMap((node) =>
        evaluate({ source: called.source, node, members }, into),
      )
    })
  }

  /** `config.get('server.port')`, `app.get('port')` after `app.set('port', …)`, `get('PORT', 3000)`. */
  function ofSetting(
    at: Step,
    object: Node,
    asked: string,
    custom: Node | undefined,
    frame: Frame | null,
  ): Outcome[] {
    const { source, members } = at
    const way = /^[\w.:-]{1,60}$/.test(asked) ? asked.split(/[.:]/) : [asked]
    const set = settings(source, asked).flatMap((node) =>
      evaluate({ source, node, members }, frame),
    )
    if (set.length > 0) return set
    const found = evaluate({ source, node: object, members: [...way, ...members] }, frame)
    if (found.some(({ value }) => value !== null)) return found
    const rest = custom ? evaluate({ source, node: custom, members }, frame) : []
    return [{ at, value: null, way: [...wayTo(object), ...way, ...members] }, ...rest]
  }

  return evaluate
}

function isAssigned(source: Source, expression: Node, parameter: Node): boolean {
  const parent = source.parents.get(expression)
  return parent?.type === 'AssignmentExpression' && parent !== parameter
}

/** One of a list, and lists of the same elements. */
const PICKS = /^(?:find|shift|pop|at)$/
const KEEPS = /^(?:map|filter|flat|concat|slice)$/
const SAME = /^(?:toString|trim|valueOf)$/
const CONVERTS = /port|^(?:Number|String|parse(?:Int|Float)|int|toNumber|toInteger|trunc|floor)$/i

/** `portfinder.basePort = 8080; portfinder.getPort((error, port) => …)`: the first that is tried. */
function freePortFor(source: Source, callback: Node): readonly Node[] {
  const call = source.parents.get(callback)
  const called = call && methodCall(call)
  if (!called || !/^getPort/.test(called.name ?? '')) return []
  return indexOf(source).writes.get(`${keyOf(called.object)}.basePort`) ?? []
}

/** What `app.set('port', …)` says in this file, of whatever it is a setting. */
function settings(source: Source, name: string): Node[] {
  return (indexOf(source).calls.get('set') ?? []).flatMap(({ arguments: [key, value] }) =>
    value && literal(key) === name ? [value] : [],
  )
}
