/** The target of a request line as path and query: what is decided on, and what is routed by. */
import type { BadRequest } from '../../../shared/enforcement/bad-requests.ts'
import {
  agreesWith,
  hasBrokenEscape,
  isOriginForm,
  readAbsoluteForm,
} from '../../../shared/enforcement/target.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { GuardedRequest } from './guard.ts'

type TargetProblem = Exclude<BadRequest, 'host'>

/**
 * `/a?b` as it stands; `http://host/a?b` without what is before its path, where it agrees with
 * Host. In origin-form, or `*`: neither can be taken for one of the problems, which are those of the
 * edge. `authority` is '' where there is not exactly one Host.
 */
export function readTarget(target: string, method: string, authority: string): string {
  if (target.length > LIMITS.targetBytesMax) return 'targetTooLong'
  if (method === 'CONNECT' || method === 'TRACE' || !/^[A-Z-]+$/.test(method)) return 'method'
  if (target === '*') return method === 'OPTIONS' ? target : 'target'
  if (isOriginForm(target)) return hasBrokenEscape(target) ? 'target' : target
  const form = readAbsoluteForm(target, method)
  if (form === undefined || !form.hasOneReading) return 'target'
  if (!agreesWith(form, authority)) return 'hostMismatch'
  if (form.target === '*') return '*'
  return isOriginForm(form.target) && !hasBrokenEscape(form.target) ? form.target : 'target'
}

export function isTargetProblem(read: string): read is TargetProblem {
  return read !== '*' && !read.startsWith('/')
}

/** For a guard that needs nothing else of the head. */
export function targetOf({ target, method, rawHeaders }: GuardedRequest): string | undefined {
  // the look at the lines is only for the odd form
  const authority = target.startsWith('/') ? '' : onlyHost(rawHeaders)
  const read = readTarget(target, method, authority)
  return isTargetProblem(read) ? undefined : read
}

function onlyHost(rawHeaders: readonly string[]): string {
  const hosts = rawHeaders.filter(
    (_line, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host',
  )
  return hosts.length === 1 ? hosts[0]! : ''
}
