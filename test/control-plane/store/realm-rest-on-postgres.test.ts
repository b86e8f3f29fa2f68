// long: asks these rooms again, with Postgres as their database
import { onPostgres } from '../../support/on-postgres.ts'

await onPostgres('realm/[o-z]*', 'realm/clients/*')
