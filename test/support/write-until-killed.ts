/** Creates tenants as fast as it can and says each name once it is committed. */
import { createSigningKeys } from '../../control-plane/keys/signing-keys.ts'
import { createVault } from '../../control-plane/keys/vault.ts'
import { openSqlite } from '../../control-plane/store/engines/sqlite.ts'
import { openStore } from '../../control-plane/store/store.ts'
import { createTenants } from '../../control-plane/tenants/tenants.ts'
import { systemClock as clock } from '../../shared/clock.ts'

const [file = '', prefix = ''] = process.argv.slice(2)
const store = await openStore(openSqlite(file), clock)
const vault = createVault(Buffer.alloc(32, 1))
const keys = createSigningKeys({ store, vault, clock })
const edgeUrlFor = (hostname: string) => `http://${hostname}`
const tenants = createTenants({ store, vault, keys, clock, edgeUrlFor })

for (let index = 0; ; index++) {
  const tenantId = `${prefix}-${index}`
  await tenants.create(
    {
      tenantId,
      name: tenantId,
      mode: 'gateway',
      plan: 'free',
      hostnames: [`${tenantId}.localhost`],
      origin: 'http://127.0.0.1:9000',
      sealed: [],
      excluded: [],
      health: '/health',
      maxSessionSeconds: 28_800,
      idleSeconds: 900,
      sessionBinding: 'off',
    },
    { name: 'test', requestId: 'test' },
  )
  process.stdout.write(`${tenantId}\n`)
}
