/** Reading a form that a person has sent from one of our own pages. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { hasTooManyFields } from '../../shared/form-fields.ts'
import { LIMITS } from '../../shared/limits.ts'

/**
 * Whether one of our own pages sent this form. The cookie of the sign-in is the lock (an attacker
 * has none that fits); this keeps a form elsewhere from even trying (login CSRF). Sec-Fetch-Site
 * is missing in old browsers and over plain HTTP, Origin in programs that are no browser.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  return headers.origin === undefined || headers.origin === origin
}

type FormResult =
  | { readonly kind: 'form'; readonly fields: ReadonlyMap<string, string> }
  | { readonly kind: 'refused'; readonly reason: 'media_type' | 'too_large' | 'repeated_field' }

/** The fields by name. A name that comes twice is refused: two readers would read two things. */
export async function readForm(
  request: IncomingMessage,
  bytesMax: number = LIMITS.ownFormBytesMax,
): Promise<FormResult> {
  const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded') return refused('media_type')
  const chunks: Buffer[] = []
  let bytes = 0
  // what is not read is left to the listener: the answer goes out on this connection
  const read = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  for await (const chunk of read) {
    bytes += chunk.length
    if (bytes > bytesMax) return refused('too_large')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (hasTooManyFields(text)) return refused('too_large')
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) return refused('repeated_field')
    fields.set(name, value)
  }
  return { kind: 'form', fields }
}

function refused(reason: 'media_type' | 'too_large' | 'repeated_field'): FormResult {
  return { kind: 'refused', reason }
}
