import { Problem } from '../exit.ts'
import { problemLines } from './plan-here.ts'

/** It may have come with the repository: a person says whether it is believed, having seen this. */
export function foreignJournal(would: Parameters<typeof problemLines>[0]): Problem {
  return new Problem(
    'edits_refused',
    'The journal in .service was not written here by you, so it is not believed, and nothing has been done.',
    ...(would.length === 0 ? [] : ['By it, undo would do this:', ...problemLines(would)]),
    'If you know who wrote it (you, on another machine or before you moved the project): service-analyzer undo --foreign',
    'Otherwise remove the folder .service.',
  )
}
