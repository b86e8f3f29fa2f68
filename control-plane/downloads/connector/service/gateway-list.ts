/**
 * The list of gateways, as it comes from the control plane or from the disk: believed only if the
 * installation that was joined has signed it, for this connector.
 */
import { verify, type KeyObject } from 'node:crypto'
import * as v from 'valibot'
import { importConnectorKey } from '../../../../shared/connector/handshake.ts'
import {
  GATEWAY_LIST_TYPE,
  GatewayListSchema,
  HANDOVER_TYPE,
  HandoverSchema,
  type GatewayList,
} from '../../../../shared/connector/requests.ts'

interface ListOwner {
  readonly authority: string
  /** The key that its lists have named as the next one. */
  readonly next_authority?: string | undefined
  readonly tenant_id: string
  readonly connector_id: string
}

interface StateDocuments {
  readonly document: string
  readonly handovers?: readonly string[] | undefined
}

/** With the key that has signed it. */
export type SignedList = GatewayList & { readonly signer: string }

/** As the control plane answers; with the words of its keys, for whoever was away while they changed. */
export function readStateDocument(
  { document, handovers = [] }: StateDocuments,
  owner: ListOwner,
): SignedList | string {
  const read = readGatewayList(document, owner)
  if (read !== UNKNOWN_KEY) return read
  const next = handedOver(handovers, owner)
  return next === undefined ? read : readGatewayList(document, { ...owner, next_authority: next })
}

/** A sentence says why it is not believed. */
export function readGatewayList(document: string, owner: ListOwner): SignedList | string {
  const jws = partsOf(document)
  if (jws === undefined) return 'it is not a signed list'
  const signer = believedBy(owner).find((key) => isSignedBy(jws, importConnectorKey(key)))
  if (signer === undefined) return UNKNOWN_KEY
  const list = v.safeParse(GatewayListSchema, jsonOf(jws.payload))
  if (!isOfType(jws, GATEWAY_LIST_TYPE) || !list.success) return 'it is not a list of gateways'
  const { tenant_id: tenantId, connector_id: connectorId, authorities } = list.output
  if (tenantId !== owner.tenant_id || connectorId !== owner.connector_id)
    return 'it is for another connector'
  if (authorities !== undefined && authorities[0] !== signer)
    return 'it names another key than the one that has signed it'
  return { ...list.output, signer }
}

const UNKNOWN_KEY =
  'its signature is not that of the service that this connector joined. Something on the way may answer in its place; if its operator has replaced its key while this connector was away, use service-connector leave, then join with a new token'

/** Where the words of keys lead to, from one that is believed; undefined: nowhere. */
function handedOver(handovers: readonly string[], owner: ListOwner): string | undefined {
  const believed = believedBy(owner)
  let last: string | undefined
  for (const word of handovers) {
    const jws = partsOf(word)
    if (jws === undefined || !isOfType(jws, HANDOVER_TYPE)) continue
    if (!believed.some((key) => isSignedBy(jws, importConnectorKey(key)))) continue
    const handover = v.safeParse(HandoverSchema, jsonOf(jws.payload))
    if (handover.success) believed.push((last = handover.output.next))
  }
  return last
}

const believedBy = ({ authority, next_authority: next }: ListOwner): string[] =>
  next === undefined ? [authority] : [authority, next]

interface Jws {
  readonly header: string
  readonly payload: string
  readonly signature: string
}

function partsOf(document: string): Jws | undefined {
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/.exec(document)
  if (parts === null) return undefined
  const [, header = '', payload = '', signature = ''] = parts
  return { header, payload, signature }
}

const isSignedBy = ({ header, payload, signature }: Jws, key: KeyObject): boolean =>
  verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))

function isOfType({ header }: Jws, typ: string): boolean {
  const schema = v.object({
    alg: v.literal('EdDSA'),
    typ: v.literal(typ),
    crit: v.optional(v.never()),
  })
  return v.is(schema, jsonOf(header))
}

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
