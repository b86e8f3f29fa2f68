/**
 * The master key belongs to the database. With another one nothing sealed opens, and new secrets
 * would be sealed beside old ones that nobody can read: so that is found out before anything else.
 */
import { eq } from '../store/drizzle.ts'
import type { Queries } from '../store/engine.ts'
import { schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { createVault, lookupKeyOf, prefixOf, type Vault } from './vault.ts'

export interface MasterKeys {
  readonly masterKey: Buffer
  /** The one before: what it has sealed is opened, and sealed anew. */
  readonly previousMasterKey?: Buffer | undefined
  /** The one that others seal with already. */
  readonly nextMasterKey?: Buffer | undefined
}

const { facts } = schema
/** Sealed anew behind all others: as long as it opens under a key alone, so may others. */
export const MASTER_KEY_CHECK = 'master_key_check'
const LOOKUP_KEY = 'lookup_key'
export const factPurpose = (name: string) => `facts.${name}`

export class WrongMasterKey extends Error {
  constructor() {
    super(
      'SERVICE_MASTER_KEY is not the one that this database was written with: ' +
        'set that one, or restore the secrets.json that lay beside the database; ' +
        'to replace it, start with the new one and with that one as SERVICE_MASTER_KEY_PREVIOUS',
    )
    this.name = 'WrongMasterKey'
  }
}

export async function openVault(store: Store, keys: MasterKeys): Promise<Vault> {
  const { masterKey, previousMasterKey, nextMasterKey } = keys
  const others = [previousMasterKey, nextMasterKey].filter((key) => key !== undefined)
  const vault = createVault(masterKey, { others })
  const lookupKey = await store.change(async ({ queries }) => {
    const check = await factOnce(queries, MASTER_KEY_CHECK, () =>
      vault.seal('right', CHECK_PURPOSE),
    )
    const first = [masterKey, ...others].find((key) => check.startsWith(prefixOf(key)))
    if (first === undefined || !isRight(vault, check)) throw new WrongMasterKey()
    const sealed = await factOnce(queries, LOOKUP_KEY, () =>
      vault.seal(lookupKeyOf(first).toString('base64url'), factPurpose(LOOKUP_KEY)),
    )
    return Buffer.from(vault.open(sealed, factPurpose(LOOKUP_KEY)), 'base64url')
  })
  return createVault(masterKey, { others, lookupKey })
}

const CHECK_PURPOSE = factPurpose(MASTER_KEY_CHECK)

function isRight(vault: Vault, check: string): boolean {
  try {
    return vault.open(check, CHECK_PURPOSE) === 'right'
  } catch {
    return false
  }
}

/** What is there already, also if another node is the first at this moment. */
export async function factOnce(
  queries: Queries,
  name: string,
  make: () => string,
): Promise<string> {
  const named = eq(facts.name, name)
  const [before] = await queries.select().from(facts).where(named)
  if (before !== undefined) return before.value
  await queries.insert(facts).values({ name, value: make() }).onConflictDoNothing()
  const [row] = await queries.select().from(facts).where(named)
  if (row === undefined) throw new Error(`${name} is not kept`)
  return row.value
}
