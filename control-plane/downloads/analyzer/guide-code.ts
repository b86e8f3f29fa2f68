/** A guide's code was written by a model: the service has judged it, and it is judged here again. */
import { addedCodeProblem } from '../../../shared/integration/added-code.ts'
import type { EditProblem } from '../../../shared/integration/edit-rules.ts'
import { snippets } from '../../../shared/integration/snippets.ts'
import type { Plan } from './plan.ts'

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
