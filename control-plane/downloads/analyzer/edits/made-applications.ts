/** Where a file makes applications, under which name each is known, and where the name can be used first. */
import type { ClassPrivateProperty, ClassProperty, Node } from '@babel/types'
import { makingAt } from '../detection/node/makings.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { endOf, textOf } from '../syntax/places.ts'
import { bare } from '../syntax/references.ts'
import { ancestorsOf, isFunction } from '../syntax/walk.ts'
import type { MountedFramework } from './mounted-frameworks.ts'

export interface MadeApplication {
  /** `express()` */
  readonly call: Node
  /** `app`, `this.app` */
  readonly receiver: string
  /** The binding's own identifier where there is one. */
  readonly name: Node | null
  /** Block, program or body of a constructor that the lines are added to. */
  readonly block: Node
  /** They follow what ends here, on lines of their own; null: the block's own opening brace. */
  readonly behind: Node
  readonly behindEnd: number
  /** What the lines are indented like; null: like the block's first statement. */
  readonly isFirstOfBlock: boolean
}

export type Making =
  | { readonly call: Node; readonly made: MadeApplication }
  /** It has no name of its own, and may be a link of a chain: `express().use(…)`. */
  | { readonly call: Node; readonly isChained: true }
  /** Made in a way that leaves no sure place. */
  | { readonly call: Node; readonly problem: string }

export function applicationsIn(source: Source, framework: MountedFramework): Making[] {
  return source.nodes
    .filter((node) => isMaking(source, framework, node))
    .map((call): Making => {
      if (makingAt(source, call)?.isRouted) return { call, problem: IS_ROUTED }
      if (framework.isConstructed && call.type !== 'NewExpression') return { call, problem: IS_OLD }
      const found = follow(source, framework, call)
      if (typeof found !== 'string') return { call, made: found }
      if (loopAround(source, call)) return { call, problem: IN_A_LOOP }
      return framework.isChained && found !== UNDER_A_CONDITION
        ? { call, isChained: true }
        : { call, problem: found }
    })
}

function isMaking(source: Source, { name, isConstructed }: MountedFramework, node: Node): boolean {
  const isCalled = node.type === 'CallExpression'
  if (!isCalled && !(isConstructed && node.type === 'NewExpression')) return false
  const making = makingAt(source, node)
  return making?.framework === name && making.kind === 'application'
}

/** From `express()` outwards, to the statement that gives it a name. */
function follow(source: Source, framework: MountedFramework, call: Node): MadeApplication | string {
  const targets: Node[] = []
  let node = call
  let isAwaited = false
  for (const around of ancestorsOf(source.parents, call)) {
    switch (around.type) {
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
      case 'TSTypeAssertion':
        break
      case 'AwaitExpression':
        isAwaited = true
        break
      case 'MemberExpression':
        // fastify().withTypeProvider() is the same instance
        if (around.object !== node || !framework.sameBehind.includes(keyOf(around.property) ?? ''))
          return 'the application is used before it has a name'
        break
      case 'CallExpression':
        if (around.callee !== node) return 'the application is passed to a function first'
        if (node.type !== 'MemberExpression') return 'the application is used before it has a name'
        break
      case 'AssignmentExpression':
        if (around.operator !== '=' || around.right !== node) return UNDER_A_CONDITION
        targets.push(around.left)
        break
      case 'VariableDeclarator':
        if (around.id.type !== 'Identifier') return 'its name comes from destructuring'
        targets.push(around.id)
        break
      case 'VariableDeclaration':
        if (framework.isAwaited && !isAwaited) return 'it is not awaited where it is created'
        return ofDeclaration(source, around, targets, call)
      case 'ExpressionStatement':
        if (framework.isAwaited && !isAwaited) return 'it is not awaited where it is created'
        return ofStatement(source, around, targets, call, endOf(around))
      case 'ClassProperty':
      case 'ClassPrivateProperty':
        return ofProperty(source, around, node, call)
      case 'LogicalExpression':
      case 'ConditionalExpression':
      case 'AssignmentPattern':
        return UNDER_A_CONDITION
      default:
        return NO_NAME
    }
    node = around
  }
  return NO_NAME
}

function ofDeclaration(
  source: Source,
  declaration: Node & { type: 'VariableDeclaration' },
  targets: readonly Node[],
  call: Node,
): MadeApplication | string {
  const last = declaration.declarations.at(-1)
  const own = declaration.declarations.findIndex(({ init }) => init && contains(init, call))
  const receiver = targets.at(-1)
  if (last === undefined || receiver?.type !== 'Identifier') return NO_NAME
  for (const { init } of declaration.declarations.slice(own + 1))
    if (init && isUsedBy(source, receiver.name, init))
      return 'it is already used in the same declaration'
  const parent = source.parents.get(declaration)
  const statement = parent?.type === 'ExportNamedDeclaration' ? parent : declaration
  // a `;` on the next line belongs to that line
  const isOnLineBelow = /\n/.test(source.text.slice(endOf(last), endOf(statement)))
  return ofStatement(
    source,
    statement,
    targets,
    call,
    isOnLineBelow ? endOf(last) : endOf(statement),
  )
}

