/**
 * All time-outs of one wire through one coarse sweep: to set a deadline is to write a number, so
 * no request pays for a timer. Late by at most the interval.
 */
import type { Clock } from '../../shared/clock.ts'

export interface Deadlined {
  /** Infinity while nothing is awaited. */
  deadlineMs: number
  onDeadline(nowMs: number): void
}

export interface Deadlines {
  add(item: Deadlined): void
  delete(item: Deadlined): void
  sweep(): void
  close(): void
}

export function createDeadlines(clock: Clock, intervalMs = 250): Deadlines {
  const items = new Set<Deadlined>()
  let timer: NodeJS.Timeout | null = null

  function sweep(): void {
    const nowMs = clock.nowMs()
    for (const item of items) if (item.deadlineMs <= nowMs) item.onDeadline(nowMs)
  }
  function stop(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    add(item) {
      items.add(item)
      timer ??= setInterval(sweep, intervalMs).unref()
    },
    delete(item) {
      items.delete(item)
      if (items.size === 0) stop()
    },
    sweep,
    close() {
      stop()
      items.clear()
    },
  }
}
