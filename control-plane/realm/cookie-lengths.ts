import { SECOND_MS } from '../../shared/clock.ts'
import type { RealmContext } from './world.ts'

/**
 * The provider says by the clock on the wall when its cookies end, and a device whose clock runs
 * ahead may throw them away at once: its owner could never sign in. A length of time means the
 * same on every clock, and wins where both are given (RFC 6265, section 5.3).
 */
export async function cookieLengths(ctx: RealmContext, next: () => Promise<unknown>) {
  await next()
  const lines = ctx.res.getHeader('Set-Cookie')
  if (!Array.isArray(lines)) return
  ctx.set('Set-Cookie', lines.map(withLength))
}

function withLength(line: string): string {
  const [, expires] = /; expires=([^;]+)/i.exec(line) ?? []
  if (expires === undefined || /; max-age=/i.test(line)) return line
  const seconds = Math.max(0, Math.round((Date.parse(expires) - Date.now()) / SECOND_MS))
  return `${line}; max-age=${seconds}`
}
