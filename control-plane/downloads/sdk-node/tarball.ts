/** The npm package `service-node`, as `npm install <base_url>/api/v1/sdk/node` takes it. */
import { readFile } from 'node:fs/promises'
import { VERSION } from '../../../shared/version.ts'
import { bundle } from '../bundling/bundle.ts'
import { madeOnce } from '../bundling/made-once.ts'
import { tarball } from '../bundling/tarball.ts'

export const sdkTarball = madeOnce(makeTarball)

async function makeTarball(): Promise<Buffer> {
  const entry = new URL('index.ts', import.meta.url)
  const [{ codes, licences }, types, readme] = await Promise.all([
    bundle({ entry, formats: ['esm', 'cjs'] }),
    readFile(new URL('published.ts', import.meta.url), 'utf8'),
    readFile(new URL('package/README.md', import.meta.url), 'utf8'),
  ])
  const [esm = '', cjs = ''] = codes
  const files = {
    'package.json': `${JSON.stringify(MANIFEST, undefined, 2)}\n`,
    'README.md': readme,
    LICENSE: licences,
    'index.js': esm,
    'index.cjs': cjs,
    'index.d.ts': types,
    'index.d.cts': types, // the same names either way; the ending tells TypeScript which they are
  }
  return tarball(
    Object.entries(files).map(([name, content]) => ({ path: `package/${name}`, content })),
  )
}

const MANIFEST = {
  name: 'service-node',
  version: VERSION,
  description: 'Sign-in protection inside a Node.js application: enforce() and verifyClaims()',
  license: 'MIT',
  type: 'module',
  engines: { node: '>=20' },
  main: './index.cjs',
  module: './index.js',
  types: './index.d.ts',
  exports: {
    '.': {
      import: { types: './index.d.ts', default: './index.js' },
      require: { types: './index.d.cts', default: './index.cjs' },
    },
    './package.json': './package.json',
  },
  sideEffects: false,
} as const
