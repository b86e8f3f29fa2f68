/**
 * Keeps the workers running. All of them accept from one listening socket, whose queue belongs to
 * none of them: a worker that stops accepting takes nothing with it, and as long as one other
 * listens no connection is refused.
 */
import type { Worker } from 'node:cluster'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { SECOND_MS, type SteadyClock } from '../../shared/clock.ts'
import { onLife, type FromPrimary, type FromWorker } from './lifecycle.ts'

type RestartCause = 'crash' | 'rolling'

interface WorkerSupervisorOptions {
  readonly size: number
  readonly fork: (slot: number) => Worker
  /** `slot` is 1 to `size`: who takes another's place has its slot. */
  readonly onSpawn: (slot: number, worker: Worker) => void
  /** Once, when all of the first workers listen. */
  readonly onListening: (address: AddressInfo) => void
  /** A first worker cannot: `line` is for the person who started the gateway. */
  readonly onFailed: (line: string) => void
  readonly onRestart: (cause: RestartCause) => void
  readonly clock: SteadyClock
  readonly log: Logger
}

/** Less, and it counts as crashing over and over. */
const STEADY_MS = 10 * SECOND_MS
const BACKOFF_MS = [0, 250, 500, 1000, 2000, 5000, 10_000] as const
const START_MS_MAX = 60 * SECOND_MS
/** Longer than a worker's own limit. */
const DRAIN_MS_MAX = 35 * SECOND_MS
const LAST_WORDS_MS_MAX = SECOND_MS
const STOP_GRACE_MS = SECOND_MS
/** Nobody waits for a rolling restart: clients that come seldom may still come once more. */
const ROLL_GRACE_MS = 5 * SECOND_MS

interface Member {
  readonly slot: number
  readonly worker: Worker
  readonly startedMs: number
  state: 'starting' | 'serving' | 'leaving'
  /** Settles with whether it listens. */
  readonly settled: Promise<boolean>
  readonly settle: (isListening: boolean) => void
  readonly gone: Promise<void>
}

export function superviseWorkers(options: WorkerSupervisorOptions) {
  const { size, log, clock } = options
  const slots = Array.from({ length: size }, (_item, index) => index + 1)
  const members = new Set<Member>()
  const respawns = new Map<number, NodeJS.Timeout>()
  let hasStarted = false
  let isStopping = false
  let quickDeaths = 0
  let rolling: Promise<void> | undefined
  let isRollWanted = false

  const of = (slot: number, state: Member['state']) =>
    [...members].find((member) => member.slot === slot && member.state === state)

  function spawn(slot: number): Member {
    const worker = options.fork(slot)
    const { promise: settled, resolve: settle } = Promise.withResolvers<boolean>()
    const gone = new Promise<void>((resolve) => {
      worker.once('exit', (code, signal) => {
        left(member, code, signal)
        // Its last words, a sign-out among them, may still be on their way to us. That they are over is
        // not said where a socket was on its way to it.
        if (!worker.isConnected()) return resolve()
        const impatience = setTimeout(resolve, LAST_WORDS_MS_MAX)
        worker.once('disconnect', () => {
          clearTimeout(impatience)
          resolve()
        })
      })
    })
    const member: Member = {
      slot,
      worker,
      startedMs: clock.steadyMs(),
      state: 'starting',
      settled,
      settle,
      gone,
    }
    members.add(member)
    options.onSpawn(slot, worker)
    onLife<FromWorker>(worker, (message) => {
      if (message.type === 'listening') listens(member, message.address)
      else failed(member, message.line)
    })
    return member
  }

  function listens(member: Member, address: AddressInfo) {
    if (member.state !== 'starting') return
    member.state = 'serving'
    member.settle(true)
    if (hasStarted || slots.some((slot) => of(slot, 'serving') === undefined)) return
    hasStarted = true
    options.onListening(address)
  }

  function failed(member: Member, line: string) {
    if (!hasStarted) return options.onFailed(line)
    log.error({ reason: line }, 'a worker cannot listen')
    member.worker.process.kill('SIGKILL')
  }

  function left(member: Member, code: number | null, signal: string | null) {
    members.delete(member)
    member.settle(false)
    if (isStopping || member.state === 'leaving') return
    log.error({ worker: member.slot, code, signal }, 'a worker died')
    const isOther = of(member.slot, 'serving') ?? of(member.slot, 'starting')
    if (isOther !== undefined || respawns.has(member.slot)) return
    quickDeaths = clock.steadyMs() - member.startedMs < STEADY_MS ? quickDeaths + 1 : 0
    const delayMs = BACKOFF_MS[Math.min(Math.max(0, quickDeaths - 1), BACKOFF_MS.length - 1)]!
    const respawn = setTimeout(() => {
      respawns.delete(member.slot)
      options.onRestart('crash')
      spawn(member.slot)
    }, delayMs)
    respawns.set(member.slot, respawn)
  }

  async function drain(member: Member, graceMs: number) {
    member.state = 'leaving'
    const { worker } = member
    if (worker.isDead()) return member.gone
    const message: FromPrimary = { channel: 'life', type: 'drain', graceMs }
    worker.send(message, () => {})
    const impatience = setTimeout(() => worker.process.kill('SIGKILL'), DRAIN_MS_MAX)
    await member.gone
    clearTimeout(impatience)
  }

  async function rollAll() {
    while (isRollWanted && !isStopping) {
      isRollWanted = false
      log.info('the workers are being replaced, one after the other')
      for (const slot of slots) if (!(await replace(slot))) break
      log.info({ serving: serving() }, 'the rolling restart has ended')
    }
    rolling = undefined
  }

  /** False: the successor does not come up, and whoever serves now goes on. */
  async function replace(slot: number): Promise<boolean> {
    const old = of(slot, 'serving')
    if (isStopping || old === undefined) return !isStopping // a fresh one is on its way
    const next = spawn(slot)
    const impatience = setTimeout(() => next.worker.process.kill('SIGKILL'), START_MS_MAX)
    const isListening = await next.settled
    clearTimeout(impatience)
    if (!isListening) {
      log.error({ worker: slot }, 'the new worker does not start, the others stay')
      return false
    }
    options.onRestart('rolling')
    if (members.has(old)) await drain(old, ROLL_GRACE_MS)
    return true
  }

  const serving = () => slots.filter((slot) => of(slot, 'serving') !== undefined).length

  for (const slot of slots) spawn(slot)
  return {
    /** Slots in which a worker listens. */
    serving,
    servingIn: (slot: number) => of(slot, 'serving')?.worker,
    /** Whether all of them have been. */
    hasStarted: () => hasStarted,
    /** Replaces one worker after the other, each when its successor listens. */
    roll() {
      isRollWanted = true
      if (hasStarted && !isStopping) rolling ??= rollAll()
    },
    /** Settles when every worker has given its last answer. */
    async stop() {
      isStopping = true
      for (const respawn of respawns.values()) clearTimeout(respawn)
      await Promise.all([...members].map((member) => drain(member, STOP_GRACE_MS)))
      await rolling
    },
  }
}
