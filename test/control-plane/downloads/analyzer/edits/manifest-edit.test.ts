import t from 'tap'
import { withDependency } from '../../../../../control-plane/downloads/analyzer/edits/manifest-edit.ts'

const ADDRESS = 'https://service.example.test/api/v1/sdk/node'
const after = (text: string) => {
  const edit = withDependency(text, ADDRESS)
  return edit.kind === 'edit' ? edit.after : edit
}
const LINE = `"service-node": "${ADDRESS}"`

t.test('one line more in its place, and all else stays as it is written', async (t) => {
  const rows: readonly (readonly [what: string, before: string, after: string])[] = [
    [
      'where the alphabet has it',
      '{\n  "name": "a",\n  "dependencies": {\n    "express": "^5",\n    "ws": "8"\n  }\n}\n',
      `{\n  "name": "a",\n  "dependencies": {\n    "express": "^5",\n    ${LINE},\n    "ws": "8"\n  }\n}\n`,
    ],
    [
      'last of a sorted list',
      '{\n\t"dependencies": {\n\t\t"express": "^5"\n\t}\n}',
      `{\n\t"dependencies": {\n\t\t"express": "^5",\n\t\t${LINE}\n\t}\n}`,
    ],
    [
      'last where nobody sorts',
      '{\r\n    "dependencies": {\r\n        "ws": "8",\r\n        "express": "^5"\r\n    }\r\n}\r\n',
      `{\r\n    "dependencies": {\r\n        "ws": "8",\r\n        "express": "^5",\r\n        ${LINE}\r\n    }\r\n}\r\n`,
    ],
    [
      'a list that is empty',
      '{\n  "dependencies": {},\n  "private": true\n}\n',
      `{\n  "dependencies": {\n    ${LINE}\n  },\n  "private": true\n}\n`,
    ],
    [
      'no list, but one for development',
      '{\n  "name": "a",\n  "devDependencies": {\n    "tap": "1"\n  }\n}\n',
      `{\n  "name": "a",\n  "dependencies": {\n    ${LINE}\n  },\n  "devDependencies": {\n    "tap": "1"\n  }\n}\n`,
    ],
    [
      'no list at all',
      '{\n  "name": "a",\n  "scripts": { "postinstall": "true" }\n}\n',
      `{\n  "name": "a",\n  "scripts": { "postinstall": "true" },\n  "dependencies": {\n    ${LINE}\n  }\n}\n`,
    ],
    [
      'everything on one line',
      '{"name":"a","dependencies":{"express":"5"}}',
      `{"name":"a","dependencies":{"express":"5","service-node":"${ADDRESS}"}}`,
    ],
    ['nothing at all', '{}', `{"dependencies":{"service-node":"${ADDRESS}"}}`],
    [
      'a name that is one of the language',
      '{\n  "__proto__": {},\n  "dependencies": {\n    "express": "5"\n  }\n}\n',
      `{\n  "__proto__": {},\n  "dependencies": {\n    "express": "5",\n    ${LINE}\n  }\n}\n`,
    ],
  ]
  for (const [what, before, expected] of rows) {
    t.equal(after(before), expected, what)
    t.same(withDependency(expected, ADDRESS), { kind: 'there already' })
  }
})

t.test('what is there is not changed, but told', async (t) => {
  const named = (list: string, value: string) =>
    withDependency(`{\n  "name": "a",\n  "${list}": { "service-node": "${value}" }\n}\n`, ADDRESS)
  t.match(named('dependencies', 'https://elsewhere.example.test/x'), {
    kind: 'manual',
    line: 3,
    problem: /from a different address/,
  })
  t.match(named('devDependencies', ADDRESS), { kind: 'manual', problem: /under devDependencies/ })
})

t.test('what is no package.json is left alone', async (t) => {
  for (const text of [
    '',
    '[]',
    '{,}',
    '{"a":1}//',
    '{"dependencies": []}',
    'null',
    '{"dependencies":{},"dependencies":{}}',
  ])
    t.match(withDependency(text, ADDRESS), { kind: 'manual' }, text)
})
