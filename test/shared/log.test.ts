/** What an error looks like in the log: where and why, and nothing of what it was made of. */
import { pino } from 'pino'
import t from 'tap'
import { describeError, logOptions } from '../../shared/log.ts'

const HASH = '$argon2id$v=19$m=65536$c2FsdA$aGFzaA'

/** As drizzle makes one: with the parameters in its message, its stack and fields of its own. */
function failedQuery() {
  const cause = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' })
  const message = `Failed query: insert into "users" values (?, ?)\nparams: ada,${HASH}`
  const error = new Error(message, { cause })
  return Object.assign(error, { query: 'insert', params: ['ada', HASH] })
}

t.test('a failing query is logged without its parameters, under any name', async (t) => {
  const lines: string[] = []
  const log = pino(logOptions('test', false), { write: (line: string) => void lines.push(line) })
  log.error({ err: failedQuery() }, 'realm failed')
  log.error({ error: failedQuery() }, 'request failed')
  log.error(failedQuery())
  log.error({ error: new Error('outer', { cause: failedQuery() }) }, 'wrapped')
  log.error({ error: new AggregateError([failedQuery()], 'many') }, 'several')
  t.equal(lines.length, 5)
  for (const line of lines) {
    t.notMatch(line, /argon2id|params|ada/)
    t.match(line, /log\.test\.ts/, 'and with its place')
  }
  t.match(lines[0], /disk full/)
})

t.test('what was logged before is logged still', (t) => {
  const error = Object.assign(new RangeError('too far'), { code: 'E_FAR' })
  t.match(describeError(error), { name: 'RangeError', code: 'E_FAR', message: 'too far' })
  t.equal(describeError('a text'), 'a text')
  const long = describeError(new Error('x'.repeat(10_000))) as { message: string }
  t.equal(long.message.length, 500)
  t.end()
})
