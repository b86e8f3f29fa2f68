/** A start that runs a build: what was edited is nowhere in it until the next one. */
import t from 'tap'
import {
  buildFirst,
  builtStart,
} from '../../../../../control-plane/downloads/analyzer/detection/node/built-start.ts'
import { only } from './only-application.ts'
import { projectWith } from './project-with.ts'

const CODE = `import express from 'express'
const app = express()
app.listen(3000)
`

async function builtBy(scripts: Readonly<Record<string, string>>, code = 'src/server.ts') {
  const dependencies = { express: '^5.1.0' }
  const files = { 'package.json': JSON.stringify({ scripts, dependencies }), [code]: CODE }
  return builtStart(projectWith(files), await only(files))
}

t.test('what is built before it starts is named, and what builds it', async (t) => {
  const built = await builtBy({ start: 'node dist/server.js', build: 'tsc' })
  t.same(built, { file: 'dist/server.js', build: 'npm run build' })
  t.match(built && buildFirst(built), /runs dist\/server\.js.*Run npm run build before/)
  const ofScripts = { start: 'npm run prod', prod: 'NODE_ENV=production node dist/server.js' }
  const bare = await builtBy(ofScripts)
  t.same(bare, { file: 'dist/server.js', build: null })
  t.match(bare && buildFirst(bare), /Build it before/)
})

t.test('what runs its code, or builds at each start, is left alone', async (t) => {
  t.equal(await builtBy({ start: 'tsx src/server.ts', build: 'tsc' }), null)
  t.equal(await builtBy({ start: 'node server', build: 'webpack' }, 'server/index.js'), null)
  t.equal(await builtBy({ start: 'npm run build && node dist/server.js', build: 'tsc' }), null)
  const before = { prestart: 'npm run build', start: 'node dist/server.js', build: 'tsc' }
  t.equal(await builtBy(before), null)
})
