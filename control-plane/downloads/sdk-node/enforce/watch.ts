/**
 * Whoever was let in for longer than a moment, with an event stream, a download or a WebSocket, is
 * judged again: with every piece of news, and every second for what time alone ends.
 */
import { SECOND_MS } from '../../../../shared/clock.ts'
import type { MachinePass } from '../../../../shared/enforcement/machines.ts'
import { PathBudget } from '../../../../shared/enforcement/path-budget.ts'
import type { StillOpen } from '../guard.ts'
import type { EnforcedTenant } from './state.ts'
import type { Admission } from './admission.ts'

export interface Admitted {
  /** Undefined: nobody was named, and no session was needed. */
  readonly identity: Admission | undefined
  readonly path: string
  readonly method: string
  readonly methodOverrides: readonly string[]
  readonly clientAddress: string
  readonly machine: MachinePass | undefined
  /** When it last did something of its own. */
  activeSeconds: number
  /** As far as was seen: only the application, or its client, knows when it ends. */
  isOpenEnded: boolean
  /** The state of the tenant that it was last let in by, and when. */
  allowedBy: EnforcedTenant
  allowedSeconds: number
}

interface Watched {
  readonly admitted: Admitted
  readonly open: StillOpen
}

interface WatchWorld {
  nowSeconds(): number
  /** Its path is looked at only where that is due; until then it stays if its session holds. */
  mayStay(admitted: Admitted, isPathDue: (path: string) => boolean): boolean
  /** Of something that was watched; the others have been looked at all the same. */
  onError(error: unknown): void
}

export function createWatch({ nowSeconds, mayStay, onError }: WatchWorld) {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined
  let rest: NodeJS.Immediate | undefined
  const paths = new PathBudget()
  const isPathDue = (path: string) => paths.isDue(path)

  /** Something has changed. */
  function look() {
    paths.beginTurn()
    const now = nowSeconds()
    const errors: unknown[] = []
    for (const one of [...watched]) {
      if (!watched.has(one)) continue // ended by the end of another
      const verdict = judge(one, now, errors)
      if (verdict === 'stays') continue
      watched.delete(one)
      if (verdict === 'ends' && !end(one, errors)) watched.add(one)
    }
    // here and not when the last one goes: most requests come alone, and a timer for each costs more
    if (watched.size === 0) stop()
    else if (paths.isSpent) rest ??= setImmediate(goOn)
    for (const error of errors) onError(error)
  }

  function goOn() {
    rest = undefined
    look()
  }

  /** What cannot be judged does not go on. */
  function judge({ admitted, open }: Watched, now: number, errors: unknown[]) {
    try {
      if (open.isOver()) return 'over'
      if (open.isActive()) admitted.activeSeconds = now
      admitted.isOpenEnded = open.isOpenEnded()
      return mayStay(admitted, isPathDue) ? 'stays' : 'ends'
    } catch (error) {
      errors.push(error)
      return 'ends'
    }
  }

  /** False: the next look tries it again. */
  function end({ open }: Watched, errors: unknown[]): boolean {
    try {
      open.end()
      return true
    } catch (error) {
      errors.push(error)
      return false
    }
  }

  function stop() {
    clearInterval(timer)
    clearImmediate(rest)
    timer = rest = undefined
  }

  return {
    look,
    add(admitted: Admitted, open: StillOpen) {
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
