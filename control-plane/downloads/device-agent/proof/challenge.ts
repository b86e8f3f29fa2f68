/** A challenge that our own service has signed for our own tenant, or nothing. */
import * as v from 'valibot'
import { ChallengeSchema, DEVICE_MESSAGES } from '../../../../shared/device/messages.ts'
import { pinnedKeys, verifiedAs } from '../signed.ts'
import type { Device } from '../state/device-state.ts'

type Pinned = Pick<Device, 'challenge_jwks' | 'origin' | 'tenant_id'>

/** What is to be answered; when it is too late for it is known to the service alone. */
export function cidIn(challenge: string, pinned: Pinned): string | null {
  const keys = pinnedKeys(pinned.challenge_jwks)
  const payload = verifiedAs(DEVICE_MESSAGES.challenge, challenge, keys)
  const read = v.safeParse(ChallengeSchema, payload)
  if (!read.success) return null
  const { iss, aud, cid } = read.output
  return iss === pinned.origin && aud === pinned.tenant_id ? cid : null
}
