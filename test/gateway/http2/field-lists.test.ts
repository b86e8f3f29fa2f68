/** Header lines become lists of fields. */
import t from 'tap'
import { fieldsOf } from '../../../gateway/http2/field-lists.ts'

t.test('lines become names and values', async (t) => {
  t.same(fieldsOf(''), [])
  t.same(fieldsOf('X-A: 1\r\nX-B:\t2 \r\n'), ['x-a', '1', 'x-b', '2'])
})

t.test('a line without an end is a line, and the last one', async (t) => {
  t.same(fieldsOf('X-A: 1'), ['x-a', '1'])
  t.same(fieldsOf('X-A: 1\r\nX-B: 2'), ['x-a', '1', 'x-b', '2'])
})
