/**
 * Passwords that are known to everybody, in a file that the operator supplies: SHA-1 hashes in
 * hex, one a line and in their order, each with `:count` or without, as Have I Been Pwned hands
 * them out. Nothing of it is kept in memory: an answer takes some thirty short reads.
 */
import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'

export interface BreachList {
  has(plain: string): Promise<boolean>
  close(): Promise<void>
}

const LINE = /^([0-9A-Fa-f]{40})(?::\d+)?\r?$/
const LINE_BYTES_MAX = 64

export const noBreachList: BreachList = {
  has: () => Promise.resolve(false),
  close: () => Promise.resolve(),
}

export async function openBreachList(path: string): Promise<BreachList> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    await checkOrder(file, size, path)
    return {
      has: (plain) => holds(file, size, hashOf(plain)),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

function hashOf(plain: string): string {
  return createHash('sha1').update(plain, 'utf8').digest('hex').toUpperCase()
}

async function holds(file: FileHandle, size: number, wanted: string): Promise<boolean> {
  let from = 0
  let to = size
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const line = await lineFrom(file, middle)
    if (line === undefined || line.start >= to) to = middle
    else if (line.hash === wanted) return true
    else if (line.hash < wanted) from = line.end
    else to = middle
  }
  return false
}

/** The first line that begins at `offset` or behind it. */
async function lineFrom(file: FileHandle, offset: number) {
  const bytes = Buffer.alloc(2 * LINE_BYTES_MAX)
  const at = Math.max(0, offset - 1)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, at)
  const text = bytes.toString('latin1', 0, bytesRead)
  const begin = offset === 0 ? 0 : text.indexOf('\n') + 1
  if (offset > 0 && begin === 0) return undefined
  const end = text.indexOf('\n', begin)
  const line = text.slice(begin, end === -1 ? undefined : end)
  if (line === '') return undefined
  const hash = LINE.exec(line)?.[1]
  if (hash === undefined) throw new Error(`byte ${at + begin} of the breach list is no SHA-1 hash`)
  return { hash: hash.toUpperCase(), start: at + begin, end: at + begin + line.length + 1 }
}

/** A list in another order would let everything pass, so some places are looked at first. */
async function checkOrder(file: FileHandle, size: number, path: string) {
  let before = ''
  for (let part = 0; part < 16; part++) {
    const line = await lineFrom(file, Math.floor((size * part) / 16))
    if (line === undefined) continue
    if (line.hash < before)
      throw new Error(`${path} is not in the order of its hashes: sort it first (LC_ALL=C sort)`)
    before = line.hash
  }
  if (before === '') throw new Error(`${path} holds no hashes`)
}
