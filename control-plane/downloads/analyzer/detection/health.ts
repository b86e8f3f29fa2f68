/** Which of an application's paths says that it is well. */
import type { Place } from './application.ts'

/** Such a path, and where it stands. */
export type HealthPath = { readonly path: string; readonly at: Place } | null

/** In this order: the first of them is meant for it and for nothing else. */
const NAMES: readonly RegExp[] = [
  /^_?healthz?$|^_?[a-z]+[-_]healthz$/,
  /^_?health[-_]?check$/,
  /^livez$|^_?live(?:ness)?$/,
  /^alive$|^heartbeat$|^__(?:lb)?heartbeat__$/,
  /^readyz$|^ready$|^readiness$/,
  /^up$/,
  /^ping$/,
]

const OF_ADMINISTRATORS = /^(?:admin|settings|manage|dashboard|account|users?)$/

/** The lower the better; null: a path for something else. `/api/healthz/` is one as well. */
export function healthRank(path: string): number | null {
  const segments = path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
  if (segments.length === 0 || segments.length > 5 || /[?#\s]/.test(path)) return null
  // a parameter is somebody's
  if (segments.some((segment) => /[<{:*[(]/.test(segment))) return null
  const last = segments.at(-1) ?? ''
  const rank = NAMES.findIndex((name) => name.test(last))
  const isOfHealth = segments.some((segment) => /^_?health(?:z|[-_]?check)?$/.test(segment))
  // elsewhere a status page tells strangers too much
  // a page that looks after something else: /settings/queue/ping
  if (rank > 2 && !isOfHealth && segments.some((segment) => OF_ADMINISTRATORS.test(segment)))
    return null
  if (rank === -1) return isOfHealth && last === 'status' ? 0.6 : null
  return isOfHealth && rank > 0 ? 0.5 + rank / 100 : rank + (segments.length - 1) / 100
}

/** One whose whole path is known before any whose is not. */
export function bestHealth<
  T extends { readonly path: string; readonly isKnown?: boolean; readonly isStatus?: boolean },
>(found: readonly T[]): T | null {
  const ranked = found.flatMap((one) => {
    const rank = one.isStatus === true ? NAMES.length : healthRank(one.path)
    return rank === null ? [] : [{ one, rank: one.isKnown === false ? rank + NAMES.length : rank }]
  })
  ranked.sort((a, b) => a.rank - b.rank)
  return ranked[0]?.one ?? null
}

export function joinPaths(...parts: readonly string[]): string {
  return `/${parts.join('/')}`.replaceAll(/\/{2,}/g, '/')
}

/** To Node's frameworks a slash at the end says nothing. */
export function routePath(...parts: readonly string[]): string {
  return joinPaths(...parts).replace(/(?<=.)\/$/, '')
}
