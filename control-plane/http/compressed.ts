/**
 * Documents that are the same for everybody, compressed once for each coding and kept. Only such: a page
 * that holds a secret beside what its reader sent goes out as it is (.docs/decisions/0039).
 */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

const CODINGS = ['br', 'gzip'] as const
type Coding = (typeof CODINGS)[number] | 'identity'

export type Compressed = Readonly<Record<Coding, Buffer>>

export async function compressed(text: string): Promise<Compressed> {
  const identity = Buffer.from(text)
  const size = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: identity.length } }
  const [br, gz] = await Promise.all([brotli(identity, size), gzipped(identity, { level: 9 })])
  return { identity, br, gzip: gz }
}

/** What to send to whom says this (RFC 9110, section 12.5.3), and how the answer says so. */
export function encodedFor(document: Compressed, acceptEncoding = '') {
  const coding = CODINGS.find((one) => isAccepted(one, acceptEncoding)) ?? 'identity'
  const encoding = coding === 'identity' ? {} : { 'Content-Encoding': coding }
  return { bytes: document[coding], headers: { ...encoding, Vary: 'Accept-Encoding' } }
}

function isAccepted(coding: string, acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2)
    return name === coding && (weight === undefined || Number(weight) > 0)
  })
}
