/** Orders certificates until it is killed: database, authority, port of HTTP-01, minutes ahead, the authority's CA. */
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { openAccountKey } from '../../control-plane/acme/account-key.ts'
import { createAcme } from '../../control-plane/acme/acme.ts'
import { createVault } from '../../control-plane/keys/vault.ts'
import { createLeases } from '../../control-plane/services/leases.ts'
import { openServer } from '../../control-plane/store/engines/server.ts'
import { openSqlite } from '../../control-plane/store/engines/sqlite.ts'
import { openStore } from '../../control-plane/store/store.ts'
import { createCertificates } from '../../control-plane/tenants/certificates.ts'
import { MINUTE_MS, systemClock } from '../../shared/clock.ts'
import { addressesHere } from './acme.ts'
import { clockOf } from './clocks.ts'

const ASKING_MS = 50

const [database = '', directory = '', httpPort = '', aheadMinutes = '', ca = ''] =
  process.argv.slice(2)
const { engine, clock: own } = database.startsWith('postgres:')
  ? await openServer(database)
  : { engine: openSqlite(database), clock: systemClock }
const clock = clockOf(() => own.nowMs() + Number(aheadMinutes) * MINUTE_MS)
const store = await openStore(engine, clock)
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
  ...(ca !== '' && { ca }),
  httpPort: Number(httpPort),
  addresses: addressesHere,
  roundMs: 2000,
})
process.send?.({ thumbprint: account.thumbprint })
// whoever has not got the lease has nothing to do, and would ask for it without a pause
for (; ; await setTimeout(ASKING_MS)) await acme.run()
