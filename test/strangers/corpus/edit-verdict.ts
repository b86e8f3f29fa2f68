/** What a plan does about the application that was found: it writes what is right, or says why it does not. */
import type { Node } from '@babel/types'
import type { Application } from '../../../control-plane/downloads/analyzer/detection/application.ts'
import {
  makingsIn,
  type Making,
} from '../../../control-plane/downloads/analyzer/detection/node/makings.ts'
import { applicationsIn } from '../../../control-plane/downloads/analyzer/edits/made-applications.ts'
import {
  isMountedInChain,
  isRequestGuard,
  mountCalls,
} from '../../../control-plane/downloads/analyzer/edits/mounted-already.ts'
import { mountedFramework } from '../../../control-plane/downloads/analyzer/edits/mounted-frameworks.ts'
import type { FileEdit } from '../../../control-plane/downloads/analyzer/plan.ts'
import { parseSource, type Source } from '../../../control-plane/downloads/analyzer/syntax/parse.ts'
import { lineOf, textOf } from '../../../control-plane/downloads/analyzer/syntax/places.ts'
import { writePlan } from '../../support/applied.ts'
import { WISHES } from '../../control-plane/downloads/analyzer/edits/projects.ts'
import { copyOf, faultsOf, type Looked } from '../stranger.ts'

export type EditVerdict =
  | { readonly kind: 'written' | 'shown' }
  | { readonly kind: 'wrong'; readonly why: string }

export async function editVerdict(
  looked: Looked,
  folder: string,
  copy: string,
): Promise<EditVerdict> {
  const { edits } = looked.plan
  if (edits.length > 0) {
    copyOf(folder, copy)
    const faults = await writePlan(copy, looked.plan, WISHES.sdkUrl).then(
      () => faultsOf(copy, looked.plan),
      (error: unknown) => [(error as Error).message],
    )
    if (faults.length > 0) return { kind: 'wrong', why: faults.join('; ') }
  }
  return planVerdict(looked)
}

/** Of the texts alone, which are taken to parse. */
export function planVerdict({ application, plan }: Looked): EditVerdict {
  const code = plan.edits.filter(({ path }) => /\.[cm]?[jt]sx?$/.test(path) || isCommand(path))
  if (code.length === 0) return verdictOfSteps(application, plan.manual)
  const why = mountFault(application, code)
  return why === null ? { kind: 'written' } : { kind: 'wrong', why }
}

/** `bin/www` */
const isCommand = (path: string) => !/\.\w+$/.test(path) && !/(?:^|\/)\.[^/]*$/.test(path)

function verdictOfSteps({ mount }: Application, steps: Looked['plan']['manual']): EditVerdict {
  const there = steps.filter(({ path }) => mount === null || path === mount.path)
  const isSaid =
    there.some(({ text }) => / because \w/.test(text)) &&
    (mount === null || there.some(({ line }) => line === mount.line))
  return isSaid
    ? { kind: 'shown' }
    : { kind: 'wrong', why: 'nothing is written where it is made, and nothing says why' }
}

/** null: what was written stands before the first route of what was found. */
function mountFault({ mount, framework }: Application, edits: readonly FileEdit[]): string | null {
  if (mount === null)
    return edits.some(({ after }) => /\.next\(NextResponse\)/.test(after)) ? null : 'no hook'
  const edit = edits.find(({ path }) => path === mount.path)
  if (edit === undefined) return `${mount.path} is not edited, but other code is`
  const after = parsed(mount.path, edit.after)
  const index = makingsIn(parsed(mount.path, edit.before ?? '')).findIndex(
    ({ source, node }) => lineOf(source, node) === mount.line,
  )
  const making = makingsIn(after)[index]
  if (making === undefined) return 'what was found is no longer made there'
  const known = mountedFramework(framework)
  if (known === undefined) return guardsServer(after, making) ? null : 'its listener has no guard'
  if (isMountedInChain(after, making.node)) return null
  const own = applicationsIn(after, known).find(({ call }) => call === making.node)
  if (own === undefined || !('made' in own)) return 'it has neither a name nor the middleware'
  const { receiver, behindEnd } = own.made
  const uses = usesOf(after, receiver, behindEnd)
  const [first] = uses
  if (first === undefined) return 'nothing is mounted on it'
  const mounts = new Set<Node>(mountCalls(after).map(({ call }) => call))
  return mounts.has(first) ? null : `line ${lineOf(after, first)} comes before the middleware`
}

/** Calls of its methods that stand behind it, in their order: those that route, and all that mount. */
function usesOf(source: Source, receiver: string, from: number): Node[] {
  return source.nodes
    .filter((node) => {
      if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false
      const { object, property } = node.callee
      return (
        (node.start ?? 0) >= from &&
        textOf(source, object).replaceAll(/\s+/g, '') === receiver.replaceAll(/\s+/g, '') &&
        property.type === 'Identifier' &&
        ROUTES.test(property.name)
      )
    })
    .toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0))
}

const ROUTES =
  /^(?:use|register|route|mount|get|post|put|patch|delete|del|head|options|all|ws|static|addHook|listen|init)$/

function guardsServer(source: Source, { node }: Making): boolean {
  const isInside = (one: Node) =>
    (one.start ?? 0) > (node.start ?? 0) && (one.end ?? 0) <= (node.end ?? 0)
  return source.nodes.some((one) => {
    if (!isRequestGuard(source, one)) return false
    const around = source.parents.get(one)
    const [event] = around?.type === 'CallExpression' ? around.arguments : []
    const isRequest = event?.type === 'StringLiteral' && event.value === 'request'
    return isInside(one) || isRequest
  })
}

function parsed(path: string, text: string): Source {
  const result = parseSource(path, text)
  if ('problem' in result) throw new Error(`${path} ${result.problem}`)
  return result.source
}
