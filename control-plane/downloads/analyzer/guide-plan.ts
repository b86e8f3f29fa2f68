/** A guide that came from elsewhere, made a plan of this project: whole, or refused with every reason. */
import * as v from 'valibot'
import { addedCodeProblem } from '../../../shared/integration/added-code.ts'
import { changesOf, type FileText } from '../../../shared/integration/guide-changes.ts'
import {
  pathProblem,
  type EditProblem,
  type EditRules,
} from '../../../shared/integration/edit-rules.ts'
import { Guide } from '../../../shared/integration/guide.ts'
import { snippets } from '../../../shared/integration/snippets.ts'
import type { Plan } from './plan.ts'
import type { Project } from './project/project.ts'

type GuidePlan =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'refused'; readonly problems: readonly EditProblem[] }

/** `guide` as it was received. A plan without edits: all of it is done already. */
export async function planFromGuide(
  project: Project,
  guide: unknown,
  rules: EditRules,
): Promise<GuidePlan> {
  const parsed = v.safeParse(Guide, guide)
  if (!parsed.success) return { kind: 'refused', problems: parsed.issues.map(formProblem) }
  const { edits, framework, guide_id, commands, notes } = parsed.output
  const texts = new Map<string, FileText>()
  for (const { path } of edits)
    if (pathProblem(path) === null && !texts.has(path))
      texts.set(path, await readText(project, path))
  const outcome = changesOf(edits, (path) => texts.get(path) ?? { kind: 'absent' }, rules)
  if (outcome.kind === 'refused') return outcome
  const source = { kind: 'guide', guideId: guide_id } as const
  const plan = { framework, source, edits: outcome.changes, manual: [], commands, notes }
  return { kind: 'plan', plan }
}

async function readText(project: Project, path: string): Promise<FileText> {
  const text = await project.read(path)
  if (text !== null) return { kind: 'text', text }
  return { kind: project.has(path) ? 'unreadable' : 'absent' }
}

/** `edits.3.find: …`: a guide is mended by whoever makes it, so its own names are used. */
function formProblem(issue: v.BaseIssue<unknown>): EditProblem {
  const at = v.getDotPath(issue)
  return {
    path: null,
    detail: `The guide is not well-formed: ${at === null ? '' : `${at}: `}${issue.message}`,
  }
}

/** A guide's code was written by a model: the service has judged it, and it is judged here again. */
export function guideCodeProblems(
  { framework, edits }: Pick<Plan, 'framework' | 'edits'>,
  baseUrl: string,
): EditProblem[] {
  const own = snippets(baseUrl)[framework]
  const snippet = [own?.edge.code, own?.sdk?.code].join('\n')
  return edits.flatMap((edit) => {
    // what may change there is judged member by member among the rules for all edits
    if (/(?:^|\/)package\.json$/i.test(edit.path)) return []
    const detail = addedCodeProblem(edit, { baseUrl, snippet })
    return detail === null ? [] : [{ path: edit.path, detail }]
  })
}
