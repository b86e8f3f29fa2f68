/** The certificate authorities that an application's own certificate is trusted by, from a file. */
import { X509Certificate } from 'node:crypto'
import { open } from 'node:fs/promises'
import { visibleText } from '../../command-line/words.ts'
import { Problem } from '../../command-line/exit.ts'

const BYTES_MAX = 64 * 1024
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** PEM, and nothing of the file beside its certificates. */
export async function readOriginCa(path: string): Promise<string> {
  const shown = visibleText(path)
  const unusable = (why: string, advice: string) =>
    new Problem('origin_ca_unusable', `${shown} cannot be used as --origin-ca: ${why}.`, advice)
  const text = await readText(path).catch(({ code = 'unknown' }: NodeJS.ErrnoException) => {
    throw unusable(`it cannot be read (${code})`, 'Name a file that you can read.')
  })
  if (text === undefined)
    throw unusable('it is too large', 'Name a file with the one authority that is needed.')
  const found = text.match(CERTIFICATE) ?? []
  const wish = 'It must hold the CA certificate in PEM: -----BEGIN CERTIFICATE-----'
  if (found.length === 0)
    throw unusable(
      /PRIVATE KEY-----/.test(text)
        ? 'it holds a key and no certificate'
        : 'it holds no certificate',
      wish,
    )
  if (!found.every(isCertificate)) throw unusable('a certificate in it is malformed', wish)
  return `${found.join('\n')}\n`
}

/** Undefined: it is too large. */
async function readText(path: string): Promise<string | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    return size > BYTES_MAX ? undefined : await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
