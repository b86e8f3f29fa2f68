/**
 * A realm that is away fails every sign-in there is, and whoever asks again and again writes as many
 * lines: of a tenant one a minute is enough, which counts those that there were since the last.
 */
import { MINUTE_MS, type SteadyClock } from '../clock.ts'

interface Warnings {
  warn(fields: object, text: string): void
}

export function seldomWarnings(log: Warnings, clock: SteadyClock): Warnings {
  /** By text and tenant, of which nobody can make up any. */
  const told = new Map<string, { readonly atMs: number; repeated: number }>()

  function forgetOld(nowMs: number) {
    for (const [key, { atMs, repeated }] of told)
      if (repeated === 0 && nowMs - atMs >= MINUTE_MS) told.delete(key)
  }

  return {
    warn(fields, text) {
      const nowMs = clock.steadyMs()
      const { tenant_id: tenantId = '' } = fields as { readonly tenant_id?: string }
      const key = `${tenantId} ${text}`
      const last = told.get(key)
      if (last !== undefined && nowMs - last.atMs < MINUTE_MS) {
        last.repeated++
        return
      }
      forgetOld(nowMs)
      told.set(key, { atMs: nowMs, repeated: 0 })
      const repeated = last?.repeated ?? 0
      log.warn(repeated === 0 ? fields : { ...fields, repeated }, text)
    },
  }
}
