/**
 * Who was refused, for the operator's log: each once, and a flood of them as one line with its number.
 * What it says of its tenant and connector is its own claim.
 */
import type { Logger } from 'pino'
import type { ConnectorHello, HopHello } from '../../shared/connector/handshake.ts'
import type { HandshakeRefusal } from '../../shared/connector/messages.ts'

export type Refusal =
  | HandshakeRefusal
  | 'malformed'
  | 'timeout'
  /** Signed by another key, or for another connection. */
  | 'signature'
  /** Bytes that nobody has asked for. */
  | 'unasked'
  /** Too many wait for their handshake. */
  | 'crowded'

export type Claim = Partial<Pick<ConnectorHello, 'tenant_id' | 'connector_id' | 'key_id'>> & {
  readonly gateway_id?: string
}

const GATHER_MS = 1000

export function createRefusals(log: Pick<Logger, 'warn'>, gatherMs = GATHER_MS) {
  const gathered = new Map<Refusal, { client: string; claim: Claim; refused: number }>()
  let telling: NodeJS.Timeout | undefined

  function tell(): void {
    clearTimeout(telling)
    telling = undefined
    for (const [reason, { client, claim, refused }] of gathered)
      log.warn({ reason, client, ...claim, refused }, 'a connector was refused')
    gathered.clear()
  }

  return {
    /** Of those with one reason the first is named. */
    note(reason: Refusal, client: string, claim: Claim = {}): void {
      const before = gathered.get(reason)
      if (before === undefined) gathered.set(reason, { client, claim, refused: 1 })
      else before.refused++
      telling ??= setTimeout(tell, gatherMs).unref()
    },
    close: tell,
  }
}

export function claimOf(hello: ConnectorHello | HopHello): Claim {
  if ('link' in hello) return { gateway_id: hello.gateway_id }
  const { tenant_id, connector_id, key_id } = hello
  return { tenant_id, connector_id, key_id }
}
