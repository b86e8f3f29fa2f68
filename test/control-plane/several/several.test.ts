// apart: all of its process has another database
/** Several control planes on one Postgres: what one of them holds, all of them hold. */
import t from 'tap'

process.env['TEST_DATABASE'] = 'postgres'
t.teardown(() => delete process.env['TEST_DATABASE'])
await import('./rates.ts')
await import('./sign-ins.ts')
await import('./federation.ts')
await import('./jobs.ts')
await import('./instances.ts')
await import('./connectors.ts')
await import('./device-keys.ts')
