/** What a connector asks of the control plane: to join, who its gateways are, to leave. */
import * as v from 'valibot'
import { signRequest } from '../../../../shared/connector/requests.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { TENANT_ID } from '../../../../shared/fleet/snapshot.ts'
import type { ProblemCode } from '../../command-line/exit.ts'
import { openKey, type StoredKey } from '../state/own-keys.ts'
import { exchange, ExchangeError } from '../../resident/exchange.ts'
import type { Proxies } from '../../resident/proxies.ts'
import { notTheService, refusalOf, unreachable } from '../../resident/refusals.ts'

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,100}$/))
const document = v.pipe(v.string(), v.maxLength(128 * 1024))
const seconds = v.pipe(v.number(), v.minValue(1), v.maxValue(24 * 3600))

const JoinAnswer = v.object({
  tenant_id: v.pipe(v.string(), v.regex(TENANT_ID)),
  connector_id: id,
  key_id: id,
  authority: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  document,
})
const ChallengeAnswer = v.object({ challenge: v.pipe(v.string(), v.regex(/^[\w.-]{1,200}$/)) })
const handover = v.pipe(v.string(), v.maxLength(1024))
const StateAnswer = v.object({
  document,
  poll_seconds: seconds,
  key_id: v.optional(id),
  handovers: v.optional(v.pipe(v.array(handover), v.maxLength(LIMITS.connectorHandoversMax))),
})
export type StateAnswer = v.InferOutput<typeof StateAnswer>

interface Signing {
  readonly connectorId: string
  readonly key: StoredKey & { readonly key_id: string }
}

/** What a connector says of itself besides. */
interface StateFacts {
  readonly nextPublicKey?: string | undefined
  /** The key that is to sign lists, once it is on the disk. */
  readonly authority?: string | undefined
}

export type Service = ReturnType<typeof createService>

export function createService({ baseUrl, proxies }: { baseUrl: string; proxies: Proxies }) {
  async function ask(
    path: string,
    body: object,
    options: { readonly bearer?: string; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<unknown> {
    const url = new URL(`${baseUrl}/api/v1/connector/${path}`)
    try {
      const answer = await exchange({ url, body, proxies, ...options })
      if (answer.status >= 200 && answer.status < 300) return answer.body
      throw refusalOf({ baseUrl, named: NAMED }, answer)
    } catch (error) {
      throw error instanceof ExchangeError ? unreachable(baseUrl, error) : error
    }
  }

  function read<Schema extends v.GenericSchema>(
    schema: Schema,
    answer: unknown,
  ): v.InferOutput<Schema> {
    const read = v.safeParse(schema, answer)
    if (read.success) return read.output
    throw notTheService(baseUrl)
  }

  async function signed(
    kind: 'state' | 'leave',
    { connectorId, key }: Signing,
    { nextPublicKey, authority }: StateFacts = {},
    signal?: AbortSignal,
  ): Promise<unknown> {
    const asked = await ask('challenge', { connector_id: connectorId }, { signal })
    const { challenge } = read(ChallengeAnswer, asked)
    const request = { kind, challenge, connectorId, keyId: key.key_id, nextPublicKey, authority }
    const body = {
      connector_id: connectorId,
      key_id: key.key_id,
      challenge,
      signature: signRequest(request, openKey(key)),
      ...(nextPublicKey !== undefined && { next_public_key: nextPublicKey }),
      ...(authority !== undefined && { authority }),
    }
    return ask(kind, body, { signal })
  }

  return {
    baseUrl,
    async join(token: string, wish: { publicKey: string; name: string; program: string }) {
      const { publicKey, name, program } = wish
      const body = { public_key: publicKey, name, program }
      return read(JoinAnswer, await ask('join', body, { bearer: token }))
    },
    async state(
      signing: Signing,
      { signal, ...facts }: StateFacts & { readonly signal?: AbortSignal } = {},
    ): Promise<StateAnswer> {
      return read(StateAnswer, await signed('state', signing, facts, signal))
    },
    async leave(signing: Signing): Promise<void> {
      await signed('leave', signing)
    },
  }
}

/** What the service has a name for is said in its own words. */
const NAMED: Readonly<Record<string, ProblemCode>> = {
  connector_token_invalid: 'token_refused',
  connectors_full: 'token_refused',
  connector_refused: 'connector_refused',
}
