/** What an error looks like in the log: where and why, and nothing of what it was made of. */
import { pino } from 'pino'
import t from 'tap'
import { describeError, logOptions, type LogLevel, type LogThreshold } from '../../shared/log.ts'

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

t.test(
  'what carries the name of a secret is blanked, and what was handed in stays as it was',
  async (t) => {
    const lines: string[] = []
    const log = pino(logOptions('test', false), { write: (line: string) => void lines.push(line) })
    const given = { token: 'abc1', at: 'x', head: { cookie: 'abc2', host: 'h' }, list: [1] }
    log.info(given, 'a line')
    log.info({ other: Object.assign(new Error('e'), { client_secret: 'abc3' }) }, 'an error')
    log.info({ token: undefined, tokens: 3 }, 'a name like it')
    const [first = '', second = '', third = ''] = lines
    t.match(JSON.parse(first), {
      token: '[hidden]',
      at: 'x',
      head: { cookie: '[hidden]', host: 'h' },
      list: [1],
      msg: 'a line',
    })
    t.match(JSON.parse(second), { other: { message: 'e' } })
    t.match(JSON.parse(third), { tokens: 3 })
    t.notMatch(lines.join(''), /abc/)
    t.equal(given.token, 'abc1')
    t.equal(given.head.cookie, 'abc2')
  },
)

t.test('what a child logger is bound to is blanked by the same names', async (t) => {
  const lines: string[] = []
  const log = pino(logOptions('test', false), { write: (line: string) => void lines.push(line) })
  const child = log.child({ token: 'abc1', gateway_id: 'edge-1' })
  child.info({ password: 'abc2', at: 'x' }, 'a line')
  child.child({ client_secret: 'abc3' }).info('another')
  t.match(JSON.parse(lines[0]!), { token: '[hidden]', gateway_id: 'edge-1', at: 'x' })
  t.notMatch(lines.join(''), /abc/)
})

t.test('what was logged before is logged still', (t) => {
  const error = Object.assign(new RangeError('too far'), { code: 'E_FAR' })
  t.match(describeError(error), { name: 'RangeError', code: 'E_FAR', message: 'too far' })
  t.equal(describeError('a text'), 'a text')
  const long = describeError(new Error('x'.repeat(10_000))) as { message: string }
  t.equal(long.message.length, 500)
  t.end()
})

t.test(
  'a level counts from the moment it is set, for children that are there already',
  async (t) => {
    const lines: string[] = []
    const threshold: LogThreshold = { level: 'info' }
    const log = pino(logOptions('test', false, threshold), {
      write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg),
    })
    const child = log.child({ gateway_id: 'edge-1' })
    const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug'] as const
    const written = (level: LogLevel) => {
      lines.length = 0
      threshold.level = level
      for (const one of LEVELS) child[one]({ at: 1 }, one)
      return [...lines]
    }
    t.same(written('info'), ['fatal', 'error', 'warn', 'info'])
    t.same(written('debug'), ['fatal', 'error', 'warn', 'info', 'debug'])
    t.same(written('warn'), ['fatal', 'error', 'warn'])
    t.same(written('error'), ['fatal', 'error'])
  },
)

t.test('what carries the name of a secret is blanked at every level', async (t) => {
  const lines: string[] = []
  const log = pino(logOptions('test', false, { level: 'debug' }), {
    write: (line: string) => void lines.push(line),
  })
  for (const level of ['error', 'warn', 'info', 'debug'] as const)
    log[level]({ authorization: 'abc1', head: { cookie: 'abc2' } }, level)
  t.equal(lines.length, 4)
  t.notMatch(lines.join(''), /abc/)
})
