import t from 'tap'
import { withoutTrailing } from '../../shared/trailing.ts'

t.test('what stands at the end goes, and nothing else', async (t) => {
  t.equal(withoutTrailing('/console//', '/'), '/console')
  t.equal(withoutTrailing('//a//b', '/'), '//a//b')
  t.equal(withoutTrailing('one. .\n', '. \n'), 'one')
  t.equal(withoutTrailing('   ', ' '), '')
  t.equal(withoutTrailing('', ' '), '')
})
