/**
 * Judges the git work tree that a project lies in: changes to tracked files refuse, but for lock files, and so does an
 * edit of a file that git does not know, since it could not be told from a person's own work
 * afterwards. Other untracked files are nobody's business here.
 */
import { join, dirname, posix } from 'node:path'
import type { EditProblem } from '../../../../shared/integration/edit-rules.ts'
import { LOCKS } from '../detection/node/packages.ts'
import type { GitAnswer } from './git.ts'
import { codeOf, shownPath, type FileSystem, type JournalWorld } from './world.ts'

interface WorkTree {
  readonly problems: readonly EditProblem[]
  readonly remarks: readonly string[]
  /** Git keeps these files: what is written can be told from what was there. */
  readonly isKept: boolean
}

const CLEAN: WorkTree = { problems: [], remarks: [], isKept: true }
const refused = (...details: string[]): WorkTree => ({
  problems: details.map((detail) => ({ path: null, detail })),
  remarks: [],
  isKept: false,
})

/** `changed`: the paths of files that are there and are to be edited; `all`: with the new ones. */
export async function judgeWorkTree(
  root: string,
  all: readonly string[],
  changed: readonly string[],
  world: JournalWorld,
): Promise<WorkTree> {
  const nested: EditProblem[] = []
  for (const path of all) {
    const folder = await repositoryBelow(root, path, world.files)
    if (folder !== null)
      nested.push({ path, detail: `is in a separate git repository; run this in ${folder}` })
  }
  if (nested.length > 0) return { ...refused(), problems: nested }
  if (!(await isInRepository(root, world.files)))
    return {
      ...refused(),
      remarks: ['This folder is not in a git repository: use undo to revert.'],
    }

  const settings = await world.git.settings(root)
  if (settings.code === null || settings.code > 1) return cannotAsk(settings)
  const safe = safeSettings(settings.out)
  if (safe === null)
    return refused(
      'The git configuration has a filter with "=" in its name, so git status would run it. Rename it.',
    )
  if (!(await isThere(join(root, '.git'), world.files))) {
    const listed = await world.git.ask(root, safe, ['ls-files', '-z', '--cached', '--', '.'])
    if (!listed.isCut && listed.code !== 0) return cannotAsk(listed)
    if (listed.out === '') return { ...refused(), remarks: [ELSEWHERE] }
  }
  const status = await world.git.ask(root, safe, STATUS)
  if (!status.isCut && status.code !== 0) return cannotAsk(status)
  const entries = status.out.split('\0').filter((entry) => entry.length > 3)
  const paths = entries.map((entry) => entry.slice(3))
  const dirty = paths.filter((path) => !isOfPackageManager(path))
  if (dirty.length > 0 || status.isCut)
    return refused(dirtyDetail(dirty, status.isCut, world.platform))
  const tree = await untracked(root, safe, changed, world)
  if (tree.problems.length > 0 || paths.length === 0) return tree
  const left = paths.map((path) => shownPath(path, world.platform)).join(', ')
  return { ...tree, remarks: [...tree.remarks, `${left}: uncommitted changes, left as they are.`] }
}

const LOCK_FILES: ReadonlySet<string> = new Set(LOCKS.map(([name]) => name))

/** What an install has left there, the one after an undo too, is nobody's own work; no edit may be in it. */
const isOfPackageManager = (path: string) => LOCK_FILES.has(posix.basename(path))

const ELSEWHERE =
  'The git repository around this folder tracks none of its files: use undo to revert.'

const STATUS = [
  'status',
  '--porcelain=v1',
  '-z',
  '--untracked-files=no',
  // a submodule's own state is asked for with its own configuration
  '--ignore-submodules=dirty',
  '--no-renames',
]

/** From the folder of the file up to the project, without the project itself. */
async function repositoryBelow(root: string, path: string, files: FileSystem) {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
    if (await isThere(join(root, folder, '.git'), files)) return folder
  return null
}

async function isInRepository(root: string, files: FileSystem): Promise<boolean> {
  for (let folder = root; ; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'), files)) return true
    if (dirname(folder) === folder) return false
  }
}

async function isThere(at: string, files: FileSystem): Promise<boolean> {
  try {
    await files.lstat(at)
    return true
  } catch (error) {
    return !/^(?:ENOENT|ENOTDIR)$/.test(codeOf(error))
  }
}

/** Of what decides how files are compared; all else stays out, and every filter is switched off. */
const HARMLESS =
  /^(?:core\.(?:autocrlf|eol|filemode|ignorecase|symlinks|precomposeunicode)|safe\.directory)$/

function safeSettings(listed: string): readonly string[] | null {
  const kept = [
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'core.untrackedCache=false',
    'status.submoduleSummary=false',
    'submodule.recurse=false',
    'protocol.allow=never',
    'diff.external=',
  ]
  for (const entry of listed.split('\0')) {
    const [key = '', ...value] = entry.split('\n')
    if (HARMLESS.test(key)) kept.push(`${key}=${value.join('\n')}`)
    const [, filter] = /^filter\.(.*)\.(?:clean|smudge|process|required)$/s.exec(key) ?? []
    if (filter === undefined) continue
    if (filter.includes('=')) return null
    kept.push(
      `filter.${filter}.clean=`,
      `filter.${filter}.process=`,
      `filter.${filter}.required=false`,
    )
  }
  return kept
}

function dirtyDetail(paths: readonly string[], isCut: boolean, platform: NodeJS.Platform): string {
  const shown = paths.slice(0, 5).map((path) => shownPath(path, platform))
  const more = paths.length > 5 || isCut ? ' and more' : ''
  return `The git work tree has changes (${shown.join(', ')}${more}): commit or stash them first, to keep your changes separate.`
}

async function untracked(
  root: string,
  settings: readonly string[],
  changed: readonly string[],
  { git }: JournalWorld,
): Promise<WorkTree> {
  if (changed.length === 0) return CLEAN
  const listed = await git.ask(root, settings, ['ls-files', '-z', '--cached', '--', ...changed])
  if (listed.code !== 0) return cannotAsk(listed)
  const tracked = new Set(listed.out.split('\0'))
  const problems = changed
    .filter((path) => !tracked.has(path))
    .map((path) => ({ path, detail: 'is not under version control; commit it first' }))
  return problems.length === 0 ? CLEAN : { ...refused(), problems }
}

/** An answer that is not understood is no "clean". */
function cannotAsk({ code, err }: GitAnswer): WorkTree {
  const [line = ''] = err.split('\n')
  if (/not a git repository/.test(line))
    return {
      ...refused(),
      remarks: ['There is a .git here, but git does not recognize it as a repository.'],
    }
  return refused(
    code === null
      ? 'This is a git repository, but git is not installed. Install git, so that uncommitted changes can be checked.'
      : `Git could not report uncommitted changes: ${line.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').slice(0, 300)}`,
  )
}
