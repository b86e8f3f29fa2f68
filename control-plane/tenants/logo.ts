/** A tenant's logo: which pictures we take, and where a realm shows the one that is there. */
import { createHash } from 'node:crypto'
import type { Tenant } from '../store/queries/tenants.ts'

export interface Logo {
  readonly bytes: Buffer
  readonly mediaType: string
}

/** Each way; a logo is shown far smaller. */
export const LOGO_PIXELS_MAX = 2048

/** What a picture says of itself in its first bytes, which is what browsers go by as well. */
const SIGNATURES: Readonly<Record<string, RegExp>> = {
  'image/png': /^89504e470d0a1a0a/,
  'image/jpeg': /^ffd8ff/,
  'image/webp': /^52494646.{8}57454250/, // RIFF, its length, WEBP
}

export function logoMediaType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 16).toString('hex')
  return Object.entries(SIGNATURES).find(([, signature]) => signature.test(head))?.[0]
}

/** As the picture says itself, before anybody unpacks it: few bytes can be very many pixels. */
export function logoPixels(bytes: Buffer): { width: number; height: number } | undefined {
  try {
    switch (logoMediaType(bytes)) {
      case 'image/png':
        if (bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
        return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
      case 'image/webp':
        return webpPixels(bytes)
      case 'image/jpeg':
        return jpegPixels(bytes)
      default:
        return undefined
    }
  } catch {
    return undefined // it ends before it has said so
  }
}

/** RFC 9649: one of three first chunks. */
function webpPixels(bytes: Buffer) {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    default:
      return undefined
  }
}

/** The first frame header (SOF0 to SOF15, without the tables between), over the segments before it. */
function jpegPixels(bytes: Buffer) {
  for (let at = 2; bytes.readUInt8(at) === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
  }
  return undefined
}

/** Another picture, another tag: part of the address, so that a browser may keep what it has. */
export function logoTag(base64: string): string {
  return createHash('sha256').update(base64).digest('base64url').slice(0, 16)
}

export function logoUrlOf(
  issuer: string,
  { brandLogoTag }: Pick<Tenant, 'brandLogoTag'>,
): string | undefined {
  if (brandLogoTag === null) return undefined
  return `${issuer}/logo?v=${brandLogoTag}`
}
