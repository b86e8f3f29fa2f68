/** One tenant that the API has made becomes very many, each with a secret of its own. */
import Database from 'better-sqlite3'
import { PURPOSES } from '../control-plane/keys/sealed-columns.ts'
import { createVault, type Vault } from '../control-plane/keys/vault.ts'
import { SECRETS, startFleet, type Fleet } from '../test/support/programs.ts'

const TENANT = {
  tenant_id: 'bench',
  name: 'Bench',
  hostnames: ['bench.example'],
  mode: 'gateway',
  plan: 'premium',
  origin: 'http://127.0.0.1:9',
}

export const idOf = (index: number) => `t-${String(index).padStart(6, '0')}`
/** The same in SQL, of `i`. */
export const ID = `printf('t-%06d', i)`

/** With the one tenant, and stopped, so that its database can be filled. */
export async function startedOnce(
  closing: (() => Promise<void>)[],
  gatewayConfig: string,
): Promise<Fleet> {
  const after = (work: () => Promise<void>) => void closing.push(work)
  const fleet = await startFleet({ after }, { workers: 2, gatewayConfig })
  await fleet.operator('POST', '/tenants', TENANT)
  await fleet.operator('POST', '/tenants/bench/publish')
  await Promise.all([fleet.controlPlane.stop(), fleet.gateways[0]!.stop()])
  return fleet
}

interface Filling {
  readonly database: Database.Database
  readonly vault: Vault
  /** Each row of the tenant once more for every copy, but for what is changed. */
  copies(table: string, changed: Readonly<Record<string, string>>): void
}

export function copyTenant(file: string, tenants: number, fill: (filling: Filling) => void) {
  const database = new Database(file)
  database.pragma('synchronous = OFF')
  const vault = createVault(Buffer.from(SECRETS.SERVICE_MASTER_KEY))
  database.function('sealed', (tenantId) =>
    vault.seal(
      'a client secret of a bench tenant',
      PURPOSES.clientSecret({ tenantId: String(tenantId) }),
    ),
  )
  const copies: Filling['copies'] = (table, changed) => {
    const columns = database.pragma(`table_info(${table})`) as { name: string }[]
    const selected = columns.map((column) => changed[column.name] ?? `${table}.${column.name}`)
    database.exec(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${tenants - 1})
       INSERT INTO ${table} SELECT ${selected.join(', ')} FROM ${table}, n
       WHERE ${table}.tenant_id = 'bench'`,
    )
  }
  database.exec('BEGIN')
  copies('tenants', {
    tenant_id: ID,
    name: `'Bench ' || i`,
    number: 'tenants.number + 1 + i',
    protection: `'on'`,
    analyzer_key_hash: `'hash-' || i`,
    client_secret_sealed: `sealed(${ID})`,
    client_secret_hash: `'hash-' || i`,
    revision: 'tenants.revision + 1 + i',
  })
  copies('signing_keys', { tenant_id: ID, kid: `'kid-' || i` })
  fill({ database, vault, copies })
  database.exec(`UPDATE counters SET value = value + ${tenants + 1} WHERE name = 'revision'`)
  database.exec('COMMIT')
  database.close()
}

/** Of milliseconds. */
export function shareOfWaits(waits: readonly number[]): string {
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms`
}
