/** The command line tool and its installer, made for the address that they are fetched from. */
import { readFile } from 'node:fs/promises'
import { VERSION } from '../../../shared/version.ts'
import { bundle } from '../bundling/bundle.ts'
import { madeOnce, type Download } from '../bundling/made-once.ts'

export interface AnalyzerDownloads {
  /** One file of plain JavaScript that Node runs. */
  program(): Promise<Download>
  /** A POSIX shell script that installs just that file, and no other. */
  installer(): Promise<Download>
}

export function createAnalyzerDownloads(baseUrl: string): AnalyzerDownloads {
  const program = madeOnce(async () => {
    const { codes, licences } = await bundle({
      entry: new URL('main.ts', import.meta.url),
      formats: ['esm'],
      banner: '#!/usr/bin/env node',
      define: { BUILT_IN_BASE_URL: JSON.stringify(baseUrl) },
    })
    const licenceLines = licences.trimEnd().replaceAll('*/', '* /')
    return Buffer.from(`${codes[0] ?? ''}\n/*\n${licenceLines}\n*/\n`)
  })
  const installer = madeOnce(async () => {
    const { sha256 } = await program()
    const script = await readFile(new URL('install.sh', import.meta.url), 'utf8')
    const values = { BASE_URL: baseUrl, VERSION, SHA256: sha256 }
    return Buffer.from(
      script.replaceAll(/@([A-Z0-9_]+)@/g, (_whole, name: string) => valueOf(values, name)),
    )
  })
  return { program, installer }
}

/** Every place is in a comment or between single quotes; nothing that ends either may get there. */
function valueOf(values: Readonly<Record<string, string>>, name: string): string {
  const value = values[name]
  if (value === undefined || !/^[A-Za-z0-9:/._~[\]@-]+$/.test(value))
    throw new Error(`${name} cannot stand in a shell script`)
  return value
}
