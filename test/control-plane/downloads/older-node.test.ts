/** What runs on others' machines runs on the oldest Node that we promise: syntax is the bundler's to see to, and what Node itself has is not. */
import t from 'tap'
import { bundle } from '../../../control-plane/downloads/bundling/bundle.ts'

/** Not in Node 20. */
const LATER =
  /\b(?:Promise\.(?:withResolvers|try)|(?:Object|Map)\.groupBy|Array\.fromAsync|URL\.parse|RegExp\.escape|Iterator\.from|Uint8Array\.from(?:Base64|Hex)|getBuiltinModule|globSync)\(/

for (const program of ['analyzer', 'connector', 'device-agent'])
  void t.test(program, async (t) => {
    const entry = new URL(`../../../control-plane/downloads/${program}/main.ts`, import.meta.url)
    const { codes } = await bundle({ entry, formats: ['esm'] })
    t.match(codes[0], /process/)
    t.equal(LATER.exec(codes[0] ?? '')?.[0], undefined)
  })
