/**
 * One file of plain JavaScript out of TypeScript and the packages that it uses, for machines that
 * have neither. Nothing is left to import but what Node itself brings.
 */
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Esbuild from 'esbuild'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Node 20.0, which is what we promise to run on. */
const TARGET = 'node20'
/** Browsers of the last years; pages do what they are for without a script, too. */
const BROWSER_TARGET = 'es2022'

interface BundleWish {
  /** A module of ours. */
  readonly entry: URL
  readonly formats: readonly ('esm' | 'cjs')[]
  /** Node, unless a page of ours loads it: then it is made small as well. */
  readonly platform?: 'node' | 'browser'
  /** Stands in front of everything: a shebang line, for a program. */
  readonly banner?: string
  /** Put in the place of identifiers: `{ BASE_URL: '"https://…"' }`. */
  readonly define?: Readonly<Record<string, string>>
}

interface Bundle {
  /** The code in each wished format, in their order. */
  readonly codes: readonly string[]
  /** Our licence, and those of every package whose code is in it. */
  readonly licences: string
}

/** How many are being made: esbuild is a program that stays until it is stopped. */
let underWay = 0

/** The same bytes from the same sources. */
export async function bundle(wish: BundleWish): Promise<Bundle> {
  const esbuild = await import('esbuild') // not before somebody asks
  underWay++
  try {
    return await bundleWith(esbuild, wish)
  } finally {
    if (--underWay === 0) await esbuild.stop()
  }
}

async function bundleWith(
  esbuild: Pick<typeof Esbuild, 'build'>,
  wish: BundleWish,
): Promise<Bundle> {
  const results = await Promise.all(
    wish.formats.map((format) =>
      esbuild.build({
        entryPoints: [fileURLToPath(wish.entry)],
        absWorkingDir: ROOT,
        bundle: true,
        write: false,
        metafile: true,
        ...(wish.platform === 'browser'
          ? { platform: 'browser' as const, target: BROWSER_TARGET, minify: true }
          : { platform: 'node' as const, target: TARGET }),
        format,
        charset: 'utf8',
        legalComments: 'inline',
        logLevel: 'silent',
        ...(wish.banner === undefined ? {} : { banner: { js: wish.banner } }),
        ...(wish.define === undefined ? {} : { define: { ...wish.define } }),
      }),
    ),
  )
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs))
  return {
    codes: results.map(({ outputFiles }) => outputFiles[0]?.text ?? ''),
    licences: await licencesOf(packagesOf(inputs)),
  }
}

/** `node_modules/a/dist/x.js` and `node_modules/@b/c/y.js` → `node_modules/a`, `node_modules/@b/c`. */
function packagesOf(inputs: readonly string[]): string[] {
  const folders = inputs.map(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? '',
  )
  return [...new Set(folders)].filter((folder) => folder !== '').sort()
}

/** Every licence that we use asks for its own text to come along. */
async function licencesOf(packages: readonly string[]): Promise<string> {
  const own = await readFile(join(ROOT, 'LICENSE'), 'utf8')
  const others = await Promise.all(packages.map(licenceOf))
  return [own.trimEnd(), ...others].join(`\n\n${'-'.repeat(72)}\n\n`) + '\n'
}

async function licenceOf(folder: string): Promise<string> {
  const path = join(ROOT, folder)
  const manifest = JSON.parse(await readFile(join(path, 'package.json'), 'utf8')) as {
    name: string
    version: string
  }
  const file = (await readdir(path)).find((name) => /^licen[cs]e(?:\.|$)/i.test(name))
  if (file === undefined) throw new Error(`${manifest.name} has no licence to pass on`)
  const text = await readFile(join(path, file), 'utf8')
  return `This software contains ${manifest.name} ${manifest.version}:\n\n${text.trim()}`
}
