/** The release before this one, as a folder from which its programs run. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MIGRATIONS = 'control-plane/store/migrations/migrations.ts'

const git = (...args: readonly string[]) =>
  execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

/**
 * The commit of the newest tag, or the one before the newest migration; UPGRADE_FROM names another one.
 * undefined: this is no clone, or one without its history.
 */
export function releaseBefore(): string | undefined {
  const asked = process.env['UPGRADE_FROM']
  try {
    if (asked) return git('rev-parse', '--verify', `${asked}^{commit}`)
    const tag = git('tag', '--list', '--sort=-creatordate', '--merged', 'HEAD^').split('\n')[0]
    if (tag) return git('rev-parse', `${tag}^{commit}`)
    const migrated = git('log', '-1', '--first-parent', '--format=%H', '--', MIGRATIONS)
    return git('rev-parse', '--verify', `${migrated}^1`)
  } catch {
    return undefined
  }
}

export function checkOut(commit: string, folder: string): string {
  const root = join(folder, 'before')
  mkdirSync(root)
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', root], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  return root
}
