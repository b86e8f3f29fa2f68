/**
 * What is added to the application's answer to a signed-in user: `Cache-Control: private` unless it
 * says itself that others may have it, and our cookies where no shared cache may store them
 * (.docs/decisions/0002). Whatever way an application takes to write its head, it ends in `writeHead`.
 */
import {
  isTargetedSharing,
  sharingOf,
  TARGETED_CACHE_FIELDS,
} from '../../../../shared/enforcement/answer-sharing.ts'
import type { Forward } from '../guard.ts'
import type { Outgoing } from './messages.ts'

type Additions = Pick<Forward, 'identity' | 'privateCookies'>

/** Once per request, before the application has it. */
export function addToAnswer(response: Outgoing, additions: Additions): void {
  if (additions.identity === undefined && additions.privateCookies.length === 0) return
  const writeHead = response.writeHead as (...given: unknown[]) => Outgoing
  response.writeHead = (...given: unknown[]) => {
    const hasReason = typeof given[1] === 'string'
    const fieldsAt = hasReason || given.length > 2 ? 2 : 1
    if (!response.headersSent && Number(given[0]) >= 200) {
      const fields = given[fieldsAt]
      if (typeof fields === 'object' && fields !== null)
        given[fieldsAt] = addToFields(response, fields, additions)
      else addToHead(response, additions)
    }
    return writeHead.apply(response, given)
  }
}

/** The application has set its headers one by one, or none. */
function addToHead(response: Outgoing, additions: Additions): void {
  const cacheControl = textOf(response.getHeader('cache-control'))
  const added = cacheControlFor(cacheControl, additions)
  if (added === undefined) return
  if (added !== cacheControl) response.setHeader('Cache-Control', added)
  if (additions.privateCookies.length === 0 || isShared((name) => response.getHeader(name))) return
  response.setHeader(
    'Set-Cookie',
    joined(response.getHeader('set-cookie'), additions.privateCookies),
  )
}

/** The standard's Response, which can be changed until it is sent. */
export function addToResponse(headers: Headers, additions: Additions): void {
  const added = cacheControlFor(headers.get('cache-control') ?? '', additions)
  if (added === undefined) return
  headers.set('Cache-Control', added)
  if (isShared((name) => headers.get(name))) return
  for (const cookie of additions.privateCookies) headers.append('Set-Cookie', cookie)
}

type Fields = Record<string, unknown>

/** It hands them over with the status. They may be a constant of its own: a copy is changed. */
function addToFields(response: Outgoing, given: object, additions: Additions): unknown {
  const fields = Array.isArray(given) ? grouped(given) : { ...(given as Fields) }
  if (fields === undefined) return given // Node is to say what is wrong with them
  const cacheName = nameIn(fields, 'cache-control') ?? 'Cache-Control'
  const cookieName = nameIn(fields, 'set-cookie') ?? 'Set-Cookie'
  const cacheControl = textOf(fields[cacheName] ?? response.getHeader('cache-control'))
  const added = cacheControlFor(cacheControl, additions)
  if (added === undefined) return fields
  if (added !== cacheControl) fields[cacheName] = added
  const valueOf = (name: string) => fields[nameIn(fields, name) ?? name] ?? response.getHeader(name)
  if (additions.privateCookies.length > 0 && !isShared(valueOf)) {
    const own = fields[cookieName] ?? response.getHeader('set-cookie')
    fields[cookieName] = joined(own, additions.privateCookies)
  }
  return fields
}

/** What Cache-Control is to say; undefined where a shared cache may store the answer. */
function cacheControlFor(given: string, { identity }: Additions): string | undefined {
  const sharing = sharingOf(given)
  if (sharing === 'forbidden') return given
  if (sharing === 'allowed' || identity === undefined) return undefined
  return given === '' ? 'private' : `${given}, private`
}

/** By a cache that does not look at Cache-Control. */
const isShared = (valueOf: (name: string) => unknown): boolean =>
  TARGETED_CACHE_FIELDS.some((name) => isTargetedSharing(textOf(valueOf(name))))

/** A head that could not be written is written again: nothing is to be in it twice. */
function joined(own: unknown, cookies: readonly string[]): string[] {
  const before = own === undefined ? [] : [own].flat().map(String)
  return [...before, ...cookies.filter((cookie) => !before.includes(cookie))]
}

function textOf(value: unknown): string {
  return [value ?? ''].flat().map(String).join(', ')
}

function nameIn(fields: Fields, wanted: string): string | undefined {
  for (const name in fields)
    if (name.length === wanted.length && name.toLowerCase() === wanted) return name
  return undefined
}

/** `[name, value, …]` or `[[name, value], …]` by name, what is repeated as a list. */
function grouped(list: readonly unknown[]): Fields | undefined {
  const flat = Array.isArray(list[0]) ? list.flat() : list
  if (flat.length % 2 !== 0) return undefined
  const fields: Fields = {}
  const nameByKey = new Map<string, string>()
  for (let at = 0; at < flat.length; at += 2) {
    const name = String(flat[at])
    const known = nameByKey.get(name.toLowerCase())
    nameByKey.set(name.toLowerCase(), known ?? name)
    fields[known ?? name] =
      known === undefined ? flat[at + 1] : [fields[known], flat[at + 1]].flat()
  }
  return fields
}
