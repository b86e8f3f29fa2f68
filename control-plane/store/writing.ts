/**
 * Whether the database keeps changes: a full disk answers every question, and takes no word. What
 * goes wrong says so; then something that means nothing is written now and then, until it is kept a
 * few times in a row: on a disk that is nearly full there is room for a little every now and then.
 */
import { randomUUID } from 'node:crypto'
import { SECOND_MS } from '../../shared/clock.ts'
import type { Queries } from './engine.ts'
import { cannotWrite, type CannotWrite } from './engines/cannot-write.ts'
import { schema } from './schema.ts'

const TRY_MS = SECOND_MS / 2
const KEPT_IN_A_ROW = 3
const PROBE = 'write_probe'

export async function writeProbe(queries: Queries): Promise<void> {
  const value = randomUUID() // what is as before need not reach the disk
  await queries
    .insert(schema.facts)
    .values({ name: PROBE, value })
    .onConflictDoUpdate({ target: schema.facts.name, set: { value } })
}

export function watchWriting(probe: () => Promise<void>, tryMs = TRY_MS) {
  let why: CannotWrite | undefined
  let tell: (why: CannotWrite | undefined) => void = () => {}
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  /** Without anything in between that was not. */
  let goodTries = 0

  function note(now: CannotWrite | undefined) {
    const isNew = now !== why
    why = now
    goodTries = 0
    if (isNew) tell(now)
    if (now !== undefined) tryLater()
  }

  function tryLater() {
    if (!isClosed) timer ??= setTimeout(attempt, tryMs).unref()
  }

  function attempt() {
    probe().then(
      () => {
        timer = undefined
        if (++goodTries < KEPT_IN_A_ROW) tryLater()
        else note(undefined)
      },
      (error: unknown) => {
        timer = undefined
        note(cannotWrite(error) ?? why)
      },
    )
  }

  return {
    why: () => why,
    onChange: (listener: (why: CannotWrite | undefined) => void) => void (tell = listener),
    /** A change that only reads is kept on a full disk, too: so this says nothing of one that is. */
    async noted<T>(kept: Promise<T>): Promise<T> {
      try {
        return await kept
      } catch (error) {
        const now = cannotWrite(error)
        if (now !== undefined) note(now)
        throw error
      }
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
