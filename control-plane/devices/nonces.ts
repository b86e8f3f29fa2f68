/**
 * With which a lost chain is mended. Nothing is kept of them: each carries when it ends, and is
 * authenticated together with the device and what its chain was, so that it dies with its use.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { isSameSecret, type Vault } from '../keys/vault.ts'

export function createNonces({ vault, clock }: { vault: Vault; clock: Clock }) {
  const keys = vault.deriveKeys('device nonces')
  const macOf = (body: string, deviceId: string, chainHash: string, key = keys[0]) =>
    createHmac('sha256', key).update(`${body}\n${deviceId}\n${chainHash}`).digest('base64url')

  return {
    /** Of a device that is unknown the hash is empty: whether there is one does not show. */
    make(deviceId: string, chainHash: string): string {
      const endsMs = clock.nowMs() + LIMITS.deviceNonceMs
      const body = `${endsMs.toString(36)}.${randomBytes(16).toString('base64url')}`
      return `${body}.${macOf(body, deviceId, chainHash)}`
    },
    isGood(nonce: string, deviceId: string, chainHash: string): boolean {
      const [ends = '', random = '', mac = '', ...rest] = nonce.split('.')
      const macs = keys.map((key) => macOf(`${ends}.${random}`, deviceId, chainHash, key))
      const isOurs = rest.length === 0 && macs.some((one) => isSameSecret(mac, one))
      return isOurs && parseInt(ends, 36) > clock.nowMs()
    },
  }
}
