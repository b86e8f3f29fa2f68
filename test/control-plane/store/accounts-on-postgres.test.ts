// long: asks these rooms again, with Postgres as their database
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
