/**
 * When the agent checks in: hourly, less a random part; sooner once facts have changed; later where
 * the service has asked for it. No clock of the day is looked at.
 */
import type { Log } from '../../resident/log.ts'
import { createSleeper } from '../../resident/sleeper.ts'
import { Refused } from '../service/agent-service.ts'
import type { DeviceState } from '../state/device-state.ts'
import type { Chain } from './chain.ts'

/** Between two tries while the service cannot be reached. It never gives up. */
const BACKOFF_MS = { least: 5000, most: 15 * 60_000 } as const
/** A device that is refused asks whether that is still so. */
const REFUSED_MS = 24 * 3600 * 1000
/** Nobody is made to wait longer than this by an answer. */
const AGAIN_MS_MAX = 24 * 3600 * 1000
/** After a start, at random: a whole office comes in at nine. */
const START_MS_MAX = 30_000
/** How much of a pause is left to chance. */
const SPLAY = 0.1
const SPLAY_WHEN_ASKED = 0.25

interface Pause {
  readonly ms: number
  /** By the service, which has no room before. */
  readonly isAskedFor?: boolean
}

interface CheckInsWorld {
  readonly chain: Pick<Chain, 'checkIn' | 'device'>
  /** Of the facts, as they are now. */
  readonly hashNow: () => Promise<string>
  readonly log: Log
  readonly random: () => number
  /** How often facts are collected, and so looked at. */
  readonly collectMs: number
}

export function createCheckIns({ chain, hashNow, log, random, collectMs }: CheckInsWorld) {
  const stopped = new AbortController()
  const sleeper = createSleeper(stopped.signal)
  let failures = 0
  /** Said once, not every hour. */
  let told: DeviceState | 'unreachable' = 'fine'

  async function once(): Promise<Pause> {
    try {
      await chain.checkIn(stopped.signal)
      failures = 0
      if (told !== 'fine') log.info({}, 'checked in again')
      told = 'fine'
      return { ms: pollMs(chain.device().poll_s, random) }
    } catch (error) {
      if (error instanceof Refused && error.retryAfterS !== undefined)
        return { ms: laterMs(error.retryAfterS, random), isAskedFor: true }
      return { ms: pauseMs(error) }
    }
  }

  function pauseMs(error: unknown): number {
    const { state, poll_s: pollS } = chain.device()
    const isRefused = error instanceof Refused && error.code === 'device_refused'
    const isSuspect = error instanceof Refused && error.code === 'device_suspect_clone'
    if (isRefused || isSuspect || state === 'key_lost') {
      say(state)
      return isSuspect ? pollMs(pollS, random) : REFUSED_MS
    }
    failures++
    if (told !== 'unreachable' && !stopped.signal.aborted)
      log.warn({ error: String(error) }, 'the service cannot be reached; it is tried again')
    told = 'unreachable'
    return backoffMs(failures, random)
  }

  function say(state: DeviceState): void {
    if (told !== state) log.warn({ state }, SAID[state])
    told = state
  }

  /** Until then, or until the facts are others than the service knows: a crowd has those, too. */
  async function wait({ ms, isAskedFor = false }: Pause): Promise<void> {
    if (isAskedFor) return sleeper.sleep(ms)
    for (let left = ms; left > 0 && !stopped.signal.aborted; left -= collectMs) {
      await sleeper.sleep(Math.min(left, collectMs))
      const { state, posture_hash: known } = chain.device()
      const isHeard = state === 'fine' && failures === 0 && known !== null
      if (isHeard && (await hashNow()) !== known) return
    }
  }

  return {
    /** Settles when it is stopped. */
    async run(): Promise<void> {
      const isNew = chain.device().checked_in_at === null
      await sleeper.sleep(isNew ? 0 : Math.round(random() * START_MS_MAX))
      while (!stopped.signal.aborted) await wait(await once())
    },
    stop: () => stopped.abort(),
  }
}

const SAID: Readonly<Record<DeviceState, string>> = {
  fine: 'checked in',
  refused: 'this device was removed or revoked: enroll it again with a new ticket',
  suspect_clone: 'the service takes this device for a copy: an administrator can clear that',
  key_lost: 'the TPM has lost the key of this device: enroll it again with a new ticket',
}

export const pollMs = (pollS: number, random: () => number): number =>
  Math.round(pollS * 1000 * (1 - SPLAY * random()))

/** Never sooner than was asked for, and not all in the same second. */
export const laterMs = (afterS: number, random: () => number): number =>
  Math.min(AGAIN_MS_MAX, Math.round(Math.max(1, afterS) * 1000 * (1 + SPLAY_WHEN_ASKED * random())))

export function backoffMs(failures: number, random: () => number): number {
  const ceiling = Math.min(BACKOFF_MS.most, BACKOFF_MS.least * 2 ** Math.min(failures, 20))
  return Math.max(1000, Math.round(random() * ceiling))
}
