// long: asks this room again, with Postgres as its database
import { onPostgres } from '../../support/on-postgres.ts'

await onPostgres('webhooks/*')
