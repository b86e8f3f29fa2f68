/** Texts of strangers on a terminal: nothing in them is obeyed, and lines fit. */
import t from 'tap'
import {
  columnsOf,
  cutToColumns,
  plainText,
  visibleJson,
  visibleText,
  wrap,
  wrapUnder,
} from '../../../../control-plane/downloads/command-line/words.ts'

/** Each with what a terminal or a reader would make of it. */
const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ['clears the screen', 'a\u001b[2Jb'],
  ['sets the title', 'a\u001b]0;evil\u0007b'],
  ['links elsewhere', '\u001b]8;;https://evil.example\u001b\\ok\u001b]8;;\u001b\\'],
  ['one-byte CSI', 'a\u009b2Jb'],
  ['goes back', 'harmful\r\u0008\u0008harmless'],
  ['begins a line', 'a\nb\u2028c\u2029d\u0085e\u000bf\u000cg'],
  ['turns the direction', 'a\u202eb\u202c \u2066c\u2069 \u200ed \u061ce'],
  ['is not seen', 'pass\u200bwo\u00adrd\ufeff\u2060\u3164\uffa0\u115f\u2800x'],
  ['hides letters in tags', 'ok\u{e0041}\u{e0042}\u{e0020}'],
  ['is half a sign', 'a\ud800b\udc00c'],
  ['is private', 'a\ue000\u{f0000}b'],
]
const OBEYED =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u3164\uffa0\u115f\u1160\u2800\u{e0000}-\u{e0fff}]/u

void t.test('nothing in a sentence or in code is obeyed by a terminal', async (t) => {
  for (const [name, text] of HOSTILE) {
    t.notMatch(plainText(text), OBEYED, `a sentence that ${name}`)
    t.notMatch(visibleText(text), OBEYED, `code that ${name}`)
  }
})

void t.test('code is shown as it is, and what is not seen is written out', async (t) => {
  t.equal(visibleText("\tif (a < b) { 'ü', '日本' }"), "\tif (a < b) { 'ü', '日本' }")
  t.equal(visibleText('a\u202eb'), 'a<U+202E>b')
  t.equal(visibleText('a\rb\u001b[0m'), 'a<U+000D>b<U+001B>[0m')
  t.equal(visibleText('a\u00a0b'), 'a<U+00A0>b', 'a space that is none')
  t.equal(visibleText('x\u{e0041}'), 'x<U+E0041>')
})

void t.test('a sentence stays on one line, whatever is sent for it', async (t) => {
  t.equal(plainText('  two\n\t words '), 'two words')
  for (const value of [undefined, null, {}, [], true, Symbol('x')]) t.equal(plainText(value), '')
  t.equal(plainText(12), '12')
  const piled = `a${'\u0301'.repeat(500)}b`
  t.equal([...plainText(piled)].length, 6, 'marks do not pile up over other lines')
  t.equal([...visibleText(piled)].length, 6)
})

void t.test('wide signs take two columns, marks and colours none', async (t) => {
  t.equal(columnsOf('日本語'), 6)
  t.equal(columnsOf('e\u0301'), 1)
  t.equal(columnsOf('🙂!'), 3)
  t.equal(columnsOf('\u001b[31mred\u001b[39m'), 3)
  for (const line of wrap('日本 '.repeat(40), 40).split('\n')) t.ok(columnsOf(line) <= 40, line)
  t.equal(columnsOf(cutToColumns('日本語日本語', 8)), 7)
  t.equal(cutToColumns('short', 8), 'short')
})

void t.test('lines fit, and what is to be copied stays whole', async (t) => {
  const word = 'x'.repeat(60)
  t.equal(wrap(`a ${word} b`, 40), `a\n${word}\nb`)
  t.equal(wrapUnder('> ', '  ', 'one two', 40), '> one two')
  for (const line of wrapUnder('  > ', '    ', 'word '.repeat(50), 40).split('\n'))
    t.ok(columnsOf(line) <= 40 && /^ {2}(?:> | {2})/.test(line))
  t.equal(wrap('a b', 1), 'a b', 'a terminal of one column is none')
})

void t.test('a document is safe to look at, and says the same', async (t) => {
  for (const [name, text] of HOSTILE) {
    const document = { text, [text]: 1 }
    const json = visibleJson(JSON.stringify(document, undefined, 2))
    t.notMatch(json.replaceAll('\n', ''), OBEYED, name)
    t.strictSame(JSON.parse(json), document)
  }
})
