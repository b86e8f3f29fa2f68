/** As much of X.690 as certificates need: values written, and values found in what others wrote. */

export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OCTET_STRING = 0x04
export const OBJECT_ID = 0x06
const SEQUENCE = 0x30
export const SET = 0x31

/** A tag, a length, the content. */
export function tagged(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  const { length } = bytes
  if (length > 0xffff) throw new Error('too long to be written here')
  const head =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...head), bytes])
}

export const sequence = (...content: readonly Buffer[]) => tagged(SEQUENCE, ...content)

export function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}

export interface Tagged {
  readonly tag: number
  readonly content: Buffer
}

/** What a constructed value is made of; throws where it is not DER. */
export function partsOf(content: Buffer): Tagged[] {
  const parts: Tagged[] = []
  for (let at = 0; at < content.length;) {
    const tag = content[at] ?? 0
    const first = content[at + 1] ?? 0x80
    const longBytes = first < 0x80 ? 0 : first & 0x7f
    const start = at + 2 + longBytes
    if (first === 0x80 || longBytes > 4 || start > content.length) throw new Error('no DER')
    const length = longBytes === 0 ? first : content.readUIntBE(at + 2, longBytes)
    at = start + length
    if (at > content.length) throw new Error('no DER')
    parts.push({ tag, content: content.subarray(start, at) })
  }
  return parts
}
