// apart: all of its process has another database
import t from 'tap'

process.env['TEST_DATABASE'] = 'postgres'
t.teardown(() => delete process.env['TEST_DATABASE'])
await import('./change.test.ts')
await import('./kill.test.ts')
