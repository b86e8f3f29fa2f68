/** The project in this folder: can it be read, written and taken back. */
import * as files from 'node:fs/promises'
import { join } from 'node:path/posix'
import { readJournal } from '../../journal/record.ts'
import { journalWorld } from '../../journal/world.ts'
import { judgeWorkTree } from '../../journal/work-tree.ts'
import { plainText, visibleText } from '../../../command-line/words.ts'
import type { Task } from '../command.ts'
import { lookAt, nameOf, type LookedAt } from '../look-at.ts'
import { problemLines } from '../plan-here.ts'
import { fail, failed, ok, skip, warn, type Finding } from './finding.ts'

export async function examineProject(task: Task): Promise<Finding[]> {
  try {
    const looked = await lookAt(task)
    const { root } = looked.project
    return [
      project(looked),
      await writable(root),
      await git(task, looked),
      await journal(task, root),
    ]
  } catch (error) {
    return [failed('project', error)]
  }
}

function project({ project, detection }: LookedAt): Finding {
  const { applications } = detection
  const { root, files, unread, isCut } = project
  const said = `${visibleText(root)}: ${files.length} files; ${applications.map(nameOf).join(', ') || 'no known application'}.`
  if (isCut)
    return warn(
      'project',
      `${said} That is more than can be analyzed.`,
      'Name the folder of the application.',
    )
  const [first] = unread
  if (first !== undefined)
    return warn(
      'project',
      `${said} ${unread.length} could not be read: ${visibleText(first.path)} ${plainText(first.reason)}.`,
      'If it belongs to the application, change its permissions so that you can read it.',
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
    () => ok(check, 'You can write to this folder.'),
    () => fail(check, 'You cannot write to this folder.', fix),
  )
}

/** What apply edits has to be under version control, too: git names no folder's files that it has none of. */
async function git(task: Task, { project, detection }: LookedAt): Promise<Finding> {
  const edited = detection.applications.flatMap(({ folder, mount }) => [
    ...(mount === null ? [] : [mount.path]),
    join(folder, 'package.json'),
  ])
  const { problems, remarks } = await judgeWorkTree(
    project.root,
    [],
    [...new Set(edited)].filter((path) => project.has(path)),
    journalWorld(task.world.environment),
  )
  const [problem] = problemLines(problems)
  if (problem !== undefined)
    return warn(
      'git',
      problem,
      'Commit or stash them, to keep your changes apart from those of apply.',
    )
  return remarks[0] === undefined
    ? ok('git', 'No uncommitted changes.')
    : warn('git', plainText(remarks[0]), 'Put the project under version control: git init')
}

async function journal(task: Task, root: string): Promise<Finding> {
  const found = await readJournal(root, files)
  if (found.kind === 'none') return skip('journal', 'Nothing is applied here.')
  if (found.kind === 'problem') return fail('journal', plainText(found.detail))
  const { state, written_at: at, files: applied } = found.journal
  return state === 'writing'
    ? fail('journal', `An apply was interrupted at ${at}.`, `Run: ${task.line('undo')}`)
    : ok('journal', `${applied.length} files applied at ${at}; ${task.line('undo')} reverts them.`)
}
