/**
 * A password hash taken apart: how it is computed and what that costs (its shape), salt and
 * result. A decoy is the same shape with a random salt and result.
 */
import { randomBytes } from 'node:crypto'

export type HashShape =
  | {
      readonly kind: 'argon2'
      readonly variant: 'argon2id' | 'argon2i' | 'argon2d'
      readonly memoryKib: number
      readonly passes: number
      readonly lanes: number
      readonly saltBytes: number
      readonly tagBytes: number
    }
  | {
      readonly kind: 'bcrypt'
      readonly cost: number
      /** Django hashes the password with SHA-256 first, since bcrypt reads only 72 bytes. */
      readonly isDigested: boolean
      readonly saltBytes: number
      readonly tagBytes: number
    }
  | {
      readonly kind: 'scrypt'
      readonly rounds: number
      readonly blockSize: number
      readonly lanes: number
      readonly saltBytes: number
      readonly tagBytes: number
    }
  | {
      readonly kind: 'pbkdf2'
      readonly digest: 'sha1' | 'sha256' | 'sha512'
      readonly rounds: number
      readonly saltBytes: number
      readonly tagBytes: number
    }

export interface KnownHash {
  readonly shape: HashShape
  /** bcrypt's salt and result are kept as the text that they are written in. */
  readonly salt: Buffer
  readonly tag: Buffer
}

/** What one sign-in may cost, whoever wrote the record: about two seconds and a quarter gigabyte. */
export const COST_MAX = {
  memoryKib: 256 * 1024,
  /** Memory times passes. */
  argon2KibPasses: 1024 * 1024,
  argon2Lanes: 16,
  bcryptCost: 14,
  /** Rounds times block size times lanes. */
  scryptBlocks: 4 * 1024 * 1024,
  pbkdf2Rounds: 3_000_000,
  saltBytes: 128,
  tagBytes: 128,
} as const

/** Below this a result does not tell right from wrong, and a salt is none. */
const TAG_BYTES_MIN = 16

/** bcrypt's parts have the lengths that its text has, whatever those are in bytes. */
export function isAffordable(shape: HashShape): boolean {
  const { saltBytes, tagBytes } = shape
  if (saltBytes < 1 || saltBytes > COST_MAX.saltBytes) return false
  if (tagBytes < TAG_BYTES_MIN || tagBytes > COST_MAX.tagBytes) return false
  switch (shape.kind) {
    case 'argon2': {
      const { memoryKib, passes, lanes } = shape
      if (saltBytes < 8 || passes < 1 || lanes < 1 || lanes > COST_MAX.argon2Lanes) return false
      if (memoryKib < 8 * lanes || memoryKib > COST_MAX.memoryKib) return false
      return memoryKib * passes <= COST_MAX.argon2KibPasses
    }
    case 'bcrypt':
      return shape.cost >= 4 && shape.cost <= COST_MAX.bcryptCost
    case 'scrypt': {
      const { rounds, blockSize, lanes } = shape
      const isPowerOfTwo = rounds > 1 && Number.isInteger(Math.log2(rounds))
      if (!isPowerOfTwo || blockSize < 1 || lanes < 1) return false
      if ((128 * rounds * blockSize) / 1024 > COST_MAX.memoryKib) return false
      return rounds * blockSize * lanes <= COST_MAX.scryptBlocks
    }
    case 'pbkdf2':
      return shape.rounds >= 1 && shape.rounds <= COST_MAX.pbkdf2Rounds
  }
}

/** Two of the same text cost the same. */
export const shapeText = (shape: HashShape): string => JSON.stringify(shape)

/** For people, without anything that is secret. */
export function describeShape(shape: HashShape): string {
  switch (shape.kind) {
    case 'argon2':
      return `${shape.variant}, ${shape.memoryKib} KiB, ${shape.passes} passes, ${shape.lanes} lanes`
    case 'bcrypt':
      return `bcrypt${shape.isDigested ? ' over SHA-256' : ''}, cost ${shape.cost}`
    case 'scrypt':
      return `scrypt, N=${shape.rounds}, r=${shape.blockSize}, p=${shape.lanes}`
    case 'pbkdf2':
      return `pbkdf2 with ${shape.digest}, ${shape.rounds} rounds`
  }
}

export function decoyOf(shape: HashShape): KnownHash {
  const salt =
    shape.kind === 'bcrypt'
      ? Buffer.from(randomBytes(shape.saltBytes).toString('hex').slice(0, shape.saltBytes))
      : randomBytes(shape.saltBytes)
  return { shape, salt, tag: randomBytes(shape.tagBytes) }
}
