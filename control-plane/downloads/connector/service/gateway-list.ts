/**
 * The list of gateways, as it comes from the control plane or from the disk: believed only if the
 * installation that was joined has signed it, for this connector.
 */
import { verify } from 'node:crypto'
import * as v from 'valibot'
import { importConnectorKey } from '../../../../shared/connector/handshake.ts'
import {
  GATEWAY_LIST_TYPE,
  GatewayListSchema,
  type GatewayList,
} from '../../../../shared/connector/requests.ts'

interface ListOwner {
  readonly authority: string
  readonly tenant_id: string
  readonly connector_id: string
}

const HeaderSchema = v.object({
  alg: v.literal('EdDSA'),
  typ: v.literal(GATEWAY_LIST_TYPE),
  crit: v.optional(v.never()),
})

/** A sentence says why it is not believed. */
export function readGatewayList(document: string, owner: ListOwner): GatewayList | string {
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/.exec(document)
  if (parts === null) return 'it is not a signed list'
  const [, header = '', payload = '', signature = ''] = parts
  const key = importConnectorKey(owner.authority)
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify(null, signed, key, Buffer.from(signature, 'base64url')))
    return 'its signature is not that of the service that this connector joined'
  const list = v.safeParse(GatewayListSchema, jsonOf(payload))
  if (!v.is(HeaderSchema, jsonOf(header)) || !list.success) return 'it is not a list of gateways'
  const { tenant_id: tenantId, connector_id: connectorId } = list.output
  if (tenantId !== owner.tenant_id || connectorId !== owner.connector_id)
    return 'it is for another connector'
  return list.output
}

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
