/**
 * Documents that are the same for everybody, compressed once for each coding that somebody takes, and
 * kept. Only such: a page that holds a secret beside what its reader sent goes out as it is
 * (.docs/decisions/0039).
 */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

const CODINGS = ['br', 'gzip'] as const
type Coding = (typeof CODINGS)[number] | 'identity'

/** The document in a coding, made when it is first asked for. */
export type Compressed = (coding: Coding) => Promise<Buffer>

export function compressed(text: string): Compressed {
  const identity = Buffer.from(text)
  const kept = new Map<Coding, Promise<Buffer>>()
  return (coding) => kept.getOrInsertComputed(coding, () => encoded(identity, coding))
}

async function encoded(text: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === 'identity') return text
  if (coding === 'gzip') return gzipped(text, { level: 9 })
  return brotli(text, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: text.length } })
}

/** What to send to whom says this (RFC 9110, section 12.5.3), and how the answer says so. */
export async function encodedFor(document: Compressed, acceptEncoding = '') {
  const coding = CODINGS.find((one) => isAccepted(one, acceptEncoding)) ?? 'identity'
  const encoding = coding === 'identity' ? {} : { 'Content-Encoding': coding }
  return { bytes: await document(coding), headers: { ...encoding, Vary: 'Accept-Encoding' } }
}

function isAccepted(coding: string, acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2)
    return name === coding && (weight === undefined || Number(weight) > 0)
  })
}
