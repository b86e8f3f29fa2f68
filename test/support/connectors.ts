/** A tenant in connector mode, and programs that join it, without a socket. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { compactVerify } from 'jose'
import * as v from 'valibot'
import { importConnectorKey } from '../../shared/connector/handshake.ts'
import { GatewayListSchema, signRequest } from '../../shared/connector/requests.ts'
import { startApi } from './api.ts'
import { movableClock } from './control-plane.ts'

export interface OwnKey {
  readonly privateKey: KeyObject
  readonly publicKey: string
}

export function makeKey(): OwnKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ format: 'jwk' }).x ?? '' }
}

/** Who a program is once it has joined. */
export interface Joined {
  readonly tenant_id: string
  readonly connector_id: string
  readonly key_id: string
  readonly authority: string
  readonly document: string
}

type Settings = Parameters<typeof startApi>[1]

export async function startConnectors(t: Parameters<typeof startApi>[0], settings: Settings = {}) {
  const clock = movableClock()
  const api = await startApi(t, { clock, ...settings })
  const { call, operator } = api
  await api.tenant('acme', { mode: 'connector' })
  await operator('POST', '/tenants/acme/publish')

  const ask = (path: string, body: object, key: string | null = null, address = '192.0.2.1') =>
    call('POST', `/api/v1/connector/${path}`, body, { key, address })

  async function token(body: object = {}) {
    const made = await operator('POST', '/tenants/acme/connector-tokens', body)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return made.body as { token: string; token_id: string; expires_at: string }
  }

  const join = (token: string, publicKey: string, name = 'web-1') =>
    ask('join', { public_key: publicKey, name, program: '1.0.0' }, token)

  async function joined(own: OwnKey = makeKey()) {
    const answer = await join((await token()).token, own.publicKey)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return { ...(answer.body as unknown as Joined), own }
  }

  async function challenge(connectorId: string): Promise<string> {
    return String((await ask('challenge', { connector_id: connectorId })).body['challenge'])
  }

  /** A request as a program signs it; `other` is what is sent besides; a challenge and an authority among it are signed too, the rest is not. */
  async function signed(
    kind: 'state' | 'leave',
    who: Pick<Joined, 'connector_id' | 'key_id'> & { readonly own: OwnKey },
    nextPublicKey?: string,
    other: {
      readonly challenge?: string
      readonly authority?: string
      readonly [field: string]: string | undefined
    } = {},
  ) {
    const { connector_id: connectorId, key_id: keyId, own } = who
    const given = other.challenge ?? (await challenge(connectorId))
    const { authority } = other
    const request = { kind, challenge: given, connectorId, keyId, nextPublicKey, authority }
    return ask(kind, {
      connector_id: connectorId,
      key_id: keyId,
      challenge: given,
      signature: signRequest(request, own.privateKey),
      ...(nextPublicKey !== undefined && { next_public_key: nextPublicKey }),
      ...other,
    })
  }

  return { ...api, clock, ask, token, join, joined, challenge, signed }
}

/** As a program reads it. */
export async function readDocument(document: string, authority: string) {
  const { payload, protectedHeader } = await compactVerify(document, importConnectorKey(authority))
  const list = v.parse(GatewayListSchema, JSON.parse(Buffer.from(payload).toString()))
  return { list, header: protectedHeader }
}
