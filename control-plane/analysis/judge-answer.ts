/** What a model has answered: a guide that may be kept, or what is wrong with it. */
import type { Mode } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import { runApart } from './apart.ts'
import { guideProblems } from './judge-guide.ts'
import { readModelGuide, type ModelGuide } from './model-guide.ts'
import { snippetFor } from './prompt.ts'
import { remarksOf, type Remarks } from './remarks.ts'
import type { SentProject } from './sent-files.ts'

export interface AnswerFacts {
  readonly answer: string
  readonly project: SentProject
  readonly mode: Mode
  readonly baseUrl: string
  readonly sdkUrl: string
}

export type JudgedAnswer =
  | { readonly kind: 'guide'; readonly guide: ModelGuide; readonly remarks: Remarks }
  /** It is no guide at all. */
  | { readonly kind: 'unusable'; readonly problems: readonly string[] }
  | { readonly kind: 'refused'; readonly problems: readonly string[] }

const TOO_LONG: JudgedAnswer = {
  kind: 'refused',
  problems: ['the edits take too long to look through: fewer or shorter files were to be sent'],
}

/** The files are a customer's, and the edits a model's: both can be made to take long. */
export async function judgeApart(
  facts: AnswerFacts,
  timeoutMs: number = LIMITS.judgingMsMax,
): Promise<JudgedAnswer> {
  const program = new URL('./judging-worker.ts', import.meta.url)
  return (await runApart<JudgedAnswer>(program, facts, timeoutMs)) ?? TOO_LONG
}

export function judgeAnswer({ answer, project, mode, ...urls }: AnswerFacts): JudgedAnswer {
  const read = readModelGuide(answer)
  if (read.kind === 'no_json') return { kind: 'unusable', problems: ['the answer is not JSON'] }
  if (read.kind === 'wrong')
    return { kind: 'unusable', problems: [`"${read.where}" is not as the schema says`] }
  const { guide } = read
  const snippetOf = (framework: string) => snippetFor(framework, mode, urls.baseUrl)?.code ?? ''
  const problems = guideProblems(guide, project, { ...urls, snippetOf })
  if (problems.length > 0) return { kind: 'refused', problems }
  return { kind: 'guide', guide, remarks: remarksOf(guide, urls.baseUrl) }
}
