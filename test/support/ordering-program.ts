/** Orders certificates until it is killed: file of the database, authority, port of HTTP-01, minutes ahead. */
import { pino } from 'pino'
import { openAccountKey } from '../../control-plane/acme/account-key.ts'
import { createAcme } from '../../control-plane/acme/acme.ts'
import { createVault } from '../../control-plane/keys/vault.ts'
import { createLeases } from '../../control-plane/services/leases.ts'
import { openSqlite } from '../../control-plane/store/engines/sqlite.ts'
import { openStore } from '../../control-plane/store/store.ts'
import { createCertificates } from '../../control-plane/tenants/certificates.ts'
import { MINUTE_MS } from '../../shared/clock.ts'
import { lookupHere } from './acme.ts'

const [file = '', directory = '', httpPort = '', aheadMinutes = ''] = process.argv.slice(2)
const clock = { nowMs: () => Date.now() + Number(aheadMinutes) * MINUTE_MS }
const store = await openStore(openSqlite(file), clock)
const vault = createVault(Buffer.alloc(32, 1))
const leases = createLeases({ store, clock })
const account = await openAccountKey(store, vault)
const acme = createAcme({
  settings: { authorities: [{ directory }], email: null, profile: null },
  account,
  alone: (work) => leases.alone('acme', work),
  store,
  vault,
  certificates: createCertificates({ store, vault }),
  clock,
  log: pino({ level: 'silent' }),
  httpPort: Number(httpPort),
  lookup: lookupHere,
  roundMs: 2000,
})
process.send?.({ thumbprint: account.thumbprint })
for (;;) await acme.run()
