/** A device that has enrolled, and the keys that its service signs challenges with. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { makeFileKey } from '../../control-plane/downloads/device-agent/key/file-key.ts'
import { signedAs } from '../../control-plane/downloads/device-agent/signed.ts'
import type { Device } from '../../control-plane/downloads/device-agent/state/device-state.ts'
import { DEVICE_MESSAGES } from '../../shared/device/messages.ts'

export const CID = 'i'.repeat(42) + 'A'

export function challengeKey(kid: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk: Record<string, unknown> = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' }
  return {
    jwk,
    sign: (payload: object, header: Readonly<Record<string, unknown>> = {}) =>
      signedAs({ typ: DEVICE_MESSAGES.challenge, kid, ...header }, payload, async (bytes) =>
        sign('sha256', bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
      ),
  }
}

export function enrolledDevice(
  wish: { readonly keys?: readonly Record<string, unknown>[] } & Partial<Device> = {},
): Device {
  const { keys = [], ...others } = wish
  return {
    version: 1,
    base_url: 'https://id.example.test',
    device_id: 'dev_0123456789abcdef',
    tenant_id: 'acme',
    origin: 'https://id.example.test',
    confirm: 'https://id.example.test/auth/realms/acme/device/confirm',
    challenge_jwks: { keys: [...keys] },
    poll_s: 3600,
    key: makeFileKey(),
    link: { prev: 'n'.repeat(42) + 'A', ctr: 0, boot_id: null, is_sent: false, is_lost: false },
    standing: 'fine',
    posture_hash: null,
    checked_in_at: null,
    update: null,
    ...others,
  }
}
