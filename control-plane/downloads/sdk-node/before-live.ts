/**
 * Whether visitors without claims are still to get in: before go-live, and after a go-back, the edge
 * lets everybody pass and names nobody. Only the service's own signed word of the last seconds opens;
 * silence, an answer that does not verify, and an answer that is old are all the same: closed. So
 * whoever cuts the application off from the service gains nothing.
 */
import { readBounded } from '../../../shared/bounded-text.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { TokenTrust } from '../../../shared/enforcement/token.ts'
import type { TokenReason } from '../../../shared/reasons.ts'
import {
  PROTECTION_STATEMENT_SECONDS,
  PROTECTION_STATEMENT_TYPE,
} from '../../../shared/protection-statement.ts'
import { proveWord } from './probe.ts'

interface BeforeLiveWorld {
  /** `{base_url}/tenants/<tenant_id>/protection` */
  readonly url: string
  readonly tenantId: string
  /** Whether this statement opens, by the tenant's keys. */
  readonly opens: (statement: string) => boolean | Promise<boolean>
  readonly fetch: typeof fetch
  readonly steadyMs: () => number
  readonly onWarning: (message: string) => void
}

export function createBeforeLive(world: BeforeLiveWorld) {
  const { url, tenantId, steadyMs, onWarning } = world
  const closing = new AbortController()
  let isOpen = false
  let isSilent = false
  let askedAtMs = -Infinity
  let pending: Promise<boolean> | undefined

  /** Nobody is asked again within the time that an answer, or silence, is gone by. */
  async function ask(): Promise<boolean> {
    askedAtMs = steadyMs()
    const wasOpen = isOpen
    isOpen = false // whatever goes wrong below
    try {
      const answer = await world.fetch(url, {
        headers: { accept: 'application/jwt' },
        redirect: 'error',
        signal: AbortSignal.any([AbortSignal.timeout(LIMITS.protectionAskMsMax), closing.signal]),
      })
      const statement = await readBounded(answer, LIMITS.protectionStatementBytesMax)
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
      isOpen = await world.opens(statement)
      isSilent = false
    } catch (error) {
      tellOfSilence(error)
    }
    if (isOpen && !wasOpen)
      onWarning(
        `service-node: ${tenantId} is not live yet: requests pass through without a signed-in user`,
      )
    return isOpen
  }

  function tellOfSilence(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (!isSilent && !closing.signal.aborted)
      onWarning(
        `service-node: could not find out whether ${tenantId} is live, so requests without claims are refused: ${reason}`,
      )
    isSilent = true
  }

  return {
    /** At once where the answer of the last seconds is still good. Never rejects. */
    isOpen() {
      // one that was handed in and is set back must not keep the answer of yesterday
      if (pending === undefined && Math.abs(steadyMs() - askedAtMs) < LIMITS.protectionKnownMs)
        return isOpen
      pending ??= ask().finally(() => (pending = undefined))
      return pending
    },
    close: () => closing.abort(),
  }
}

const STATEMENT = { type: PROTECTION_STATEMENT_TYPE, secondsMax: PROTECTION_STATEMENT_SECONDS }

/** What a statement says of the tenant's protection; the reason where it is not to be believed. */
export function judgeStatement(
  statement: string,
  trust: TokenTrust,
  nowSeconds: number,
): 'pass-through' | 'on' | TokenReason | 'refused' {
  const claims = proveWord(statement, trust, nowSeconds, STATEMENT)
  if (typeof claims === 'string') return claims
  return claims['protection'] === 'pass-through' ? 'pass-through' : 'on'
}
