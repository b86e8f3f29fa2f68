/**
 * What was decided how often, on its way to the control plane: a batch at a time, each kept until
 * it is taken, over connections, starts and crashes. A batch has a name for good, so that the
 * control plane can tell one that comes twice. What comes meanwhile is added up, minute by minute.
 */
import type { Logger } from 'pino'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { DecisionCount, UpMessage } from '../../shared/fleet/snapshot.ts'
import type { FiguresFile, KeptFigures } from './figures-file.ts'

/** No gateway reports more often. */
export const FIGURES_EVERY_MS = 10 * SECOND_MS
const GATHER_MS = SECOND_MS

interface FiguresOutboxOptions {
  readonly log: Logger
  readonly clock: Clock
  readonly file: FiguresFile
  /** Random, new with every start. */
  readonly run: string
  /** False while there is no link. */
  readonly send: (message: UpMessage) => boolean
  readonly everyMs?: number
}

interface Slot {
  startedMs: number
  readonly counts: Map<string, DecisionCount>
}

export function createFiguresOutbox(options: FiguresOutboxOptions) {
  const { log, clock, file, run, send, everyMs = FIGURES_EVERY_MS } = options
  const kept = file.load()
  let underway = kept.underway
  /** Oldest first. */
  const waiting: Slot[] = kept.waiting.map(({ startedMs, counts }) => ({
    startedMs,
    counts: new Map(counts.map((count) => [keyOf(count), count])),
  }))
  let batch = 0
  let savedMs = -Infinity
  let sentMs = -Infinity
  let isDropping = false
  let timer: NodeJS.Timeout | undefined

  /** Soon, if the last one is long enough ago: workers count at the same time, and share a batch. */
  function soon() {
    const restMs = sentMs + everyMs - clock.steadyMs()
    const delayMs = Math.min(everyMs, Math.max(GATHER_MS, restMs))
    timer ??= setTimeout(() => {
      timer = undefined
      sendNext()
      if (waiting.length > 0) soon()
    }, delayMs).unref()
  }

  /** Written down before it is sent: it keeps its name, whatever happens here in between. */
  function sendNext() {
    const isNew = underway === null && waiting.length > 0
    if (isNew) {
      underway = { run, batch: ++batch, ...takeOldest() }
      sentMs = clock.steadyMs()
    }
    if (isNew || clock.steadyMs() - savedMs >= MINUTE_MS) save()
    if (isNew) sendUnderway()
  }

  function takeOldest() {
    const { startedMs, counts } = waiting[0]!
    const taken = [...counts].slice(0, LIMITS.fleetFiguresSentMax)
    for (const [key] of taken) counts.delete(key)
    if (counts.size === 0) waiting.shift()
    return { startedMs, counts: taken.map(([, count]) => count) }
  }

  function sendUnderway() {
    if (underway === null) return
    const { startedMs, ...named } = underway
    const ageMs = Math.max(0, clock.nowMs() - startedMs)
    send({ type: 'figures', ...named, age_seconds: Math.floor(ageMs / SECOND_MS) })
  }

  function save() {
    savedMs = clock.steadyMs()
    const slots: KeptFigures['waiting'] = waiting.map(({ startedMs, counts }) => ({
      startedMs,
      counts: [...counts.values()],
    }))
    file.save({ underway, waiting: slots })
  }

  function newestSlot(): Slot {
    const newest = waiting.at(-1)
    const ageMs = newest === undefined ? Infinity : Math.abs(clock.nowMs() - newest.startedMs)
    if (newest !== undefined && ageMs < MINUTE_MS) return newest
    const slot = { startedMs: clock.nowMs(), counts: new Map<string, DecisionCount>() }
    waiting.push(slot)
    return slot
  }

  /** Beyond what may be held, two minutes become one; within a minute, what is new is let go. */
  function addTo(slot: Slot, count: DecisionCount) {
    const key = keyOf(count)
    const known = slot.counts.get(key)
    while (known === undefined && isFull()) {
      if (waiting.length < 2) return drop()
      const [oldest, next] = waiting.splice(0, 2) as [Slot, Slot]
      for (const earlier of oldest.counts.values()) sum(next, earlier)
      waiting.unshift(next)
    }
    sum(slot, count)
  }

  function sum({ counts }: Slot, [tenantId, decision, reason, count]: DecisionCount) {
    const key = keyOf([tenantId, decision, reason, count])
    counts.set(key, [tenantId, decision, reason, count + (counts.get(key)?.[3] ?? 0)])
  }

  function isFull(): boolean {
    return waiting.reduce((held, { counts }) => held + counts.size, 0) >= LIMITS.fleetFiguresHeldMax
  }

  function drop() {
    if (!isDropping) log.error('too many counts wait for the control plane, dropping new ones')
    isDropping = true
  }

  if (waiting.length > 0) soon()

  return {
    add(counts: readonly DecisionCount[]) {
      if (counts.length === 0) return
      const slot = newestSlot()
      for (const count of counts) addTo(slot, count)
      soon()
    },
    /** The link is there (again): what was not taken goes once more. */
    connected() {
      sendUnderway()
    },
    received(receivedRun: string, receivedBatch: number) {
      if (underway?.run !== receivedRun || underway.batch !== receivedBatch) return
      underway = null
      isDropping = false
    },
    close() {
      clearTimeout(timer)
      if (underway === null && waiting.length > 0) sendNext()
      else save()
    },
  }
}

function keyOf([tenantId, decision, reason]: DecisionCount): string {
  return `${tenantId} ${decision} ${reason}`
}
