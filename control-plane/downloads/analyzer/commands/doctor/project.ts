/** The project in this folder: can it be read, written and taken back. */
import * as files from 'node:fs/promises'
import { readJournal } from '../../journal/record.ts'
import { journalWorld } from '../../journal/world.ts'
import { judgeWorkTree } from '../../journal/work-tree.ts'
import { plainText, visibleText } from '../../terminal/words.ts'
import type { Task } from '../command.ts'
import { lookAt, nameOf, type LookedAt } from '../look-at.ts'
import { problemLines } from '../plan-here.ts'
import { fail, failed, ok, skip, warn, type Finding } from './finding.ts'

export async function examineProject(task: Task): Promise<Finding[]> {
  try {
    const looked = await lookAt(task)
    const { root } = looked.project
    return [project(looked), await writable(root), await git(task, root), await journal(task, root)]
  } catch (error) {
    return [failed('project', error)]
  }
}

function project({ project, detection }: LookedAt): Finding {
  const { applications } = detection
  const { root, files, unread, isCut } = project
  const said = `${visibleText(root)}: ${files.length} files; ${applications.map(nameOf).join(', ') || 'no application that is known'}.`
  if (isCut)
    return warn(
      'project',
      `${said} It is larger than what is looked at.`,
      'Name the folder of the application.',
    )
  const [first] = unread
  if (first !== undefined)
    return warn(
      'project',
      `${said} ${unread.length} could not be read: ${visibleText(first.path)} ${plainText(first.reason)}.`,
      'Give yourself the right to read it, if it belongs to the application.',
    )
  if (applications.length === 0)
    return warn(
      'project',
      said,
      'Name the folder of the application: service-analyzer doctor FOLDER',
    )
  return ok('project', said)
}

function writable(root: string): Promise<Finding> {
  const check = 'write_permission'
  const fix = 'Run it as the owner of the project.'
  return files.access(root, files.constants.W_OK).then(
    () => ok(check, 'The folder can be written to.'),
    () => fail(check, 'The folder cannot be written to by you.', fix),
  )
}

async function git(task: Task, root: string): Promise<Finding> {
  const { problems, remarks } = await judgeWorkTree(
    root,
    [],
    [],
    journalWorld(task.world.environment),
  )
  const [problem] = problemLines(problems)
  if (problem !== undefined)
    return warn('git', problem, 'Commit or stash, so that apply can tell its changes from yours.')
  return remarks[0] === undefined
    ? ok('git', 'The work tree has no changes.')
    : warn('git', plainText(remarks[0]), 'Put the project under version control: git init')
}

async function journal(task: Task, root: string): Promise<Finding> {
  const found = await readJournal(root, files)
  if (found.kind === 'none') return skip('journal', 'Nothing is applied here.')
  if (found.kind === 'problem') return fail('journal', plainText(found.detail))
  const { state, written_at: at, files: applied } = found.journal
  return state === 'writing'
    ? fail('journal', `An apply was cut off at ${at}.`, `Run: ${task.line('undo')}`)
    : ok(
        'journal',
        `${applied.length} files are applied since ${at}; ${task.line('undo')} takes them back.`,
      )
}
