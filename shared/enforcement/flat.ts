/**
 * A part of a head keeps all of the head alive, and is slow to compare. What is to stay is copied
 * out of it. One byte a character.
 */
export const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')
