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

t.test('what is kept once in a while is no end of it', async (t) => {
  // kept, kept, and then not; then something else that is not, between two that are
  const outcomes = [null, null, failure('SQLITE_FULL'), null, 'a change that is refused', null]
  const over = Promise.withResolvers<void>()
  let tried = 0
  const writing = watchWriting(async () => {
    tried++
    const problem = outcomes.shift()
    if (problem instanceof Error) throw problem
    if (typeof problem === 'string')
      await writing.noted(Promise.reject(failure('SQLITE_FULL'))).catch(() => {})
    else t.equal(writing.why(), 'full')
  }, 1)
  t.teardown(writing.close)
  const told: (string | undefined)[] = []
  writing.onChange((why) => {
    told.push(why)
    if (why === undefined) over.resolve()
  })
  const waits = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(waits))
  await t.rejects(writing.noted(Promise.reject(failure('SQLITE_FULL'))))
  await over.promise
  t.same(told, ['full', undefined])
  t.equal(tried, 7, 'three in a row, behind the last that was not')
})
