/** A link by which an administrator signs in at a provider for a test: for ten minutes, for one connection. */
import { MINUTE_MS, type Clock } from '../../shared/clock.ts'
import { connectionUrlOf } from './addresses.ts'
import type { Vault } from '../keys/vault.ts'

const KEPT_MS = 10 * MINUTE_MS

interface Whose {
  readonly tenantId: string
  readonly connectionId: string
}

export type TestTickets = ReturnType<typeof createTestTickets>

export function createTestTickets({ vault, clock }: { vault: Vault; clock: Clock }) {
  const purposeOf = ({ tenantId, connectionId }: Whose) =>
    `connections.test_ticket:${tenantId}/${connectionId}`

  return {
    linkFor(baseUrl: string, whose: Whose, actor: string) {
      const until = clock.nowMs() + KEPT_MS
      const sealed = vault.seal(JSON.stringify({ actor, until }), purposeOf(whose))
      const ticket = Buffer.from(sealed).toString('base64url')
      return { url: `${connectionUrlOf(baseUrl, whose)}/test?ticket=${ticket}`, until }
    },

    actorOf(ticket: string, whose: Whose): string | undefined {
      try {
        const text = vault.open(Buffer.from(ticket, 'base64url').toString(), purposeOf(whose))
        const { actor, until } = JSON.parse(text) as { actor: string; until: number }
        return clock.nowMs() < until ? actor : undefined
      } catch {
        return undefined
      }
    },
  }
}
