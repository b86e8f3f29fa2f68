/** Paths of a project: relative to its root, with `/`; '' is the root. */
import { posix } from 'node:path'

/** null: it leads out of the project. */
export function joined(folder: string, path: string): string | null {
  const whole = posix.normalize(
    posix.join(folder === '' ? '.' : folder, path.replaceAll('\\', '/')),
  )
  if (whole === '.' || whole === './') return ''
  if (whole.startsWith('..') || whole.startsWith('/')) return null
  return whole.replace(/\/$/, '')
}

export function isWithin(folder: string, path: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

/** Shown, tried out and tested, but not what is run for others. */
export function isAside(path: string): boolean {
  return /(?:^|\/)(?:tests?|__tests__|specs?|e2e|examples?|samples?|demos?|fixtures|__fixtures__|__mocks__|benchmarks?|docs|templates?|playground)\//i.test(
    path,
  )
}

export function isTest(path: string): boolean {
  return /[.-](?:test|spec|e2e|stories|d)\.[cm]?[jt]sx?$/.test(path)
}

/** `apps/*`, `packages/**`, `!packages/old` of workspaces as one question. */
export function matchesWorkspace(patterns: readonly string[], folder: string): boolean {
  const fits = (pattern: string) => globbed(pattern).test(`${folder}/`)
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'))
  const unwanted = patterns.filter((pattern) => pattern.startsWith('!'))
  return wanted.some(fits) && !unwanted.some((pattern) => fits(pattern.slice(1)))
}

/**
 * One star is a segment, two are any number; `{a,b}` and the like are any text. More stars than
 * anybody writes are taken as fewer: an expression with many takes forever to say no.
 */
function globbed(pattern: string): RegExp {
  const segments = pattern
    .replace(/^\.?\//, '')
    .replace(/\/$/, '')
    .slice(0, 200)
    .split('/')
  const deep = segments.indexOf('**')
  const parts = segments.map((segment, index) => {
    if (segment === '**') return index === deep ? '(?:[^/]+/)*' : '[^/]*/'
    const pieces = segment.split(/(?:\{[^}]*\}|[*?])+/)
    if (pieces.length > 3) return '[^/]*/'
    return `${pieces.map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^/]*')}/`
  })
  return new RegExp(`^${parts.join('')}$`)
}
