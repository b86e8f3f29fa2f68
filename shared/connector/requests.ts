/**
 * What a connector asks of the control plane, and what it signs for it. Each request is signed as
 * a whole, so that whoever reads along (an egress proxy that opens TLS) can make no other one of it.
 */
import { sign, verify, type KeyObject } from 'node:crypto'
import * as v from 'valibot'
import { GatewayDoorSchema, TENANT_ID } from '../fleet/snapshot.ts'

/** `typ` of the signed list of gateways. */
export const GATEWAY_LIST_TYPE = 'connector-gateways+jwt'
/** `typ` of the word of a key that has signed them: which key does so after it. */
export const HANDOVER_TYPE = 'connector-handover+jwt'

/** A public key, 32 bytes in base64url. */
const authorityKey = v.pipe(v.string(), v.regex(/^[\w-]{43}$/))

export const HandoverSchema = v.object({ next: authorityKey })
export type Handover = v.InferOutput<typeof HandoverSchema>

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,100}$/))

/** It never expires. Of two lists the one with the higher `sequence` counts. */
export const GatewayListSchema = v.object({
  tenant_id: v.pipe(v.string(), v.regex(TENANT_ID)),
  connector_id: id,
  gateways: v.array(v.object({ gateway_id: id, ...GatewayDoorSchema.entries })),
  sequence: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** The key that signs this one, and the one that will take its place. */
  authorities: v.optional(v.pipe(v.array(authorityKey), v.minLength(1), v.maxLength(2))),
})
export type GatewayList = v.InferOutput<typeof GatewayListSchema>

interface SignedRequest {
  readonly kind: 'state' | 'leave'
  readonly challenge: string
  readonly connectorId: string
  readonly keyId: string
  /** Of a rotation. */
  readonly nextPublicKey?: string | undefined
  /** The key that is to sign lists: it lies on the disk. */
  readonly authority?: string | undefined
}

/** Fields cannot run into each other: none of them holds a line feed. */
function signedBytes(request: SignedRequest): Buffer {
  const { kind, challenge, connectorId, keyId, nextPublicKey, authority } = request
  const lines = [`service-connector ${kind} 1`, challenge, connectorId, keyId]
  if (nextPublicKey !== undefined) lines.push(nextPublicKey)
  if (authority !== undefined) lines.push(`authority ${authority}`)
  return Buffer.from(lines.join('\n'))
}

export const signRequest = (request: SignedRequest, key: KeyObject): string =>
  sign(null, signedBytes(request), key).toString('base64url')

export const isRequestSignedBy = (
  request: SignedRequest,
  signature: string,
  key: KeyObject,
): boolean => verify(null, signedBytes(request), key, Buffer.from(signature, 'base64url'))
