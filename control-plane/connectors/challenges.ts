/**
 * What a connector signs to show that it is there now. Nothing is kept of them: each carries when it
 * ends and for whom it is, authenticated. The clock is ours.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { isSameSecret, type Vault } from '../keys/vault.ts'

export function createChallenges({ vault, clock }: { vault: Vault; clock: Clock }) {
  const keys = vault.deriveKeys('connector challenges')
  const macOf = (body: string, connectorId: string, key = keys[0]) =>
    createHmac('sha256', key).update(`${body}\n${connectorId}`).digest('base64url')

  return {
    /** Whether there is such a connector has no part in it. */
    make(connectorId: string): string {
      const endsMs = clock.nowMs() + LIMITS.connectorChallengeMs
      const body = `${endsMs.toString(36)}.${randomBytes(16).toString('base64url')}`
      return `${body}.${macOf(body, connectorId)}`
    },
    isGood(challenge: string, connectorId: string): boolean {
      const [ends = '', nonce = '', mac = '', ...rest] = challenge.split('.')
      const macs = keys.map((key) => macOf(`${ends}.${nonce}`, connectorId, key))
      const isOurs = rest.length === 0 && macs.some((one) => isSameSecret(mac, one))
      return isOurs && parseInt(ends, 36) > clock.nowMs()
    },
  }
}
