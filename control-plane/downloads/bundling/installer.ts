/** Installers for a shell, made for where they are fetched from, with what all of them have in common. */
import { readFile } from 'node:fs/promises'

const read = async (file: URL) => (await readFile(file, 'utf8')).trimEnd()

/** `texts` are ours, `values` come from elsewhere, and the empty ones were not given. */
export async function makeInstaller(
  template: URL,
  values: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const [script, common, start] = await Promise.all([
    read(template),
    read(new URL('install-common.sh', import.meta.url)),
    read(new URL('install-start.sh', import.meta.url)),
  ])
  const known: Readonly<Record<string, string>> = { ...texts, COMMON: common, START: start }
  const filled = (text: string): string =>
    text.replaceAll(/@([A-Z0-9_]+)@/g, (_whole, place: string) => {
      const ours = known[place]
      if (ours !== undefined) return filled(ours)
      return values[place] === '' ? '' : shellValueOf(values, place)
    })
  return Buffer.from(`${filled(script)}\n`)
}

/** Every place is in a comment or between single quotes; nothing that ends either may get there. */
function shellValueOf(values: Readonly<Record<string, string>>, name: string): string {
  const value = values[name]
  if (value === undefined || !/^[A-Za-z0-9:/._~[\]@-]+$/.test(value))
    throw new Error(`${name} cannot stand in a shell script`)
  return value
}
