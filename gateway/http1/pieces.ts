/** A body as it arrived: bytes, and framing written anew as text of one byte a character. */
export type Piece = Buffer | string

export const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0)

export const joined = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : piece.toString('latin1'))).join('')
