// long: asks these rooms again, with Postgres as their database
// waits: for answers of a database server
import { onPostgres } from '../../support/on-postgres.ts'

await onPostgres('realm/[o-z]*', 'realm/clients/*')
