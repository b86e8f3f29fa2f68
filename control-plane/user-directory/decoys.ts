/**
 * What is computed for a login that nobody has. It has to cost what a real one costs, so the kinds
 * of hash that a directory holds are remembered. Where there are several, a login always meets the
 * same: else somebody who asks often could tell an unknown user by the change.
 */
import { createHmac } from 'node:crypto'
import { decoyOf, shapeText, type HashShape, type KnownHash } from './hashes/hash-shapes.ts'

const SHAPES_MAX = 8

/** Until a real one has been seen; what our own users have. */
const FIRST: HashShape = {
  kind: 'argon2',
  variant: 'argon2id',
  memoryKib: 19_456,
  passes: 2,
  lanes: 1,
  saltBytes: 16,
  tagBytes: 32,
}

export type Decoys = ReturnType<typeof createDecoys>

export function createDecoys(key: Buffer, known: readonly HashShape[]) {
  const shapes = new Map(known.map((shape) => [shapeText(shape), shape]))

  return {
    learn(shape: HashShape) {
      if (shapes.size < SHAPES_MAX) shapes.set(shapeText(shape), shape)
    },
    for(login: string): KnownHash {
      const all = [...shapes.values()]
      const number = createHmac('sha256', key).update(login).digest().readUInt32BE()
      return decoyOf(all[number % all.length] ?? FIRST)
    },
  }
}
