import t from 'tap'
import { nothingFails } from '../../../../../control-plane/downloads/analyzer/commands/show-checks.ts'

t.test('where nothing fails, warnings are counted all the same', async (t) => {
  const [pass, warn] = [{ status: 'pass' }, { status: 'warn' }]
  t.equal(nothingFails([pass]), 'No check failed.')
  t.equal(nothingFails([pass, warn]), 'No check failed, and 1 warning is for you to judge.')
  t.equal(nothingFails([warn, warn]), 'No check failed, and 2 warnings are for you to judge.')
})
