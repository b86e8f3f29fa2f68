/** The command line tool and its installer, made for the address that they are fetched from. */
import { readFile } from 'node:fs/promises'
import { VERSION } from '../../../shared/version.ts'
import { bundle } from '../bundling/bundle.ts'
import { madeOnce, type Download } from '../bundling/made-once.ts'
import { tarball } from '../bundling/tarball.ts'

interface AnalyzerDownloads {
  /** One file of plain JavaScript that Node runs. */
  program(): Promise<Download>
  /** A POSIX shell script that installs just that file, and no other. */
  installer(): Promise<Download>
  /** The same file as an npm package, for `npm install`. */
  package(): Promise<Download>
}

/** The installer removes only what says this in its second line. */
const MARK = `// service-analyzer ${VERSION}, the command line tool of the sign-in protection service`

/** Packages that are bundled as CommonJS ask for Node's own by this. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'
const require = requireOf(import.meta.url)`

export function createAnalyzerDownloads(baseUrl: string): AnalyzerDownloads {
  let licences = ''
  const program = madeOnce(async () => {
    const made = await bundle({
      entry: new URL('main.ts', import.meta.url),
      formats: ['esm'],
      banner: `#!/usr/bin/env node\n${MARK}\n${REQUIRE}`,
      define: { BUILT_IN_BASE_URL: JSON.stringify(baseUrl) },
    })
    licences = made.licences
    const licenceLines = licences.trimEnd().replaceAll('*/', '* /')
    return Buffer.from(`${made.codes[0] ?? ''}\n/*\n${licenceLines}\n*/\n`)
  })
  const installer = madeOnce(async () => {
    const { sha256 } = await program()
    const script = await readFile(new URL('install.sh', import.meta.url), 'utf8')
    const values = { BASE_URL: baseUrl, VERSION, SHA256: sha256 }
    return Buffer.from(
      script.replaceAll(/@([A-Z0-9_]+)@/g, (_whole, name: string) => valueOf(values, name)),
    )
  })
  return {
    program,
    installer,
    package: madeOnce(async () => {
      const { bytes } = await program()
      const readme = await readFile(new URL('README.md', import.meta.url), 'utf8')
      return tarball([
        { path: 'package/package.json', content: `${JSON.stringify(MANIFEST, undefined, 2)}\n` },
        { path: 'package/README.md', content: readme.replaceAll('{base_url}', () => baseUrl) },
        { path: 'package/LICENSE', content: licences },
        { path: `package/${PROGRAM_FILE}`, content: bytes, kind: 'program' },
      ])
    }),
  }
}

const PROGRAM_FILE = 'service-analyzer.mjs'
const MANIFEST = {
  name: 'service-analyzer',
  version: VERSION,
  description: 'Puts a web application behind the sign-in protection service and verifies it',
  license: 'MIT',
  type: 'module',
  engines: { node: '>=20' },
  bin: { 'service-analyzer': PROGRAM_FILE },
} as const

/** Every place is in a comment or between single quotes; nothing that ends either may get there. */
function valueOf(values: Readonly<Record<string, string>>, name: string): string {
  const value = values[name]
  if (value === undefined || !/^[A-Za-z0-9:/._~[\]@-]+$/.test(value))
    throw new Error(`${name} cannot stand in a shell script`)
  return value
}
