/**
 * What an edit may touch, and what it may bring. Asked where a guide is made, where it is fetched
 * and where it is written, and of our own edits too: a model's answer, a stranger's file and a
 * mistake of ours get no further than this. Pure: what a file is on the disk, a link or a device,
 * is judged where it is written.
 */
import { LIMITS } from '../limits.ts'
import type { GuideEdit } from './guide.ts'
import { packageJsonProblem } from './package-json-rules.ts'
import { foldedPath, pathProblem } from './path-rules.ts'
import { textProblem } from './text-rules.ts'

export { pathProblem }

/** A file's whole text; before: null where it is not there yet. */
export interface Change {
  readonly path: string
  readonly before: string | null
  readonly after: string
}

export interface EditRules {
  /** Where service-node comes from: `{base_url}/api/v1/sdk/node`. null: it may not be added. */
  readonly sdkUrl: string | null
}

/** To be read behind the path; path: null where it is about all of them. */
export interface EditProblem {
  readonly path: string | null
  readonly detail: string
}

/** What can be said without the file; where its text is known, ask `changeProblem` as well. */
export function editProblem(edit: GuideEdit): string | null {
  const { path } = edit
  if (edit.action === 'modify') return pathProblem(path) ?? textProblem(edit.find, edit.replace)
  if (isPackageJson(path)) return packageJsonProblem(null, edit.content, null)
  return pathProblem(path) ?? textProblem(null, edit.content)
}

export function changeProblem({ path, before, after }: Change, rules: EditRules): string | null {
  const problem = pathProblem(path) ?? textProblem(before, after)
  if (problem !== null || !isPackageJson(path)) return problem
  return packageJsonProblem(before, after, rules.sdkUrl)
}

/** All changes of one plan, each and together. */
export function changesProblems(changes: readonly Change[], rules: EditRules): EditProblem[] {
  const problems: EditProblem[] = []
  if (changes.length > LIMITS.guideEditsMax)
    problems.push({ path: null, detail: `More than ${LIMITS.guideEditsMax} files would change.` })
  const characters = changes.reduce((sum, { after }) => sum + after.length, 0)
  if (characters > LIMITS.editedCharactersMax)
    problems.push({
      path: null,
      detail: `The files that would change are larger than ${LIMITS.editedCharactersMax} characters together.`,
    })
  const seen = new Map<string, string>()
  for (const change of changes) {
    const detail = changeProblem(change, rules) ?? collision(seen, change.path)
    if (detail === null) seen.set(foldedPath(change.path), change.path)
    else problems.push({ path: change.path, detail })
  }
  return problems
}

const isPackageJson = (path: string) => /(?:^|\/)package\.json$/.test(foldedPath(path))

/** Two names of one file where case does not count, or a file where another needs a folder. */
function collision(seen: ReadonlyMap<string, string>, path: string): string | null {
  const folded = foldedPath(path)
  for (const [other, shown] of seen) {
    if (other === folded) return `is the same file as ${shown} and would be written twice`
    if (folded.startsWith(`${other}/`) || other.startsWith(`${folded}/`))
      return `cannot be there beside ${shown}: one of them would be a file and a folder`
  }
  return null
}
