// long: a hundred at once of all that is good for one use, with another database
import t from 'tap'

process.env['TEST_DATABASE'] = 'postgres'
t.teardown(() => delete process.env['TEST_DATABASE'])
await import('./once.ts')
