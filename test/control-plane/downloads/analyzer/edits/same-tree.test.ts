/** No change reaches a file whose code would mean something else with it. */
import t from 'tap'
import type { Change } from '../../../../../control-plane/downloads/analyzer/edits/changes.ts'
import { applied } from '../../../../../control-plane/downloads/analyzer/edits/same-tree.ts'
import { parseSource } from '../../../../../control-plane/downloads/analyzer/syntax/parse.ts'

function outcome(text: string, ...changes: Change[]): string {
  const parsed = parseSource('app.js', text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  const after = applied(parsed.source, changes, undefined)
  return 'text' in after ? after.text : after.problem
}

const statements = (at: number, text: string): Change => ({ kind: 'statements', at, text })
const OTHERWISE = 'the change would alter other code in this file'

t.test('what only adds is taken, as it is', async (t) => {
  t.equal(outcome('a()\nb()\n', statements(3, '\nadded()')), 'a()\nadded()\nb()\n')
  t.equal(
    outcome('make(listen)', { kind: 'wrapping', start: 5, end: 11, callee: 'service.node' }),
    'make(service.node(listen))',
  )
  t.equal(
    outcome('const a = make().get(1)', { kind: 'chaining', at: 16, text: '.use(x.y())' }),
    'const a = make().use(x.y()).get(1)',
  )
  t.equal(
    outcome('async () => {\n  a()\n}', statements(19, '\nawait b()')),
    'async () => {\n  a()\nawait b()\n}',
  )
})

t.test('what would be read as part of something else is not', async (t) => {
  const rows: readonly (readonly [what: string, text: string, change: Change])[] = [
    ['a call of what stands before it', 'a\nb', statements(1, '\n(c)')],
    ['a line that goes on into the next', 'a()\n(b)()', statements(3, '\nc()')],
    ['a directive that is none any more', "'use strict'\na()", statements(0, 'b()\n')],
    ['the body of an if', 'if (a)\n  b()', statements(6, '\n  c()')],
    ['one more declaration', 'const a = 1, b = 2', statements(12, ' c = 3,')],
    ['a default for a parameter', '(a) => a', statements(2, ' = b')],
    ['behind a return', '() => { return\n  1 }', statements(14, ' x()')],
    ['a label', 'a()', statements(0, 'b: ')],
    [
      'around more than one argument',
      'f(a, b)',
      { kind: 'wrapping', start: 2, end: 6, callee: 'g' },
    ],
    [
      'a link of more than it looks like',
      'a + b()',
      { kind: 'chaining', at: 1, text: ' + c.use(x)' },
    ],
    ['within a comment', 'a() /* here */', statements(8, '\nb()\n')],
    ['within a text', 'a(`x`)', statements(3, 'b()')],
  ]
  for (const [what, text, change] of rows) t.equal(outcome(text, change), OTHERWISE, what)
})

t.test('what cannot be parsed is not taken either', async (t) => {
  t.match(outcome('a()', statements(1, '(')), /with the change, the file cannot be parsed/)
  t.match(outcome('a()', statements(3, '\nawait (')), /cannot be parsed/)
})
