/**
 * A sign-in under way, sealed into a cookie of its own: no login state in one gateway's memory, and
 * several tabs do not disturb each other. Bounded in number, short-lived, cleared at the callback.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { FLOW_COOKIE_PREFIX, HOST_PREFIX } from '../enforcement/cookies.ts'
import type { SealingKeys } from '../enforcement/seen.ts'
import { LIMITS } from '../limits.ts'

export interface Flow {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
  readonly returnTo: string
  readonly startedSeconds: number
  /** The person is to prove it again: an older sign-in of the realm does not do. */
  readonly isFresh: boolean
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
const FLOW_ID = /^[0-9a-z]{7,9}[A-Za-z0-9_-]{11}$/

/** Begins with its time, so that the oldest of several is known by name. */
export function newFlowId(nowSeconds: number): string {
  return nowSeconds.toString(36).padStart(7, '0') + randomBytes(8).toString('base64url')
}

/** The flow's id travels in `state`, so the callback knows which cookie is its own. */
export function flowIdOf(state: string): string | undefined {
  const id = state.split('.', 1)[0] ?? ''
  return FLOW_ID.test(id) ? id : undefined
}

/**
 * Over TLS with the prefix that no sibling host can set: a flow that was tossed in from there would
 * sign its victim in as somebody else.
 */
export function flowCookieName(flowId: string, isSecure: boolean): string {
  return (isSecure ? HOST_PREFIX : '') + FLOW_COOKIE_PREFIX + flowId
}

export function flowCookiePath(isSecure: boolean): string {
  return isSecure ? '/' : '/service'
}

export function sealFlow(flow: Flow, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = [nonce, cipher.update(JSON.stringify(flow), 'utf8'), cipher.final()]
  return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Undefined for whatever is not a flow of ours that is still young. */
export function openFlow(value: string, keys: SealingKeys, nowSeconds: number): Flow | undefined {
  const bytes = Buffer.from(value, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  for (const key of keys) {
    const flow = openWith(bytes, key)
    if (flow !== undefined)
      return nowSeconds - flow.startedSeconds <= LIMITS.flowSecondsMax ? flow : undefined
  }
  return undefined
}

function openWith(bytes: Buffer, key: Buffer): Flow | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
    return JSON.parse(Buffer.concat([opened, decipher.final()]).toString('utf8')) as Flow
  } catch {
    return undefined
  }
}
