/** A query or a form of thousands of names, at the edge: nothing of it is read. */
import t from 'tap'
import { hasTooManyFields } from '../../../shared/form-fields.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { hasParameter, onlyParameter } from '../../../shared/sign-in/service-request.ts'

t.test('fields are counted as every reader separates them', (t) => {
  const separators = (count: number) => '&'.repeat(count)
  t.equal(hasTooManyFields(''), false)
  t.equal(hasTooManyFields(separators(LIMITS.formFieldsMax - 1)), false)
  t.equal(hasTooManyFields(separators(LIMITS.formFieldsMax)), true)
  t.equal(hasTooManyFields('a;b'.repeat(LIMITS.formFieldsMax)), false, 'a semicolon is a letter')
  t.end()
})

t.test('a parameter among too many is given by nobody', (t) => {
  const among = (others: number) => `state=x${'&a'.repeat(others)}`
  t.equal(onlyParameter(among(LIMITS.formFieldsMax - 1), 'state'), 'x')
  t.equal(onlyParameter(among(LIMITS.formFieldsMax), 'state'), undefined)
  t.end()
})

t.test('and one that is given twice, in whatever spelling', (t) => {
  t.equal(onlyParameter('returnTo=%2Fa+b%20c&x=1', 'returnTo'), '/a b c')
  t.equal(onlyParameter('x&retur%6eTo=/a', 'returnTo'), '/a')
  t.equal(onlyParameter('returnTo', 'returnTo'), '')
  t.equal(onlyParameter('returnTo=/a&retur%6ETo=/b', 'returnTo'), undefined)
  t.equal(onlyParameter('returnTo=/a&returnTo=/a', 'returnTo'), undefined)
  for (const other of ['returnto=/a', 'returnTo%00=/a', 'returnTo+=/a', 'x=returnTo=/a', ''])
    t.equal(onlyParameter(other, 'returnTo'), undefined, other)
  t.ok(hasParameter('a&%65rror=x&error', 'error'))
  t.notOk(hasParameter('a=error&err=', 'error'))
  t.end()
})

// `%e4` is no text, which is found out by an exception: 200 fields of such names and values took a worker
// 3 ms, each time that a parameter was asked for.
t.test('nothing is decoded of those that nobody asks for', (t) => {
  const parsed: string[] = []
  class Recorded extends URLSearchParams {
    constructor(text: string) {
      super(text)
      parsed.push(text)
    }
  }
  t.intercept(globalThis, 'URLSearchParams', { value: Recorded })
  t.equal(onlyParameter(`${'%e4=%e4&'.repeat(100)}returnTo=/a`, 'returnTo'), '/a')
  t.equal(onlyParameter('returnTo=%e4&'.repeat(100), 'returnTo'), undefined)
  t.same(parsed, ['returnTo=/a'])
  t.end()
})
