/** A query or a form of thousands of names, at the edge: nothing of it is read. */
import t from 'tap'
import { hasTooManyFields } from '../../../shared/form-fields.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { onlyParameter } from '../../../shared/sign-in/service-request.ts'

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
