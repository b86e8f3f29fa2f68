import t from 'tap'
import { cannotWrite } from '../../../control-plane/store/engines/cannot-write.ts'
import { watchWriting } from '../../../control-plane/store/writing.ts'
import { Refusal } from '../../../shared/errors.ts'

const failure = (code: string) => Object.assign(new Error(code), { code })
const wrapped = (code: string) =>
  Object.assign(new Refusal('unavailable'), { cause: failure(code) })

t.test('why nothing is kept, in the words of either database', async (t) => {
  for (const [code, why] of [
    ['SQLITE_FULL', 'full'],
    ['53100', 'full'],
    ['SQLITE_READONLY_DBMOVED', 'read_only'],
    ['25006', 'read_only'],
    ['SQLITE_IOERR_FSYNC', 'failing'],
    ['58030', 'failing'],
    ['SQLITE_BUSY', undefined],
    ['55P03', undefined],
    ['ECONNRESET', undefined],
  ] as const) {
    t.equal(cannotWrite(failure(code)), why, code)
    t.equal(cannotWrite(wrapped(code)), why, `${code}, within a refusal`)
  }
})

t.test('once something could not be kept it is tried until it can be', async (t) => {
  const outcomes = [failure('SQLITE_FULL'), failure('SQLITE_IOERR_WRITE'), failure('SQLITE_BUSY')]
  const over = Promise.withResolvers<void>()
  const told: (string | undefined)[] = []
  const writing = watchWriting(async () => {
    const problem = outcomes.shift()
    if (problem !== undefined) throw problem
  }, 1)
  t.teardown(writing.close)
  writing.onChange((why) => {
    told.push(why)
    if (why === undefined) over.resolve()
  })
  const waits = setInterval(() => {}, 1000) // its own timer holds nobody up
  t.teardown(() => clearInterval(waits))
  await t.rejects(writing.noted(Promise.reject(failure('SQLITE_CONSTRAINT_UNIQUE'))))
  t.equal(writing.why(), undefined)
  t.equal(await writing.noted(Promise.resolve(7)), 7)
  await t.rejects(writing.noted(Promise.reject(wrapped('SQLITE_FULL'))))
  t.equal(writing.why(), 'full')
  await writing.noted(Promise.resolve())
  t.equal(writing.why(), 'full', 'what only reads is kept on a full disk, too')
  await over.promise
  t.same(told, ['full', 'failing', undefined])
  t.equal(writing.why(), undefined)
})
