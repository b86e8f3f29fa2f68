// long: asks these rooms again, with Postgres as their database
// waits: for answers of a database server
import { onPostgres } from '../../support/on-postgres.ts'

await onPostgres(
  'accounts/*',
  'sessions/*',
  'tenants/*',
  'keys/*',
  'mail/*',
  'events/*',
  'devices/*',
  'connectors/*',
  'scim/*',
)
