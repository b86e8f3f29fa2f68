/** The target of a request line as path and query: what is decided on, and what is routed by. */
import {
  agreesWith,
  hasBrokenEscape,
  isOriginForm,
  readAbsoluteForm,
} from '../../../shared/enforcement/target.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { GuardedRequest } from './guard.ts'

/**
 * `/a?b` as it stands; `http://host/a?b` without what is before its path, where it agrees with
 * Host. Undefined for everything that the edge refuses as well.
 */
export function targetOf(request: GuardedRequest): string | undefined {
  const { target, method } = request
  if (target.length > LIMITS.targetBytesMax) return undefined
  if (target.charCodeAt(0) === 0x2f) return plain(target)
  if (target === '*') return method === 'OPTIONS' ? target : undefined
  const form = readAbsoluteForm(target, method)
  const host = onlyHost(request.rawHeaders)
  if (form === undefined || !form.hasOneReading || host === undefined || !agreesWith(form, host))
    return undefined
  return form.target === '*' ? '*' : plain(form.target)
}

const plain = (target: string) =>
  isOriginForm(target) && !hasBrokenEscape(target) ? target : undefined

function onlyHost(rawHeaders: readonly string[]): string | undefined {
  const hosts = rawHeaders.filter(
    (_line, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host',
  )
  return hosts.length === 1 ? hosts[0] : undefined
}
