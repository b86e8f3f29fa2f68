/** A program of ours and its installer, made for the address that they are fetched from. */
import { readFile } from 'node:fs/promises'
import { VERSION } from '../../../shared/version.ts'
import { bundle } from './bundle.ts'
import { makeInstaller } from './installer.ts'
import { madeOnce, type Download } from './made-once.ts'
import { tarball } from './tarball.ts'

interface ProgramWish {
  /** As it is typed. */
  readonly name: string
  /** Goes on with "of the sign-in protection service". */
  readonly about: string
  /** For the package. */
  readonly description: string
  /** Where installer and program are fetched from, as in `/api/v1/cli`. */
  readonly path: string
  /** With `main.ts`, `install-parts.sh` and `README.md`. */
  readonly folder: URL
  readonly baseUrl: string
}

export interface ProgramDownloads {
  /** One file of plain JavaScript that Node runs. */
  program(): Promise<Download>
  /** A POSIX shell script that installs just that file, and no other. */
  installer(): Promise<Download>
  /** The same file as an npm package, for `npm install`. */
  package(): Promise<Download>
}

const FETCH_SECONDS_MAX = 300

/** Packages that are bundled as CommonJS ask for Node's own by this. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'
const require = requireOf(import.meta.url)`

export function createProgramDownloads(wish: ProgramWish): ProgramDownloads {
  const { name, about, path, folder, baseUrl } = wish
  /** The installer removes only what says this in its second line. */
  const mark = `// ${name} ${VERSION}, ${about} of the sign-in protection service`
  const read = (file: string | URL) => readFile(new URL(file, folder), 'utf8')
  let licences = ''
  const program = madeOnce(async () => {
    const made = await bundle({
      entry: new URL('main.ts', folder),
      formats: ['esm'],
      banner: `#!/usr/bin/env node\n${mark}\n${REQUIRE}`,
      define: { BUILT_IN_BASE_URL: JSON.stringify(baseUrl) },
    })
    licences = made.licences
    const licenceLines = licences.trimEnd().replaceAll('*/', '* /')
    return Buffer.from(`${made.codes[0] ?? ''}\n/*\n${licenceLines}\n*/\n`)
  })
  const installer = madeOnce(async () => {
    const { sha256 } = await program()
    const parts = (await read('install-parts.sh')).trimEnd()
    return makeInstaller(
      new URL('install.sh', import.meta.url),
      {
        ...{ BASE_URL: baseUrl, PATH: path, NAME: name, VERSION, SHA256: sha256 },
        SECONDS_MAX: String(FETCH_SECONDS_MAX),
      },
      { ABOUT: about, PARTS: parts },
    )
  })
  return {
    program,
    installer,
    package: madeOnce(async () => {
      const { bytes } = await program()
      const readme = await read('README.md')
      const manifest = `${JSON.stringify(manifestOf(wish), undefined, 2)}\n`
      return tarball([
        { path: 'package/package.json', content: manifest },
        { path: 'package/README.md', content: readme.replaceAll('{base_url}', () => baseUrl) },
        { path: 'package/LICENSE', content: licences },
        { path: `package/${name}.mjs`, content: bytes, kind: 'program' },
      ])
    }),
  }
}

const manifestOf = ({ name, description }: ProgramWish) => ({
  name,
  version: VERSION,
  description,
  license: 'MIT',
  type: 'module',
  engines: { node: '>=20' },
  bin: { [name]: `${name}.mjs` },
})
