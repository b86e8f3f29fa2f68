/**
 * Whether a secret of the tenant lies in a file that git tracks, where everybody with the repository
 * has it. The public key may: it is public. A secret that is found is shown nowhere.
 */
import { type CheckResult, resultsOf } from '../../../../shared/integration/check-result.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { quoted } from '../profile.ts'
import { readText } from '../project/read-text.ts'
import type { LocalCheck, LookedAt } from './looked-at.ts'

const { fail, pass, skip, warn } = resultsOf('secret_not_committed')
const UNTRACKED = ['ls-files', '-z', '--others', '--exclude-standard']
/** Programs that a repository names in its own configuration are not run. */
const SAFE = ['core.fsmonitor=false', 'core.hooksPath=/dev/null']
/** As the service makes them: analyzer keys and client secrets. */
const SECRET = /\b(?:sak|scs)_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/
const SECRET_BYTES_MIN = 12
const NAMED_MAX = 3

export const secretNotCommitted: LocalCheck = async (at) => {
  const tracked = await trackedFiles(at)
  if ('why' in tracked) return skip(tracked.why)
  const secrets = at.world.secrets.filter((secret) => secret.length >= SECRET_BYTES_MIN)
  const found: string[] = []
  let bytes = 0
  for (const path of tracked.slice(0, LIMITS.localChecksTrackedFilesMax)) {
    const text = await textOf(at.project.root, path)
    if (text === null) continue
    bytes += text.length
    if (SECRET.test(text) || secrets.some((secret) => text.includes(secret))) found.push(path)
    if (bytes > LIMITS.localChecksBytesMax) break
  }
  const isCut =
    tracked.length > LIMITS.localChecksTrackedFilesMax || bytes > LIMITS.localChecksBytesMax
  if (found.length > 0) return committed(found)
  const left = await unignored(at, new Set(tracked))
  if (left !== null) return left
  const cut = isCut ? ', as far as checked' : ''
  return pass(`No tracked file contains a secret of the service${cut}.`)
}

function committed(found: readonly string[]): CheckResult {
  const [first = ''] = found
  const more = found.length > NAMED_MAX ? ` and ${found.length - NAMED_MAX} more` : ''
  return fail(
    `A secret of the service is committed in ${found.slice(0, NAMED_MAX).join(', ')}${more}.`,
    `Ask the operator to rotate it, because everyone with the repository has it; then remove it (git rm --cached ${quoted(first)}) and keep it in the environment.`,
  )
}

/** A secret that is not tracked yet will be, with the next `git add .`. */
async function unignored(at: LookedAt, tracked: ReadonlySet<string>): Promise<CheckResult | null> {
  const { project, application, world } = at
  for (const { path } of project.files) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const isNear = path.startsWith(application.folder) && /^\.env(?:\.|$)/.test(name)
    if (!isNear || tracked.has(path)) continue
    const text = await project.read(path)
    if (text === null || !SECRET.test(text)) continue
    const asked = await world.git.ask(project.root, SAFE, [...UNTRACKED, '--', path])
    if (asked.code === 0 && asked.out !== '')
      return warn(
        `${path} contains a secret of the service and is not ignored: the next "git add ." would commit it.`,
        `echo ${quoted(name)} >> .gitignore`,
      )
  }
  return null
}

async function trackedFiles({
  project,
  world,
}: LookedAt): Promise<readonly string[] | { readonly why: string }> {
  const listed = await world.git.ask(project.root, SAFE, ['ls-files', '-z', '--cached', '--', '.'])
  if (listed.isCut) return { why: 'Git tracks more files than can be checked.' }
  if (listed.code === null)
    return { why: 'git is not installed, so tracked files could not be checked.' }
  if (listed.code !== 0)
    return {
      why: /not a git repository/.test(listed.err)
        ? 'The project is not in a git repository, so nothing is committed.'
        : `Git could not list its tracked files: ${listed.err.trim().split('\n')[0] ?? ''}`,
    }
  return listed.out.split('\0').filter((path) => path !== '')
}

async function textOf(root: string, path: string): Promise<string | null> {
  try {
    return (await readText(root, path, LIMITS.projectFileBytesMax)).text
  } catch {
    return null // deleted, a folder of a submodule, or not ours to read
  }
}
