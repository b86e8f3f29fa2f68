/**
 * Whoever was let in for longer than a moment, with an event stream, a download or a WebSocket, is
 * judged again: with every piece of news, and every second for what time alone ends.
 */
import { SECOND_MS } from '../../../../shared/clock.ts'
import type { StillOpen } from '../guard.ts'
import type { EnforcedTenant } from './state.ts'
import type { Admission } from './admission.ts'

export interface Watch {
  add(admitted: Admitted, open: StillOpen): () => void
  /** Something has changed. */
  look(): void
  close(): void
}

export interface Admitted {
  readonly identity: Admission
  readonly path: string
  /** When it last did something of its own. */
  activeSeconds: number
  /** The state of the tenant that it was last let in by. */
  allowedBy: EnforcedTenant
}

interface Watched {
  readonly admitted: Admitted
  readonly open: StillOpen
}

export interface WatchWorld {
  nowSeconds(): number
  mayStay(admitted: Admitted): boolean
}

export function createWatch({ nowSeconds, mayStay }: WatchWorld): Watch {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined

  function look() {
    const now = nowSeconds()
    for (const one of watched) {
      const { admitted, open } = one
      if (open.isOver()) watched.delete(one)
      else {
        if (open.isActive()) admitted.activeSeconds = now
        if (mayStay(admitted)) continue
        watched.delete(one)
        open.end()
      }
    }
    // here and not when the last one goes: most requests come alone, and a timer for each costs more
    if (watched.size === 0) stop()
  }

  function stop() {
    clearInterval(timer)
    timer = undefined
  }

  return {
    look,
    add(admitted, open) {
      const one = { admitted, open }
      watched.add(one)
      timer ??= setInterval(look, SECOND_MS).unref()
      return () => watched.delete(one)
    },
    close() {
      stop()
      watched.clear()
    },
  }
}
