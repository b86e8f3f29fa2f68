/** A guide's edits find their one place in a file, all of them or none. */
import t from 'tap'
import { changesOf, type FileText } from '../../../shared/integration/guide-changes.ts'
import type { GuideEdit } from '../../../shared/integration/guide.ts'
import { placeEdit } from '../../../shared/integration/place-edit.ts'

const RULES = { sdkUrl: 'https://id.example.com/api/v1/sdk/node' }

const modify = (path: string, find: string, replace: string) =>
  ({ path, action: 'modify', find, replace, why: '' }) as const
const create = (path: string, content: string) =>
  ({ path, action: 'create', content, why: 'because' }) as const

function outcome(edits: readonly GuideEdit[], files: Record<string, string | null>) {
  const textAt = (path: string): FileText => {
    const text = files[path]
    if (text === undefined) return { kind: 'absent' }
    return text === null ? { kind: 'unreadable' } : { kind: 'text', text }
  }
  return changesOf(edits, textAt, RULES)
}

/** The file's new text; fails where the guide is refused. */
function after(t: Tap, edits: readonly GuideEdit[], before: string): string | undefined {
  const made = outcome(edits, { 'app.js': before })
  if (made.kind === 'refused') t.fail('refused', { found: made.problems })
  return made.kind === 'refused' ? undefined : made.changes[0]?.after
}
type Tap = Pick<typeof t, 'fail'>

function problems(edits: readonly GuideEdit[], files: Record<string, string | null>) {
  const made = outcome(edits, files)
  return made.kind === 'refused' ? made.problems : []
}

const APP = `const express = require('express')

const app = express()
app.get('/', home)
app.listen(3000)
`
const MOUNT = modify(
  'app.js',
  'const app = express()\n',
  'const app = express()\napp.use(verifyClaims())\n',
)
const IMPORT = modify(
  'app.js',
  "const express = require('express')\n",
  "const express = require('express')\nconst { verifyClaims } = require('service-node')\n",
)

void t.test('several edits of a file are placed in what was there, in any order', async (t) => {
  const wanted = APP.replace(IMPORT.find, IMPORT.replace).replace(MOUNT.find, MOUNT.replace)
  t.equal(after(t, [IMPORT, MOUNT], APP), wanted)
  t.equal(after(t, [MOUNT, IMPORT], APP), wanted)
})

void t.test(
  'a file with CRLF is found with LF and keeps CRLF; and the other way about',
  async (t) => {
    const crlf = APP.replaceAll('\n', '\r\n')
    const wanted = APP.replace(IMPORT.find, IMPORT.replace).replace(MOUNT.find, MOUNT.replace)
    t.equal(after(t, [IMPORT, MOUNT], crlf), wanted.replaceAll('\n', '\r\n'))
    const written = modify(
      'app.js',
      MOUNT.find.replaceAll('\n', '\r\n'),
      MOUNT.replace.replaceAll('\n', '\r\n'),
    )
    t.equal(after(t, [written], APP), APP.replace(MOUNT.find, MOUNT.replace))
    t.equal(
      after(t, [modify('app.js', 'home)\napp', 'home)\n\napp')], crlf),
      crlf.replace('home)\r\n', 'home)\r\n\r\n'),
    )
  },
)

void t.test('what is to be found more than once is refused with its lines', async (t) => {
  const text = 'use(a)\nuse(b)\nuse(a)\nuse(a)\n'
  t.match(problems([modify('app.js', 'use(a)', 'use(verifyClaims())')], { 'app.js': text }), [
    { path: 'app.js', detail: 'is in it 3 times, in lines 1, 3, 4: it has to name one place' },
  ])
  t.match(placeEdit('aaa', modify('a.js', 'aa', 'b')), { kind: 'problem', detail: /2 times/ })
  const many = placeEdit('a\n'.repeat(200), modify('a.js', 'a', 'b'))
  t.match(many, { detail: /at least 100 times, in lines 1, 2, 3, 4, 5 …/ })
})

void t.test('what is not there is refused with the line that comes close', async (t) => {
  const sought = modify(
    'app.js',
    'const app = express();\n',
    'const app = express();\napp.use(verifyClaims());\n',
  )
  t.match(problems([sought], { 'app.js': APP }), [
    { detail: '"const app = express();" is not in it; line 3 is close: "const app = express()"' },
  ])
  const nowhere = problems([modify('app.js', 'fastify()', 'fastify(verifyClaims())')], {
    'app.js': APP,
  })
  t.match(nowhere, [{ detail: /^"fastify\(\)" is not in it$/ }])
})

void t.test('a line that is shown in a reason moves no cursor', async (t) => {
  const sought = modify('app.js', 'run(\x9b2K\u202e\x1b)', 'run(verifyClaims())')
  const [problem] = problems([sought], { 'app.js': 'run (\x9b2K\u202e\x1b)\n' })
  t.match(problem?.detail, 'line 1 is close')
  t.notMatch(problem?.detail, /[\p{Cc}\p{Cf}]/u)
})

void t.test('edits that overlap are refused', async (t) => {
  const edits = [
    MOUNT,
    modify('app.js', "express()\napp.get('/', home)", "express()\napp.get('/', verified, home)"),
  ]
  t.match(problems(edits, { 'app.js': APP }), [{ detail: /overlap/ }])
  const same = [MOUNT, modify('app.js', MOUNT.find, 'const app = express({ a: 1 })\n')]
  t.match(problems(same, { 'app.js': APP }), [{ detail: /overlap/ }])
  const beside = [
    modify('app.js', 'const app', 'let app'),
    modify('app.js', ' = express()', ' = express(options)'),
  ]
  t.equal(after(t, beside, APP), APP.replace('const app = express()', 'let app = express(options)'))
})

