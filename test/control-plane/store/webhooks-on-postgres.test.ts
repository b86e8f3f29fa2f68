// long: asks this room again, with Postgres as its database
// waits: for answers of a database server
import { onPostgres } from '../../support/on-postgres.ts'

await onPostgres('webhooks/*')
