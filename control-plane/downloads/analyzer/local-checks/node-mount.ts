/**
 * Node applications, by their syntax tree: where `service-node` is mounted, and what on the same
 * application stands before it. A syntax tree does not run, so what it does not show is a warning:
 * the probe through the edge has the last word.
 */
import type { Node } from '@babel/types'
import { fail, pass, warn, type CheckResult } from '../../../../shared/integration/check-result.ts'
import { guardOf } from '../edits/wishes.ts'
import { isAdapterCall, isGuardCall } from '../edits/mounted-already.ts'
import { packageOf, sourcesWith } from '../edits/node-sources.ts'
import { keyOf } from '../syntax/bindings.ts'
import type { Source } from '../syntax/parse.ts'
import { lineOf, textOf } from '../syntax/places.ts'
import { bare, referenceOf } from '../syntax/references.ts'
import { ancestorsOf } from '../syntax/walk.ts'
import { earlierThan } from './earlier-answers.ts'
import { modeOf, packageFolder, type LookedAt } from './looked-at.ts'

const CHECK = 'middleware_mounted'
const PACKAGE = 'service-node'
const ADAPTER_METHODS = /\.\s*(?:express|fastify|koa|hono|nest|node|next|upgrade)\s*\(/

export async function nodeMount(at: LookedAt): Promise<CheckResult> {
  const { project, application, world } = at
  const folder = packageFolder(at)
  const { type } = await packageOf(project, { ...application, folder })
  const guard = guardOf({ mode: modeOf(world) })
  const importing = await sourcesWith(project, folder, type, /service-node/)
  const guards = importing.flatMap((source) =>
    source.nodes
      .filter((node) => isGuardCall(source, node))
      .map((node) => ({ source, node, name: nameOf(source, node) })),
  )
  const [first] = guards
  if (first === undefined) return notCalled(at, importing, guard)
  if (world.tenant !== null && !guards.some(({ name }) => name === guard))
    return fail(
      CHECK,
      `${placeOf(first)} calls ${first.name}(), but in ${modeOf(world)} mode it takes ${guard}().`,
      `Call ${guard}() instead, imported from ${PACKAGE}.`,
    )
  const users = [...importing, ...(await usersOf(at, importing, type))]
  const mounts = users.flatMap(mountsIn)
  if (mounts.length === 0)
    return fail(
      CHECK,
      `${placeOf(first)} makes the middleware, and nothing mounts it.`,
      `${lineFor(at)} // right behind the line that makes the application`,
    )
  return judgeMounts(at, mounts, first.name)
}

interface Mount {
  readonly source: Source
  /** `app.use(service.express())`, or the call that `service.node(listener)` stands in. */
  readonly call: Node
  /** The text of what it is mounted on: `app`; null where it wraps a listener. */
  readonly receiver: string | null
  /** The path that it is mounted at, if not everywhere. */
  readonly below: string | null
}

function notCalled(at: LookedAt, importing: readonly Source[], guard: string): CheckResult {
  const [source] = importing
  const where = source === undefined ? 'No file' : `${source.path} names ${PACKAGE}, but no file`
  return fail(
    CHECK,
    `${where} calls ${guard}() of ${PACKAGE}.`,
    `Run: service-analyzer apply. By hand: import { ${guard} } from '${PACKAGE}', and ${lineFor(at)}`,
  )
}

function nameOf(source: Source, call: Node): string {
  const reference = call.type === 'CallExpression' ? referenceOf(source, call.callee) : null
  return reference?.members[0] ?? 'verifyClaims'
}

const placeOf = ({ source, node }: { source: Source; node: Node }) =>
  `${source.path}:${lineOf(source, node)}`

/** Files that have the service from one of those that make it. */
async function usersOf(
  at: LookedAt,
  makers: readonly Source[],
  type: Source['modules'] | 'module' | undefined,
) {
  const packageType = type === 'module' || type === 'commonjs' ? type : undefined
  const using = await sourcesWith(at.project, packageFolder(at), packageType, ADAPTER_METHODS)
  return using.filter(({ path }) => makers.every((maker) => maker.path !== path))
}

function mountsIn(source: Source): Mount[] {
  return source.nodes.flatMap((node): Mount[] => {
    if (isExportedProxy(source, node)) return [{ source, call: node, receiver: null, below: null }]
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return []
    const at = node.arguments.findIndex((argument) => isMounted(source, argument))
    if (at === -1) return []
    const callee = bare(node.callee)
    const method = callee.type === 'MemberExpression' ? keyOf(callee.property) : null
    if (callee.type === 'MemberExpression' && /^(?:use|register)$/.test(method ?? '')) {
      const [path] = node.arguments
      const below =
        at > 0 && path?.type === 'StringLiteral' && !/^(?:\/?\*?|\/\*)$/.test(path.value)
      return [
        {
          source,
          call: node,
          receiver: textOf(source, callee.object),
          below: below ? path.value : null,
        },
      ]
    }
    return [{ source, call: node, receiver: null, below: null }]
  })
}

/** `export const proxy = service.next(NextResponse)` in proxy.ts; up to Next.js 15 `middleware`. */
function isExportedProxy(source: Source, node: Node): boolean {
  if (!/(?:^|\/)(?:proxy|middleware)\.[cm]?[jt]s$/.test(source.path)) return false
  if (node.type !== 'VariableDeclarator' || !node.init || node.id.type !== 'Identifier')
    return false
  return /^(?:proxy|middleware)$/.test(node.id.name) && isAdapterCall(source, node.init)
}

/** `service.express()`, or a name for it. */
function isMounted(source: Source, argument: Node): boolean {
  const node = bare(argument)
  if (isAdapterCall(source, node)) return isNoUpgrade(node)
  if (node.type !== 'Identifier') return false
  const values = source.bindings.resolve(node)?.values ?? []
  return values.some(
    ({ expression, members }) =>
      members.length === 0 && isAdapterCall(source, expression) && isNoUpgrade(bare(expression)),
  )
}

/** Of WebSockets alone: requests go past it. */
function isNoUpgrade(call: Node): boolean {
  if (call.type !== 'CallExpression' || call.callee.type !== 'MemberExpression') return false
  return keyOf(call.callee.property) !== 'upgrade'
}

function judgeMounts(at: LookedAt, mounts: readonly Mount[], guard: string): CheckResult {
  const everywhere = mounts.filter(({ below }) => below === null)
  const [partial] = mounts
  // a folder may hold several applications, each made in a file of its own
  const home = at.application.mount?.path
  const own = everywhere.filter(({ source }) => home === undefined || source.path === home)
  const whole = own.length > 0 ? own : everywhere
  const [mount] = whole
  if (mount === undefined)
    return fail(
      CHECK,
      `${place(partial)} mounts it below ${partial?.below ?? ''} alone: all other paths are not protected.`,
      `${lineFor(at)} // without a path`,
    )
  const condition = conditionAround(mount)
  const before = whole.flatMap(earlierThan).sort((a, b) => b.weight - a.weight)[0]
  if (before !== undefined && before.weight > 0) {
    const what = `${mount.source.path}:${before.line} ${before.text} stands before ${guard}() in line ${lineOf(mount.source, mount.call)}`
    const fix = `Move line ${lineOf(mount.source, mount.call)} right behind the line that makes ${mount.receiver ?? 'the application'}.`
    return before.weight > 1
      ? fail(CHECK, `${what}, so it answers without a sign-in.`, fix)
      : warn(CHECK, `${what}: what it answers is not protected.`, fix)
  }
  if (own.length === 0)
    return warn(
      CHECK,
      `${place(mount)} mounts ${guard}(), but this application is made in ${home ?? ''}, which does not.`,
      `If they are two: ${lineFor(at)} in ${home ?? ''}. The probe of the service tells for sure.`,
    )
  if (condition !== null)
    return warn(
      CHECK,
      `${place(mount)} mounts ${guard}() under a condition (line ${condition}).`,
      'Mount it always: before go-live it lets everybody pass anyway.',
    )
  return pass(CHECK, `${place(mount)} mounts ${guard}() before anything that answers.`)
}

const place = (mount: Mount | undefined) =>
  mount === undefined ? '' : `${mount.source.path}:${lineOf(mount.source, mount.call)}`

function conditionAround({ source, call }: Mount): number | null {
  for (const around of ancestorsOf(source.parents, call)) {
    if (/Function|ObjectMethod|ClassMethod|^Program$/.test(around.type)) return null
    if (/^(?:If|Switch)Statement$|^(?:Conditional|Logical)Expression$/.test(around.type))
      return lineOf(source, around)
  }
  return null
}

function lineFor({ application, world }: LookedAt): string {
  const guard = guardOf({ mode: modeOf(world) })
  switch (application.framework) {
    case 'fastify':
      return `await app.register(${guard}().fastify())`
    case 'koa':
      return `app.use(${guard}().koa())`
    case 'hono':
      return `app.use(${guard}().hono())`
    case 'nest':
      return `app.use(${guard}().nest())`
    case 'next':
    case 'node':
      return `createServer(${guard}().node(listener))`
    default:
      return `app.use(${guard}().express())`
  }
}
