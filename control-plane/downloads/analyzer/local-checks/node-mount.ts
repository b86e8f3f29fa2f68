/**
 * Node applications, by their syntax tree: where `service-node` is mounted, and what on the same
 * application stands before it. A syntax tree does not run, so what it does not show is a warning:
 * the probe through the edge has the last word.
 */
import type { Node } from '@babel/types'
import { type CheckResult, resultsOf } from '../../../../shared/integration/check-result.ts'
import { builtStart } from '../detection/node/built-start.ts'
import { PACKAGE } from '../edits/import-line.ts'
import { guardOf } from '../edits/wishes.ts'
import { isGuardCall } from '../edits/mounted-already.ts'
import { OPEN_MARK } from '../edits/open-on-purpose.ts'
import { packageOf, sourcesWith } from '../edits/node-sources.ts'
import type { Source } from '../syntax/parse.ts'
import { lineOf, textOf } from '../syntax/places.ts'
import { referenceOf } from '../syntax/references.ts'
import { ancestorsOf } from '../syntax/walk.ts'
import { askApplication } from './asked-locally.ts'
import { carriedRoutes, type CarriesRoutes } from './carried-routes.ts'
import { earlierThan, type Earlier } from './earlier-answers.ts'
import { mountsIn, type Mount } from './found-mounts.ts'
import { unguardedOnPurpose } from './unguarded.ts'
import { lineFor } from './line-for.ts'
import { packageFolder, type LookedAt } from './looked-at.ts'
import { makingsBehind } from './made-here.ts'
import { whenMounted, type When } from './when-mounted.ts'

