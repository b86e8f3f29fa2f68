/**
 * What all gateways derive their TLS session tickets from. A gateway that is sent away has known it,
 * so it is replaced in the very change that revokes a key (.docs/decisions/0031-tls-tickets.md).
 */
import { randomBytes } from 'node:crypto'
import { eq } from '../store/drizzle.ts'
import { schema } from '../store/schema.ts'
import type { Queries } from '../store/engine.ts'
import type { Change, Store } from '../store/store.ts'
import type { Vault } from './vault.ts'

const FACT = 'ticket_secret'
const PURPOSE = 'facts.ticket_secret'

export type TicketSecret = ReturnType<typeof createTicketSecret>

export function createTicketSecret({ store, vault }: { store: Store; vault: Vault }) {
  async function replace({ queries }: Pick<Change, 'queries'>): Promise<string> {
    const secret = randomBytes(32).toString('base64url')
    const value = vault.seal(secret, PURPOSE)
    const { facts } = schema
    await queries
      .insert(facts)
      .values({ name: FACT, value })
      .onConflictDoUpdate({ target: facts.name, set: { value } })
    return secret
  }

  async function find(queries: Queries) {
    const named = eq(schema.facts.name, FACT)
    const [row] = await queries.select().from(schema.facts).where(named)
    return row && vault.open(row.value, PURPOSE)
  }

  return {
    replace,
    /** Made when it is first asked for. */
    current: async (): Promise<string> =>
      (await find(store.read)) ??
      store.change(async (change) => (await find(change.queries)) ?? replace(change)),
  }
}
