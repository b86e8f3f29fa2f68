/**
 * Log lines in batches, to a pipe or file that others write to as well. Whoever reads may stop
 * reading: then lines are dropped and counted, and no request waits and no memory grows.
 */
import { LIMITS } from '../../shared/limits.ts'

export interface LineSink {
  /** One line with its line feed, ASCII only. */
  add(line: string): void
  /** Lines that were dropped since the start. */
  dropped(): number
}

export interface LineWriter extends LineSink {
  /** Writes what is held, for as long as somebody reads. */
  close(): Promise<void>
  /** The same for a process that ends now: what is not taken at once is lost. */
  endNow(): void
}

interface LineWriterWorld {
  /** As `fs.write`: may take less than all, and says how much. */
  readonly write: (
    text: string,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ) => void
  /** As `fs.writeSync`, for the end of the process. */
  readonly writeNow?: (text: string) => number
  readonly heldMax?: number
  /** Held back until there are so many, or until they are due. */
  readonly batchCharacters?: number
  /** In one write at most; without it as many as a pipe keeps together. */
  readonly writeCharacters?: number
}

/** Whoever reads is woken once for all of them, and not by every dozen of lines. */
export const BATCH_CHARACTERS = 64 * 1024
/** POSIX: up to here a write to a pipe is never mixed with another process's (PIPE_BUF). */
const PIPE_WRITE_CHARACTERS = 4096
const FLUSH_MS = 100
const RETRY_MS = 20
const CLOSE_MS_MAX = 1000

export function createLineWriter(world: LineWriterWorld): LineWriter {
  const { write, writeNow, batchCharacters = BATCH_CHARACTERS } = world
  const { heldMax: charactersMax = LIMITS.logCharactersHeldMax } = world
  const { writeCharacters = PIPE_WRITE_CHARACTERS } = world
  /** Writes that wait for the one that is under way. */
  const waiting: string[] = []
  let waitingCharacters = 0
  const batch = Buffer.allocUnsafeSlow(batchCharacters)
  let batchEnd = 0
  /** Where writes end in it, and where the last of them begins. */
  let ends: number[] = []
  let writeBegin = 0
  let dropped = 0
  let isWriting = false
  let timer: NodeJS.Timeout | undefined
  let whenIdle: (() => void) | undefined

  function cut() {
    if (batchEnd === 0) return
    let from = 0
    for (const to of [...ends, batchEnd]) {
      enqueue(batch.toString('latin1', from, to))
      from = to
    }
    ends = []
    batchEnd = writeBegin = 0
  }

  function enqueue(text: string) {
    waiting.push(text)
    waitingCharacters += text.length
    if (!isWriting) next()
  }

  /** Copied at once: as text all lines would have to live until the batch is written. */
  function copy(line: string) {
    if (batchEnd > writeBegin && batchEnd + line.length - writeBegin > writeCharacters) {
      ends.push(batchEnd)
      writeBegin = batchEnd
    }
    batchEnd += batch.write(line, batchEnd, 'latin1')
  }

  function next() {
    const text = waiting.shift()
    isWriting = text !== undefined
    if (text !== undefined) write(text, (error, written) => wrote(text, error, written))
    else if (batchEnd === 0) whenIdle?.()
  }

  function wrote(text: string, error: NodeJS.ErrnoException | null, written: number) {
    const rest = error === null ? text.slice(written) : text
    if (rest !== '' && (error === null || error.code === 'EAGAIN')) {
      waiting.unshift(rest)
      waitingCharacters -= text.length - rest.length
      if (error === null) next()
      else setTimeout(next, RETRY_MS).unref()
      return
    }
    waitingCharacters -= text.length
    if (error !== null) dropped += text.split('\n').length - 1
    next()
  }

  function flush() {
    timer = undefined
    cut()
  }

  /** False where nobody takes it: a pipe that is full, or gone, is not waited for. */
  function isTakenNow(text: string): boolean {
    try {
      for (let rest = text; rest !== '';) rest = rest.slice(writeNow?.(rest) ?? rest.length)
      return true
    } catch {
      return false
    }
  }

  return {
    add(line) {
      if (waitingCharacters + batchEnd + line.length > charactersMax) {
        dropped++
        return
      }
      if (batchEnd + line.length > batchCharacters) cut()
      if (line.length > batchCharacters) enqueue(line)
      else copy(line)
      timer ??= setTimeout(flush, FLUSH_MS).unref()
    },
    dropped: () => dropped,
    async close() {
      clearTimeout(timer)
      timer = undefined
      cut()
      if (!isWriting) return
      const idle = Promise.withResolvers<void>()
      whenIdle = idle.resolve
      const impatience = setTimeout(idle.resolve, CLOSE_MS_MAX)
      await idle.promise
      clearTimeout(impatience)
    },
    endNow() {
      clearTimeout(timer)
      isWriting = true // by nobody else from now on
      cut()
      for (const text of waiting.splice(0)) if (!isTakenNow(text)) return
    },
  }
}

/** For within a JSON string: the same text, whatever is in it. */
export const asciiOf = (json: string): string => json.replace(/[\x7f-\uffff]/g, unicode)

const unicode = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Where a person looks on, or a test: every line through the log itself. */
export function createLogSink(write: (entry: Record<string, unknown>) => void): LineSink {
  return {
    add(line) {
      const {
        level: _level,
        time: _time,
        program: _program,
        ...entry
      } = JSON.parse(line) as Record<string, unknown>
      write(entry)
    },
    dropped: () => 0,
  }
}
