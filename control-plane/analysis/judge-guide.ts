/**
 * Whether what a model proposes may be kept. It is judged like a stranger's: by the rules that hold
 * for every guide, against the files as they were sent, and by those for code that nobody of ours
 * has written. One edit that breaks a rule spoils all: half an integration is none.
 */
import { addedCodeProblem } from '../../shared/integration/added-code.ts'
import { changesOf, type FileText } from '../../shared/integration/guide-changes.ts'
import { HIDDEN } from '../../shared/integration/masking.ts'
import { foldedPath, pathProblem } from '../../shared/integration/path-rules.ts'
import type { ModelGuide } from './model-guide.ts'
import type { SentProject } from './sent-files.ts'

interface JudgeRules {
  readonly baseUrl: string
  readonly sdkUrl: string
  /** The contract's code for a framework; '': there is none. */
  readonly snippetOf: (framework: string) => string
}

/** In words for the model and for the developer; none: the guide may be kept. */
export function guideProblems(
  { framework, edits }: ModelGuide,
  { files }: SentProject,
  { baseUrl, sdkUrl, snippetOf }: JudgeRules,
): string[] {
  const masked = edits.filter((edit) => textsOf(edit).some((text) => text.includes(HIDDEN)))
  if (masked.length > 0)
    return masked.map(({ path }) => `${shown(path)} has an edit with ${HIDDEN} in it`)
  const misnamed = edits.flatMap(({ path }) => {
    const problem = nameProblem(path, files)
    return problem === null ? [] : [`${shown(path)} ${problem}`]
  })
  if (misnamed.length > 0) return misnamed
  const outcome = changesOf(edits, (path) => textAt(files, path), { sdkUrl })
  if (outcome.kind === 'refused')
    return outcome.problems.map(({ path, detail }) =>
      path === null ? detail : `${shown(path)} ${detail}`,
    )
  const rules = { baseUrl, snippet: snippetOf(framework) }
  return outcome.changes.flatMap((change) => {
    if (isPackageJson(change.path)) return [] // judged member by member among the rules for all
    const problem = addedCodeProblem(change, rules)
    return problem === null ? [] : [`${shown(change.path)} ${problem}`]
  })
}

function textsOf(edit: ModelGuide['edits'][number]): readonly string[] {
  return edit.action === 'create' ? [edit.path, edit.content] : [edit.path, edit.find, edit.replace]
}

/** What was not sent is not there, as far as a model can know. */
function textAt(files: ReadonlyMap<string, string>, path: string): FileText {
  const text = files.get(path)
  return text === undefined ? { kind: 'absent' } : { kind: 'text', text }
}

const isPackageJson = (path: string) => /(?:^|\/)package\.json$/.test(foldedPath(path))

function nameProblem(path: string, files: ReadonlyMap<string, string>): string | null {
  const problem = pathProblem(path)
  if (problem !== null) return problem
  const folded = foldedPath(path)
  const sent = [...files.keys()].find((name) => name !== path && foldedPath(name) === folded)
  if (sent !== undefined) return `is the same file as ${shown(sent)} where capitals do not count`
  return isCodeFile(path) ? null : 'is no file of code: a guide edits no others'
}

/** Besides what no edit touches, a model's are not for documents, pages or settings. */
function isCodeFile(path: string): boolean {
  return isPackageJson(path) || /\.(?:[cm]?[jt]sx?|py|rb|ru|php|java|kt|cs|go)$/i.test(path)
}

const shown = (path: string) => JSON.stringify(path.slice(0, 200))
