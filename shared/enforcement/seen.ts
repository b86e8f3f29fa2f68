/**
 * Idle time without shared state. The companion cookie carries the last-seen second and the
 * client's fingerprint, authenticated under a key that every gateway of the tenant can derive, and
 * bound to the session: another session's cookie does not fit.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export interface Seen {
  readonly seconds: number
  readonly fingerprint: string
}

/** What is written is written with the newest; while a client secret is rotated an older is read. */
export type SealingKeys = readonly [newest: Buffer, ...older: Buffer[]]

const MAC_BYTES = 32

export function deriveKey(clientSecret: string, purpose: 'seen' | 'flow'): Buffer {
  return Buffer.from(hkdfSync('sha256', clientSecret, '', `service/${purpose}`, 32))
}

export function writeSeen(seen: Seen, sid: string, key: Buffer): string {
  const body = `${seen.seconds.toString(36)}.${Buffer.from(seen.fingerprint).toString('base64url')}`
  return `${body}.${macOf(body, sid, key).toString('base64url')}`
}

export function readSeen(value: string, sid: string, keys: readonly Buffer[]): Seen | undefined {
  const match = /^(([0-9a-z]{1,9})\.([A-Za-z0-9_-]{1,200}))\.([A-Za-z0-9_-]{43})$/.exec(value)
  if (match === null) return undefined
  const [, body = '', seconds = '', fingerprint = '', mac = ''] = match
  const given = Buffer.from(mac, 'base64url')
  if (given.length !== MAC_BYTES) return undefined
  if (!keys.some((key) => timingSafeEqual(given, macOf(body, sid, key)))) return undefined
  return {
    seconds: parseInt(seconds, 36),
    fingerprint: Buffer.from(fingerprint, 'base64url').toString('utf8'),
  }
}

/** Rewritten at most this often, so that most answers carry no Set-Cookie. */
export function seenIntervalSeconds(idleSeconds: number): number {
  return Math.max(1, Math.floor(idleSeconds / 30))
}

function macOf(body: string, sid: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(`seen\0${sid}\0${body}`).digest()
}