void t.test('a guide that is applied already changes nothing, formatted or not', async (t) => {
  const once = after(t, [IMPORT, MOUNT], APP) ?? ''
  t.same(outcome([IMPORT, MOUNT], { 'app.js': once }), { kind: 'changes', changes: [] })
  const crlf = once.replaceAll('\n', '\r\n')
  t.same(outcome([IMPORT, MOUNT], { 'app.js': crlf }), { kind: 'changes', changes: [] })
  const formatted = once
    .replaceAll("'", '"')
    .replaceAll(/(?<=[)])$/gm, ';')
    .replaceAll('{ verifyClaims }', '{\n  verifyClaims,\n}')
  t.not(formatted, once)
  t.same(outcome([IMPORT, MOUNT], { 'app.js': formatted }), { kind: 'changes', changes: [] })
})

void t.test('in a language where spaces mean something they are not passed over', async (t) => {
  const edit = modify('app.py', 'def view():\n', 'def view():\n    verify_claims()\n')
  const other = 'def view():\nverify_claims()\n'
  t.match(outcome([edit], { 'app.py': other }), { kind: 'changes', changes: [{ path: 'app.py' }] })
})

void t.test('what is applied in part is completed', async (t) => {
  const half = APP.replace(IMPORT.find, IMPORT.replace)
  t.equal(after(t, [IMPORT, MOUNT], half), half.replace(MOUNT.find, MOUNT.replace))
})

void t.test('what is taken away counts as done only where all the rest is', async (t) => {
  const remove = modify('app.js', 'app.use(oldLogin())\n', '')
  const old = APP.replace('app.get', 'app.use(oldLogin())\napp.get')
  const once = after(t, [MOUNT, remove], old) ?? ''
  t.notMatch(once, 'oldLogin')
  t.same(outcome([MOUNT, remove], { 'app.js': once }), { kind: 'changes', changes: [] })
  t.match(problems([MOUNT, remove], { 'app.js': APP }), [
    { detail: /"app\.use\(oldLogin\(\)\)" is not in it/ },
  ])
  t.match(problems([remove], { 'app.js': APP }), [{ detail: /is not in it/ }])
  const bracket = modify('app.js', 'somewhere(else)', '}')
  t.match(
    problems([bracket], { 'app.js': '}\n' }),
    [{ detail: /is not in it/ }],
    'nor is a bracket a trace',
  )
})

void t.test('a file is created where none is, or where the same one is', async (t) => {
  t.same(outcome([create('service.js', 'a\n')], {}), {
    kind: 'changes',
    changes: [{ path: 'service.js', before: null, after: 'a\n', why: 'because' }],
  })
  t.same(outcome([create('a.js', 'a\n')], { 'a.js': 'a\r\n' }), { kind: 'changes', changes: [] })
  t.match(problems([create('a.js', 'a\n')], { 'a.js': 'b\n' }), [{ detail: /is there already/ }])
})

void t.test('files that are not there, not text, or meant twice are refused', async (t) => {
  t.match(problems([MOUNT], {}), [{ path: 'app.js', detail: /is not there/ }])
  t.match(problems([MOUNT], { 'app.js': null }), [{ detail: /cannot be read as text/ }])
  t.match(problems([create('app.js', 'x'), MOUNT], {}), [{ detail: /created, and edited/ }])
  t.match(problems([create('a.js', 'x'), create('a.js', 'y')], {}), [
    { detail: /created, and edited/ },
  ])
  t.match(problems([create('a.js', 'x'), create('A.js', 'x')], {}), [
    { path: 'A.js', detail: /same file/ },
  ])
  const there = { 'a.js': 'x', 'A.js': 'x' }
  t.match(problems([create('a.js', 'x'), create('A.js', 'x')], there), [{ detail: /same file/ }])
})

void t.test('package.json is judged by what it would be', async (t) => {
  const before = '{\n  "dependencies": {\n    "express": "5"\n  }\n}\n'
  const edit = (line: string) =>
    modify('package.json', '    "express": "5"\n', `    "express": "5",\n    ${line}\n`)
  t.match(outcome([edit(`"service-node": "${RULES.sdkUrl}"`)], { 'package.json': before }), {
    kind: 'changes',
  })
  t.match(problems([edit('"evil": "1"')], { 'package.json': before }), [
    { detail: /only gain service-node/ },
  ])
  const scripts = modify('package.json', '{\n  "dep', '{\n  "scripts": { "prepare": "x" },\n  "dep')
  t.match(problems([scripts], { 'package.json': before }), [{ detail: /change "scripts"/ }])
})

void t.test('every reason is told, and a path out of bounds is not even read', async (t) => {
  const asked: string[] = []
  const bad = [
    create('.git/hooks/pre-commit', 'x'),
    create('../x', 'x'),
    modify('src\\app.js', 'a', 'b'),
    create('ok.js', 'const a\u200b = 1'),
    create('fine.js', 'fine'),
  ]
  const made = changesOf(bad, (path) => (asked.push(path), { kind: 'absent' }), RULES)
  t.match(made, {
    kind: 'refused',
    problems: [
      { path: '.git/hooks/pre-commit', detail: /out of bounds/ },
      { path: '../x', detail: /leaves/ },
      { path: 'src\\app.js', detail: /src\/app\.js/ },
      { path: 'ok.js', detail: /U\+200B/ },
    ],
  })
  t.same(asked, [])
  const two = problems([modify('a.js', 'nowhere', 'b'), modify('b.js', 'nowhere', 'b')], {
    'a.js': 'x',
    'b.js': 'y',
  })
  t.match(two, [{ path: 'a.js' }, { path: 'b.js' }])
})
