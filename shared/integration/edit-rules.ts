/**
 * What an edit may touch. Asked where a guide is made, where it is fetched and where it is written,
 * and of our own edits too: a model's answer, a stranger's file and a mistake of ours get no
 * further than this.
 */
import type { GuideEdit } from './guide.ts'

/** Why a project's file at this path is not written; null where it may be. */
export function pathProblem(path: string): string | null {
  if (path === '' || path.length > 512) return 'is not a path'
  if (/[\x00-\x1f\x7f\\:]/.test(path)) return 'is not a plain relative path'
  const segments = path.split('/')
  if (segments.some((segment) => segment === '' || /^\.{1,2}$/.test(segment)))
    return 'is not a plain relative path'
  if (segments.some((segment) => OUT_OF_BOUNDS.has(segment.toLowerCase())))
    return 'is out of bounds'
  return null
}

const OUT_OF_BOUNDS: ReadonlySet<string> = new Set([
  '.git',
  '.husky',
  '.npmrc',
  '.service',
  'node_modules',
])

export function editProblem({ path }: GuideEdit): string | null {
  return pathProblem(path)
}
