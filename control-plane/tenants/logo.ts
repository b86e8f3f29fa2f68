/** A tenant's logo: which pictures we take, and where a realm shows the one that is there. */
import { createHash } from 'node:crypto'
import type { Tenant } from '../store/queries/tenants.ts'

export interface Logo {
  readonly bytes: Buffer
  readonly mediaType: string
}

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
