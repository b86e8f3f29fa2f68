/**
 * RFC 7541 appendix B. The code is canonical: how long each symbol's is says which it is. Reading goes
 * eight bits at a time through tables, one for each run of bits that more than eight may follow.
 */

/** Of each symbol and, last, of the end of a string, in base 36. */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u'

const END_OF_STRING = 256

const codes = new Uint32Array(257)
const lengths = new Uint8Array(257)
for (let symbol = 0; symbol < 257; symbol++) lengths[symbol] = parseInt(LENGTHS[symbol]!, 36)
for (let length = 5, code = 0; length <= 30; length++, code *= 2)
  for (let symbol = 0; symbol < 257; symbol++)
    if (lengths[symbol] === length) codes[symbol] = code++

/** Of eight bits: a symbol and how many of them it takes, or the next table. */
const IS_TABLE = 0x10000
const tables: Uint32Array[] = [new Uint32Array(256)]
for (let symbol = 0; symbol < 257; symbol++) {
  let table = tables[0]!
  let left = lengths[symbol]!
  for (; left > 8; left -= 8) {
    const byte = (codes[symbol]! >>> (left - 8)) & 0xff
    if (table[byte] === 0) table[byte] = IS_TABLE | (tables.push(new Uint32Array(256)) - 1)
    table = tables[table[byte]! & 0xffff]!
  }
  const first = (codes[symbol]! << (8 - left)) & 0xff
  table.fill((symbol << 4) | left, first, first + (1 << (8 - left)))
}

const scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** Null: not what an encoder writes. The shortest code has five bits. */
export function huffmanText(bytes: Buffer, from: number, to: number): string | null {
  if ((to - from) * 8 > scratch.length * 5) return null
  let written = 0
  let bits = 0
  let count = 0
  let table = tables[0]!
  let pending = 0 // bits of a symbol that has begun
  for (let at = from; at < to; at++) {
    bits = ((bits << 8) | bytes[at]!) & 0xffff
    count += 8
    while (count >= 8) {
      const entry = table[(bits >>> (count - 8)) & 0xff]!
      if (entry >= IS_TABLE) {
        table = tables[entry & 0xffff]!
        count -= 8
        pending += 8
        continue
      }
      const symbol = entry >>> 4
      if (entry === 0 || symbol === END_OF_STRING) return null
      scratch[written++] = symbol
      count -= entry & 15
      table = tables[0]!
      pending = 0
    }
  }
  // What is left may hold short symbols, then up to seven bits of the code for the end: ones.
  while (count > 0) {
    const entry = table[(bits << (8 - count)) & 0xff]!
    const length = entry & 15
    if (entry === 0 || entry >= IS_TABLE || length > count) break
    if (entry >>> 4 === END_OF_STRING) return null
    scratch[written++] = entry >>> 4
    count -= length
    table = tables[0]!
    pending = 0
  }
  const ones = (1 << count) - 1
  if (pending + count > 7 || (bits & ones) !== ones) return null
  return scratch.toString('latin1', 0, written)
}

/** How many bytes it would be. */
export function huffmanLength(text: string): number {
  let bits = 0
  for (let at = 0; at < text.length; at++) bits += lengths[text.charCodeAt(at)]!
  return (bits + 7) >>> 3
}

/** Returns where it ends. The text has one byte a character. */
export function writeHuffman(text: string, to: Buffer, start: number): number {
  let bits = 0
  let count = 0
  let end = start
  for (let at = 0; at < text.length; at++) {
    const symbol = text.charCodeAt(at)
    let left = lengths[symbol]!
    const code = codes[symbol]!
    while (left > 0) {
      const taken = Math.min(left, 8 - count)
      left -= taken
      bits = (bits << taken) | ((code >>> left) & ((1 << taken) - 1))
      count += taken
      if (count < 8) continue
      to[end++] = bits
      bits = count = 0
    }
  }
  if (count > 0) to[end++] = (bits << (8 - count)) | ((1 << (8 - count)) - 1)
  return end
}
