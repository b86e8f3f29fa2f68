import { EXIT, Problem } from '../../command-line/exit.ts'
import { undo as undoEdits, type Undone } from '../journal/undo.ts'
import { journalWorld } from '../journal/world.ts'
import { visibleText, wrap } from '../../command-line/words.ts'
import type { Command, Outcome, Task } from './command.ts'
import { foreignJournal, problemLines } from './plan-here.ts'
import { undoRest } from './undo-rest.ts'

export const undo: Command = {
  name: 'undo',
  summary: 'reverts what setup or apply wrote, byte for byte',
  help: [
    'Files changed since then are only reverted after asking, and a copy is kept next to them. Needs no key and no network.',
    'At a terminal it also asks whether to run the package manager, so that the package is removed, and whether to turn protection off, if that is on.',
    '--yes leaves protection as it is. Only --go-back turns it off without asking, and only if something was reverted here.',
    'A journal from someone else may have come with the repository: undo only shows what it would do, unless you add --foreign.',
  ],
  options: ['foreign', 'go-back'],
  takesFolder: true,
  documented: {
    restored: 'the paths restored',
    removed: 'the paths deleted again',
    kept: 'copies of later changes',
    cleaned: 'the files that a line of setup was removed from',
    protection: 'on, pass-through, or null where that is not known',
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
        'Some files have changed since, so nothing was reverted:',
        ...lines,
        'To revert anyway and keep a copy of the later changes: service-analyzer undo --yes',
      )
    if (!task.isAgreed) {
      for (const line of lines) task.terminal.remark(line)
      const question = 'Revert anyway and keep a copy of the later changes?'
      if (!(await task.terminal.confirm(question)))
        throw new Problem('declined', 'Nothing was reverted.')
    }
    const forced = () => undoEdits(task.folder, world, { force: true, isForeignBelieved })
    return outcomeOf(task, await uninterrupted(forced))
  },
}

async function outcomeOf(task: Task, undone: Undone): Promise<Outcome> {
  const { columns, paint } = task.terminal
  switch (undone.kind) {
    case 'undone': {
      const { restored, removed, kept } = undone
      const list = (word: string, paths: readonly string[]) =>
        paths.map((path) => `  ${word.padEnd(9)}${visibleText(path)}`)
      const { lines, cleaned, protection, next } = await undoRest(task, restored)
      return {
        exit: EXIT.done,
        text: [
          paint('green', wrap('Every file is as it was before apply.', columns)),
          ...list('restored', restored),
          ...list('removed', removed),
          ...list('kept', kept),
          ...lines,
        ].join('\n'),
        fields: { restored, removed, kept, cleaned, protection },
        next: next ?? { text: 'To apply it again:', command: task.line('apply') },
      }
    }
    case 'nothing': {
      const { lines, cleaned, protection, next } = await undoRest(task, null)
      const said = wrap('Nothing is applied here, so there is nothing to undo.', columns)
      return {
        exit: EXIT.done,
        text: [...(cleaned.length === 0 ? [said] : []), ...lines].join('\n'),
        fields: { restored: [], removed: [], kept: [], cleaned, protection },
        next,
      }
    }
    case 'foreign':
      throw foreignJournal(undone.would)
    case 'refused':
      throw new Problem(
        'edits_refused',
        'Refused: nothing was reverted.',
        ...problemLines(undone.problems),
      )
    case 'failed':
      throw new Problem('write_failed', ...problemLines([undone.problem]))
  }
}
