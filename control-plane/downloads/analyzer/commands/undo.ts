import { nameOf } from '../detection/folders.ts'
import { EXIT, Problem } from '../exit.ts'
import { undo as undoEdits, type Undone } from '../journal/undo.ts'
import { journalWorld } from '../journal/world.ts'
import { visibleText, wrap } from '../terminal/words.ts'
import type { Command, Outcome, Task } from './command.ts'
import { foreignJournal, problemLines } from './plan-here.ts'

export const undo: Command = {
  name: 'undo',
  summary: 'takes back what apply has written, byte for byte',
  help: [
    'A file that somebody has changed since is only taken back after asking, and what it held is kept beside it. Needs no key and no network.',
    'A journal that this user’s tool did not write may have come with the repository: what it would do is shown, and done only with --foreign, and only what an edit may do.',
  ],
  options: ['foreign'],
  takesFolder: true,
  documented: {
    restored: 'the paths that are as they were',
    removed: 'the paths that are gone again',
    kept: 'where later work is kept',
  },
  async run(task) {
    const world = journalWorld(task.world.environment, task.world.homeFolder)
    const isForeignBelieved = task.given.flags.has('foreign')
    const { uninterrupted } = task.world
    const first = await uninterrupted(() => undoEdits(task.folder, world, { isForeignBelieved }))
    if (first.kind !== 'refused' || !first.isChanged) return outcomeOf(task, first)
    const lines = problemLines(first.problems)
    if (!task.isAgreed && !task.terminal.isInteractive)
      throw new Problem(
        'edits_refused',
        'Some of it has been changed since, so nothing has been taken back:',
        ...lines,
        'To take it back none the less, and keep that work beside it: service-analyzer undo --yes',
      )
    if (!task.isAgreed) {
      for (const line of lines) task.terminal.remark(line)
      const question = 'Take it back none the less, and keep that work beside it?'
      if (!(await task.terminal.confirm(question)))
        throw new Problem('declined', 'Nothing has been taken back.')
    }
    const forced = () => undoEdits(task.folder, world, { force: true, isForeignBelieved })
    return outcomeOf(task, await uninterrupted(forced))
  },
}

/** The journal has what apply wrote, and nobody else's work. */
const NOT_TAKEN_BACK =
  'Not taken back: what your package manager installed and wrote into its lock file (install once more, and it goes), and what you have done by hand.'

function outcomeOf(task: Task, undone: Undone): Outcome {
  const { columns, paint } = task.terminal
  switch (undone.kind) {
    case 'undone': {
      const { restored, removed, kept } = undone
      const isManifestRestored = restored.some((path) => nameOf(path) === 'package.json')
      const list = (word: string, paths: readonly string[]) =>
        paths.map((path) => `  ${word.padEnd(9)}${visibleText(path)}`)
      return {
        exit: EXIT.done,
        text: [
          paint('green', wrap('Everything is as it was before apply.', columns)),
          ...list('restored', restored),
          ...list('removed', removed),
          ...list('kept', kept),
          ...(isManifestRestored ? ['', wrap(NOT_TAKEN_BACK, columns)] : []),
        ].join('\n'),
        fields: { restored, removed, kept },
        next: { text: 'To apply it again:', command: task.line('apply') },
      }
    }
    case 'nothing':
      return {
        exit: EXIT.done,
        text: wrap('Nothing has been applied here, so there is nothing to take back.', columns),
        fields: { restored: [], removed: [], kept: [] },
        next: null,
      }
    case 'foreign':
      throw foreignJournal(undone.would)
    case 'refused':
      throw new Problem(
        'edits_refused',
        'Refused: nothing has been taken back.',
        ...problemLines(undone.problems),
      )
    case 'failed':
      throw new Problem('write_failed', ...problemLines([undone.problem]))
  }
}