function ofStatement(
  source: Source,
  statement: Node,
  targets: readonly Node[],
  call: Node,
  end: number,
): MadeApplication | string {
  if (dependsOnItself(source, statement, targets)) return UNDER_A_CONDITION
  const block = source.parents.get(statement)
  if (block?.type !== 'Program' && block?.type !== 'BlockStatement')
    return 'there is no room for another line where it is created'
  if (loopAround(source, statement)) return IN_A_LOOP
  const target =
    targets.findLast(({ type }) => type === 'Identifier') ?? targets.find(isPlainMember)
  if (target === undefined) return NO_NAME
  return {
    call,
    // an identifier's own text has its type in it
    receiver: target.type === 'Identifier' ? target.name : textOf(source, target),
    name: target.type === 'Identifier' ? target : null,
    block,
    behind: statement,
    behindEnd: end,
    isFirstOfBlock: false,
  }
}

/** Fields are there before the first line of the constructor, or behind its `super()`. */
function ofProperty(
  source: Source,
  property: ClassProperty | ClassPrivateProperty,
  node: Node,
  call: Node,
): MadeApplication | string {
  const body = source.parents.get(property)
  const isComputed = property.type === 'ClassProperty' && property.computed
  if (property.value !== node || property.static || isComputed || body?.type !== 'ClassBody')
    return NO_NAME
  const receiver = `this.${textOf(source, property.key)}`
  for (const other of body.body)
    if (other !== property && /^Class(?:Private|Accessor)?Property$/.test(other.type))
      if (compact(textOf(source, other)).includes(`${receiver}.`))
        return 'another field of its class already uses it'
  const made = body.body.find(
    (member) => member.type === 'ClassMethod' && member.kind === 'constructor',
  )
  if (made?.type !== 'ClassMethod') return 'its class has no constructor'
  const [first] = made.body.body
  const isDerived = (source.parents.get(body) as { superClass?: unknown } | undefined)?.superClass
  const isSuper =
    first?.type === 'ExpressionStatement' &&
    first.expression.type === 'CallExpression' &&
    first.expression.callee.type === 'Super'
  if (isDerived && !isSuper) return 'its constructor does not start with super()'
  return {
    call,
    receiver,
    name: null,
    block: made.body,
    behind: isSuper ? first : made.body,
    behindEnd: isSuper ? endOf(first) : (made.body.start ?? 0) + 1,
    isFirstOfBlock: !isSuper,
  }
}

/** The other way it was made elsewhere, and would stay open. */
const UNDER_A_CONDITION = 'it is only created under a condition'
const NO_NAME = 'it has no name where it is created'
const IS_ROUTED = 'its routes are created with it, and would come first'
const IS_OLD =
  'it is created without new, as in Koa 1, which only takes generators and cannot run the middleware'
const IN_A_LOOP = 'it is created in a loop'

/** `if (!app) app = express()`: the other way it is there already, and was made elsewhere. */
function dependsOnItself(source: Source, statement: Node, targets: readonly Node[]): boolean {
  const names = targets.map((target) => compact(textOf(source, target)))
  for (const around of ancestorsOf(source.parents, statement)) {
    if (isFunction(around)) return false
    if (around.type !== 'IfStatement') continue
    const asked = source.nodes.some(
      (node) => contains(around.test, node) && names.includes(compact(textOf(source, node))),
    )
    if (asked) return true
  }
  return false
}

function loopAround(source: Source, node: Node): boolean {
  for (const around of ancestorsOf(source.parents, node)) {
    if (isFunction(around)) return false
    if (/^(?:For\w*|While|DoWhile)Statement$/.test(around.type)) return true
  }
  return false
}

export function contains(outer: Node, inner: Node): boolean {
  return (outer.start ?? 0) <= (inner.start ?? 0) && (inner.end ?? 0) <= (outer.end ?? 0)
}

/** `app.use(…)`, `require('./routes')(app)` and the like within `where`; a server only waits with it. */
function isUsedBy(source: Source, name: string, where: Node): boolean {
  return source.nodes.some((node) => {
    if (node.type !== 'Identifier' || node.name !== name || !contains(where, node)) return false
    const parent = source.parents.get(node)
    if (parent?.type === 'MemberExpression') return parent.object === node
    if (parent?.type !== 'CallExpression' && parent?.type !== 'NewExpression') return false
    const callee = bare(parent.callee)
    const called = callee.type === 'MemberExpression' ? keyOf(callee.property) : null
    const own = callee.type === 'Identifier' ? callee.name : called
    return parent.callee === node || !/^(?:create(?:Secure)?Server|Server)$/.test(own ?? '')
  })
}

function isPlainMember(node: Node): boolean {
  if (node.type === 'ThisExpression' || node.type === 'Identifier') return true
  return (
    node.type === 'MemberExpression' &&
    !node.computed &&
    (node.property.type === 'Identifier' || node.property.type === 'PrivateName') &&
    isPlainMember(node.object)
  )
}

export const compact = (text: string) => text.replaceAll(/\s+/g, '')