const { fail, pass, warn } = resultsOf('middleware_mounted')
const ADAPTER_METHODS = /\.\s*(?:express|fastify|koa|hono|nest|node|next|upgrade)\s*\(/

export async function nodeMount(at: LookedAt): Promise<CheckResult> {
  const { project, application, world } = at
  const folder = packageFolder(at)
  const { type } = await packageOf(project, { ...application, folder })
  const { mode } = world.tenant
  const guard = guardOf({ mode })
  const importing = await sourcesWith(project, folder, type, /service-node/)
  const guards = importing.flatMap((source) =>
    source.nodes
      .filter((node) => isGuardCall(source, node))
      .map((node) => ({ source, node, name: nameOf(source, node) })),
  )
  const [first] = guards
  if (first === undefined) return notCalled(at, importing, guard)
  if (!guards.some(({ name }) => name === guard))
    return fail(
      `${placeOf(first)} calls ${first.name}(), but ${mode} mode needs ${guard}().`,
      `Call ${guard}() instead, imported from ${PACKAGE}.`,
    )
  // files that have the service from one of those that make it
  const using = await sourcesWith(project, folder, type, ADAPTER_METHODS)
  const users = using.filter(({ path }) => importing.every((maker) => maker.path !== path))
  const mounts = [...importing, ...users].flatMap(mountsIn)
  if (mounts.length === 0)
    return fail(
      `${placeOf(first)} creates the middleware, but nothing mounts it.`,
      `${lineFor(at.world.tenant, at.application.framework)} // right after the line that creates the application`,
    )
  const judged = await judgeMounts(at, mounts, first.name)
  return judged.status === 'pass' ? ((await oldBuild(at)) ?? judged) : judged
}

/** The code is right, and what runs on this machine was built of older code. */
async function oldBuild(at: LookedAt): Promise<CheckResult | null> {
  const built = await builtStart(at.project, at.application)
  const answer = built === null ? null : await askApplication(at, at.world.tenant.health, PROBE)
  if (built === null || answer === null || answer.isGuarded) return null
  return fail(
    `The code mounts the middleware, but ${answer.url} answers without it: ${built.file} was built before.`,
    `${built.build ?? 'Build the application'}, restart it, and run: service-analyzer verify`,
  )
}

/** Unsigned: the middleware says who it is, and refuses it. */
const PROBE = { 'x-service-probe': 'verify' }

function notCalled(at: LookedAt, importing: readonly Source[], guard: string): CheckResult {
  const [source] = importing
  const where = source === undefined ? 'No file' : `${source.path} mentions ${PACKAGE}, but no file`
  const isCommonJs = (source?.modules ?? at.application.modules) === 'commonjs'
  const asked = isCommonJs
    ? `const { ${guard} } = require('${PACKAGE}')`
    : `import { ${guard} } from '${PACKAGE}'`
  return fail(
    `${where} calls ${guard}() of ${PACKAGE}.`,
    `Run: service-analyzer apply. To do it yourself: ${asked}, and ${lineFor(at.world.tenant, at.application.framework)}`,
  )
}

function nameOf(source: Source, call: Node): string {
  const reference = call.type === 'CallExpression' ? referenceOf(source, call.callee) : null
  return reference?.members[0] ?? 'verifyClaims'
}

const placeOf = ({ source, node }: { source: Source; node: Node }) =>
  `${source.path}:${lineOf(source, node)}`

async function judgeMounts(
  at: LookedAt,
  mounts: readonly Mount[],
  guard: string,
): Promise<CheckResult> {
  const everywhere = mounts.filter(({ limit }) => limit === null)
  // a folder may hold several applications, each made in a file of its own
  const home = at.application.mount?.path
  const own = everywhere.filter(({ source }) => home === undefined || source.path === home)
  const whole = own.length > 0 ? own : everywhere
  const [mount] = whole
  if (mount === undefined) return limited(at, mounts)
  const isFurther = own.length === 0
  const paths = [...new Set(whole.map(({ source }) => source.path))]
  const carriesRoutes = await carriedRoutes(at.project, paths)
  const earlier = whole.map((one) => ({ one, ...whenAndBefore(one, carriesRoutes) }))
  const looked = earlier.map(({ one, when, before }) => judged(one, guard, when, before))
  const worst = looked.find((one) => one?.status === 'fail') ?? looked.find((one) => one !== null)
  if (worst) return worst
  if (isFurther)
    return warn(
      `${place(mount)} mounts ${guard}(), but this application is created in ${home ?? ''}, which does not.`,
      `If they are two: ${lineFor(at.world.tenant, at.application.framework)} in ${home ?? ''}. To be certain, run: service-analyzer probe`,
    )
  const left = earlier.flatMap(({ one: { source }, before }) =>
    before.map(({ line, reason }) => ({ path: source.path, line, reason })),
  )
  return pass(
    `${place(mount)} mounts ${guard}() before anything else answers.${unguardedOnPurpose(left)}`,
  )
}

/** None of them is of the whole application. */
function limited(at: LookedAt, mounts: readonly Mount[]): CheckResult {
  const mount = mounts.find(({ limit }) => limit?.isSure === false) ?? mounts[0]
  const detail = `${place(mount)} ${mount?.limit?.text ?? ''}.`
  return mount?.limit?.isSure === false
    ? warn(
        detail,
        `Check ${place(mount)}. This always works: ${lineFor(at.world.tenant, at.application.framework)}`,
      )
    : fail(
        detail,
        `${lineFor(at.world.tenant, at.application.framework)} // without a path, right after the line that creates it`,
      )
}

function whenAndBefore(mount: Mount, carriesRoutes: CarriesRoutes) {
  const { source, call, receiver } = mount
  const makings = receiver === null ? [] : makingsBehind(source, receiver)
  const when = whenMounted(source, call, makings)
  return { when, before: earlierThan(mount, when, carriesRoutes) }
}

/** null: nothing is wrong with it. */
function judged(
  mount: Mount,
  guard: string,
  when: When,
  earlier: readonly Earlier[],
): CheckResult | null {
  const { source, call, receiver } = mount
  const [before] = earlier
    .filter(({ reason }) => reason === null)
    .sort((a, b) => b.weight - a.weight)
  const name = receiver === null ? 'the application' : textOf(source, receiver)
  if (before !== undefined && before.weight > 0) {
    const what = `${source.path}:${before.line} ${before.text} comes before ${guard}() in line ${lineOf(source, call)}`
    const fix = `Move line ${lineOf(source, call)} right after the line that creates ${name}. If ${source.path}:${before.line} is meant to be open, say why in the line above it: // ${OPEN_MARK}: the reason`
    return before.weight > 1
      ? fail(`${what}, so it answers without a sign-in.`, fix)
      : warn(`${what}: its answers are not protected.`, fix)
  }
  if (receiver !== null && when.uncalled !== null)
    return warn(
      `${place(mount)} mounts ${guard}() in a function that no line of ${source.path} calls (line ${lineOf(source, when.uncalled)}).`,
      `Make sure it is called before anything else is added to ${name}, or move line ${lineOf(source, call)} right after the line that creates ${name}.`,
    )
  const condition = when.moments
    .map((moment) => conditionAround(source, moment.at))
    .find((line) => line !== null)
  if (condition !== undefined)
    return warn(
      `${place(mount)} mounts ${guard}() under a condition (line ${condition}).`,
      'Mount it unconditionally: before go-live it lets everyone pass anyway.',
    )
  return null
}

const place = (mount: Mount | undefined) =>
  mount === undefined ? '' : `${mount.source.path}:${lineOf(mount.source, mount.call)}`

function conditionAround(source: Source, call: Node): number | null {
  for (const around of ancestorsOf(source.parents, call)) {
    if (/Function|ObjectMethod|ClassMethod|^Program$/.test(around.type)) return null
    if (/^(?:If|Switch)Statement$|^(?:Conditional|Logical)Expression$/.test(around.type))
      return lineOf(source, around)
  }
  return null
}
