/** Projects that mean harm, or only look like it: looked at to the end, in bounded work, without a crash. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { matchesWorkspace } from '../../../../../control-plane/downloads/analyzer/detection/node/paths.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { projectWith } from './project-with.ts'

const MANIFEST = JSON.stringify({ scripts: { start: 'node a.js' }, dependencies: { express: '5' } })
const look = (files: Readonly<Record<string, string>>) =>
  detectNode(projectWith({ 'package.json': MANIFEST, ...files }))

t.test('a manifest of any shape is read as far as it makes sense', async (t) => {
  for (const text of [
    '',
    'null',
    '[]',
    '"x"',
    '{',
    '{"dependencies":[],"scripts":"start","workspaces":{"packages":7},"bin":[1],"main":{}}',
    '{"__proto__":{"main":"a.js"},"constructor":{"name":"x"},"dependencies":{"__proto__":"1"}}',
    `{"workspaces":${JSON.stringify(Array(5000).fill('**/*a*a*a*a*/**/**'))},"name":"a"}`,
    `{"exports":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}`,
    '{"scripts":{"start":"npm run start","dev":"npm run x","x":"yarn dev"}}',
    `{"scripts":{"start":${JSON.stringify('node "'.repeat(20_000))}}}`,
  ]) {
    const { applications } = await look({
      'package.json': text,
      [`${'aaaaaaaa'.repeat(8)}/package.json`]: '{"name":"a"}',
    })
    t.strictSame(applications, [], text.slice(0, 60))
  }
  const folder = 'a'.repeat(100)
  t.notOk(matchesWorkspace([`${'*a'.repeat(50)}/b`], `${folder}/c`), 'and stars are counted')
  t.notOk(matchesWorkspace([`${'**/'.repeat(40)}b`], 'a/'.repeat(40)))
  t.equal(({} as { main?: unknown }).main, undefined, 'and no prototype is touched')
  const { remarks } = await look({ 'package.json': '{', 'a.js': '' })
  t.strictSame(remarks, ['package.json is not a JSON object, and was left aside.'])
})

t.test('code that cannot be read is said, and the rest looked at none the less', async (t) => {
  const broken = {
    'broken.js': 'const = 1',
    'deep.js': '[\n'.repeat(100_000),
    'minified.js': `x=[${'1,'.repeat(50_000)}]`,
    'long.js': ' \n'.repeat(LIMITS.analyzerSourceCharactersMax),
  }
  const requires = Object.keys(broken).map((path) => `require('./${path}')`)
  const { applications, remarks } = await look({
    'a.js': `${requires.join('\n')}\nrequire('express')().listen(1)`,
    ...broken,
  })
  t.match(applications, [
    { framework: 'express', mount: { path: 'a.js', line: 5 }, confidence: 'sure' },
  ])
  t.match(remarks, [
    /^broken\.js cannot be parsed/,
    /^deep\.js is too large, or nested too deeply/,
    /^minified\.js is minified/,
    /^long\.js is longer than/,
  ])
})

t.test('circles end: of imports, names, classes, calls, packages and configurations', async (t) => {
  const { applications } = await look({
    'a.js': `import { b } from './b.js'; export * from './b.js'; b.listen(1)`,
    'b.js': `import { c } from './a.js'; export * from './a.js'; export const b = c`,
  })
  t.strictSame(applications, [])
  for (const code of [
    `let a = b, b = a; a.listen(1)`,
    `const a = () => a(); a().listen(1)`,
    `function a(x) { x.listen(1); return a(x) } a(a)`,
    `function a(x) { return x(a(x)) } a(a).listen(1)`,
    `class A extends A { get b() { return this.b } } new A().b.listen(1)`,
    `class A extends B {} class B extends A {} new A().c.listen(1)`,
    `const a = {}; a.a = a; a.a.a.a.a.b.listen(1)`,
    `const a = { ...a, b: a.b }; a.b.listen(1)`,
    `module.exports = require('./a'); module.exports.listen(1)`,
    `var p = p || process.env.PORT; require('express')().get('/health', p); x.listen(p)`,
  ])
    t.ok(await look({ 'a.js': code }), code)
  t.ok(
    await look({
      'tsconfig.json': '{"extends":"./b/tsconfig.json","compilerOptions":{"paths":{"*":["*"]}}}',
      'b/tsconfig.json': '{"extends":"../tsconfig.json"}',
      'a.js': `import 'x'; import '@/x'; import '../../../x'`,
      'p/package.json': '{"name":"p","workspaces":["."],"dependencies":{"q":"*"}}',
      'q/package.json':
        '{"name":"q","workspaces":["../p"],"dependencies":{"p":"*"},"main":"../../../etc"}',
    }),
  )
})

t.test('work is bounded, and where it ended it is said', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: LIMITS.analyzerPackagesMax + 1 }, (_, i) => [`p/${i}/package.json`, '{}']),
  )
  t.match((await look(many)).remarks, [/^Only 300 of 302 package\.json were looked at/])

  const manifests: string[] = []
  const all = projectWith(many)
  await detectNode({ ...all, read: (path) => (manifests.push(path), all.read(path)) })
  const read = new Set(manifests.filter((path) => path.endsWith('/package.json')))
  t.equal(read.size, LIMITS.analyzerPackagesMax)

  const asked: string[] = []
  const leads = LIMITS.analyzerReachFilesMax + 100
  const files: Record<string, string> = {
    'package.json': MANIFEST,
    'a.js': Array.from({ length: leads }, (_, i) => `require('./f/${i}')`).join('\n'),
  }
  for (let i = 0; i < leads; i++) files[`f/${i}.js`] = ''
  const project = projectWith(files)
  await detectNode({
    ...project,
    read: (path) => {
      if (/^f\/\d+\.js$/.test(path)) asked.push(path)
      return project.read(path)
    },
  })
  t.ok(new Set(asked).size < LIMITS.analyzerReachFilesMax, 'files from one entry')

  const filler = `// ${'x'.repeat(100)}\n`.repeat(9_000)
  const packages: Record<string, string> = {}
  for (let i = 0; i < LIMITS.analyzerCharactersMax / filler.length + 1; i++) {
    packages[`p/${i}/package.json`] = MANIFEST
    packages[`p/${i}/a.js`] = filler
  }
  t.match((await look(packages)).remarks, [/^Only part of the code was analyzed/])
})

t.test('thousands of names for one thing are followed so far and no further', async (t) => {
  const calls = Array.from(
    { length: 3000 },
    (_, i) => `f(a${i}); function a${i}(x) { return f(x) }`,
  )
  const passed = `function f(x) { x.listen(1); return x }\n${calls.join('\n')}`
  const uses = Array.from({ length: 5000 }, (_, i) => `app.use('/health', r${i % 7})`)
  const routed = `const app = require('express')(); var r0 = r1 = r2 = r3 = r4 = r5 = r6 = app\n${uses.join('\n')}`
  const chained = `require('express')()${'.use(x)'.repeat(300)}.listen(1)`
  t.strictSame((await look({ 'a.js': passed })).applications, [])
  t.ok(await look({ 'a.js': routed }))
  t.match((await look({ 'a.js': chained })).applications, [{ confidence: 'sure', port: 1 }])
})
