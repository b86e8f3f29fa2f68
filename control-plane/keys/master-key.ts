/**
 * The master key belongs to the database. With another one nothing sealed opens, and new secrets
 * would be sealed beside old ones that nobody can read: so that is found out before anything else.
 */
import { eq } from '../store/drizzle.ts'
import { schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Vault } from './vault.ts'

const FACT = 'master_key_check'
const PURPOSE = 'facts.master_key_check'

export class WrongMasterKey extends Error {
  constructor() {
    super(
      'SERVICE_MASTER_KEY is not the one that this database was written with: ' +
        'set that one, or restore the secrets.json that lay beside the database',
    )
    this.name = 'WrongMasterKey'
  }
}

export async function checkMasterKey(store: Store, vault: Vault): Promise<void> {
  await store.change(async ({ queries }) => {
    const named = eq(schema.facts.name, FACT)
    const [row] = await queries.select().from(schema.facts).where(named)
    if (row === undefined) {
      const value = vault.seal('right', PURPOSE)
      return void (await queries.insert(schema.facts).values({ name: FACT, value }))
    }
    try {
      vault.open(row.value, PURPOSE)
    } catch {
      throw new WrongMasterKey()
    }
  })
}
