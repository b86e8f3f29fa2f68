/** What somebody agrees to: every line of it, or how many are not shown. */
import t from 'tap'
import { diffOf } from '../../../../../control-plane/downloads/analyzer/terminal/diff.ts'
import { createPaint } from '../../../../../control-plane/downloads/analyzer/terminal/paint.ts'

const plain = { paint: createPaint(false), isWhole: false }
const edit = (before: string | null, after: string, path = 'src/app.js') => ({
  path,
  before,
  after,
  why: '',
})
const numbered = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('')

void t.test('reads like any other unified diff', async (t) => {
  const { text, added, removed, isCut } = diffOf(edit('a\nb\nc\n', 'a\nB\nc\nd\n'), plain)
  t.equal(
    text,
    ['--- a/src/app.js', '+++ b/src/app.js', '@@ -1,3 +1,4 @@', ' a', '-b', '+B', ' c', '+d'].join(
      '\n',
    ),
  )
  t.strictSame([added, removed, isCut], [2, 1, false])
  t.match(diffOf(edit(null, 'a\n'), plain).text, '--- /dev/null\n+++ b/src/app.js\n@@ -0,0 +1,1 @@')
  t.match(diffOf(edit('a', 'b\n'), plain).text, '-a\n\\ No newline at end of file\n+b')
  const painted = diffOf(edit('a\n', 'b\n'), { ...plain, paint: createPaint(true) }).text
  t.match(painted, '\u001b[31m-a\u001b[39m\n\u001b[32m+b\u001b[39m')
})

void t.test('says how many lines it leaves out, and leaves none out when told to', async (t) => {
  const long = edit(null, numbered(300))
  const { text, isCut, added } = diffOf(long, plain)
  t.match(text, /\n… 101 more lines$/)
  t.strictSame([isCut, added], [true, 300])
  const whole = diffOf(long, { ...plain, isWhole: true })
  t.match(whole.text, /\+line 299$/)
  t.equal(whole.isCut, false)

  const wide = diffOf(edit(null, `${'x'.repeat(1000)}\n`), plain)
  t.match(wide.text, /x… 601 more characters$/)
  t.equal(wide.isCut, true)
})

void t.test('what is not seen in a file is seen here', async (t) => {
  const hidden = edit('if (admin) {}\n', 'if (admin) {} \u202e// \u001b[2K\n', 'a\u202e.js')
  const { text } = diffOf(hidden, plain)
  t.match(text, '+if (admin) {} <U+202E>// <U+001B>[2K')
  t.match(text, '+++ b/a<U+202E>.js')
})

void t.test('a Windows file is no news, a changed line end is', async (t) => {
  t.notMatch(diffOf(edit('a\r\nb\r\n', 'a\r\nc\r\n'), plain).text, 'U+000D')
  t.match(diffOf(edit('a\nb\n', 'a\r\nb\n'), plain).text, '+a<U+000D>')
})

void t.test('two texts with nothing in common take no time to speak of', async (t) => {
  const { added, removed } = diffOf(edit(numbered(20_000, 'a'), numbered(20_000, 'b')), plain)
  t.strictSame([added, removed], [20_000, 20_000])
})
