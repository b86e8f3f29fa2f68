/**
 * The declarations of the package, as the compiler makes them of its two public files: `npm run
 * sdk-types` writes them down, and a test holds that what is written is what is made. They are one
 * file, since a copy of it is what CommonJS is told.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SDK = 'control-plane/downloads/sdk-node'
export const DECLARATIONS = join(ROOT, SDK, 'package/index.d.ts')

/** Of these two files alone: what they import is neither looked at nor told of. */
const OPTIONS = [
  '--ignoreConfig --declaration --emitDeclarationOnly --isolatedDeclarations --noCheck --noResolve',
  '--target esnext --module nodenext --moduleResolution nodenext --allowImportingTsExtensions',
].flatMap((line) => line.split(' '))

const OF_THE_OTHER = /^(?:import type|export type) .*'\.\/published\.ts';\n/gm
const ABOUT_THE_FILE = /^\/\*\*[^]*?\*\/\n(?=import )/

export function declarationsOfSdk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdk-types-'))
  try {
    const sources = ['index.ts', 'published.ts'].map((name) => join(ROOT, SDK, name))
    run('tsc', [...sources, ...OPTIONS, '--outDir', folder])
    const emitted = (name: string) => readFileSync(join(folder, name), 'utf8')
    const file = join(folder, 'index.d.ts')
    const functions = emitted('index.d.ts').replaceAll(OF_THE_OTHER, '')
    writeFileSync(file, emitted('published.d.ts').replace(ABOUT_THE_FILE, '') + functions)
    run('oxfmt', ['--config', join(ROOT, '.oxfmtrc.json'), file])
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The Node of this project is among them. */
const PROGRAMS = join(ROOT, 'node_modules/.bin')

function run(program: string, args: readonly string[]) {
  const env = { PATH: `${PROGRAMS}:${process.env['PATH']}` }
  // what tap has each program load is nothing for a compiler
  const script = 'unset NODE_OPTIONS; exec "$@"'
  execFileSync('sh', ['-c', script, 'sh', program, ...args], { env, stdio: 'pipe' })
}

if (import.meta.main) writeFileSync(DECLARATIONS, declarationsOfSdk())
