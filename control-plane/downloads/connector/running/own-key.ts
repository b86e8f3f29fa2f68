/**
 * The key that this connector is known by, and the one that takes its place in time. Each step is on
 * the disk before the next one is taken, so that a lost answer or an end in between leaves a key
 * that counts (.docs/decisions/0047-how-a-connector-runs.md).
 */
import { LIMITS } from '../../../../shared/limits.ts'
import { Problem } from '../../command-line/exit.ts'
import type { Service, StateAnswer } from '../service/service.ts'
import { makeKey, publicKeyOf } from '../state/own-keys.ts'
import type { IdentifiedKey, Joined } from '../state/state-folder.ts'
import type { Log } from '../../resident/log.ts'
import type { Identity } from './identity.ts'

const DAY_MS = 24 * 3600 * 1000

interface OwnKeyWorld {
  readonly identity: Pick<Identity, 'current' | 'write'>
  readonly service: Pick<Service, 'state'>
  readonly log: Log
  readonly nowMs: () => number
  readonly tunnels: {
    moveTo(key: IdentifiedKey): void
    isOnlyOn(keyId: string): boolean
  }
}

export function createOwnKey(world: OwnKeyWorld) {
  const { identity, service, log, nowMs, tunnels } = world
  let isWished = false
  let isFailureTold = false

  const nextWithId = (): IdentifiedKey | undefined => {
    const { next_key: next } = identity.current()
    return next?.key_id === undefined ? undefined : { ...next, key_id: next.key_id }
  }

  /** A clock that was set wrong makes it sooner, and never too late. */
  const isDue = () =>
    isWished ||
    Math.abs(nowMs() - Date.parse(identity.current().key.made_at)) >
      LIMITS.connectorKeyDays * DAY_MS

  /** What cannot be written down has not happened: it is tried again with the next question. */
  async function write(changed: Joined): Promise<boolean> {
    try {
      await identity.write(changed)
      isFailureTold = false
      return true
    } catch (error) {
      const { message } = error as Error
      if (!isFailureTold)
        log.warn({ error: message }, 'the key is not replaced, because it cannot be kept')
      isFailureTold = true
      return false
    }
  }

  async function beginMove(keyId: string): Promise<void> {
    const joined = identity.current()
    const { next_key: next } = joined
    if (next === undefined) return
    const known = { ...next, key_id: keyId }
    if (next.key_id !== keyId) {
      if (!(await write({ ...joined, next_key: known }))) return
      log.info({ key_id: keyId }, 'the key is being replaced')
    }
    tunnels.moveTo(known)
  }

  async function adopt(key: IdentifiedKey): Promise<void> {
    const { next_key: _next, ...others } = identity.current()
    if (!(await write({ ...others, key }))) return
    isWished = false
    log.info({ key_id: key.key_id }, 'the key has been replaced')
  }

  return {
    /** With the next question, whatever its age. */
    wish(): void {
      isWished = true
    },

    /** After a start in the middle of it: which of the two counts only gateways can tell. */
    resume(): void {
      const next = nextWithId()
      if (next !== undefined) tunnels.moveTo(next)
    },

    /** The control plane is asked, by the key that counts, and told of the next one. */
    async ask(signal: AbortSignal, authority?: string): Promise<StateAnswer> {
      const { connector_id: connectorId } = identity.current()
      const options = { authority, signal }
      const moved = nextWithId()
      if (moved !== undefined && tunnels.isOnlyOn(moved.key_id)) {
        const answer = await service.state({ connectorId, key: moved }, options)
        await adopt(moved)
        return answer
      }
      const before = identity.current()
      if (before.next_key === undefined && isDue())
        await write({ ...before, next_key: makeKey(nowMs()) })
      const { key, next_key: next } = identity.current()
      const nextPublicKey = next === undefined ? undefined : publicKeyOf(next)
      try {
        const answer = await service.state({ connectorId, key }, { nextPublicKey, ...options })
        if (answer.key_id !== undefined) await beginMove(answer.key_id)
        return answer
      } catch (error) {
        if (!isRefused(error) || moved === undefined) throw error
        // The last step was taken, and could not be written down.
        const answer = await service.state({ connectorId, key: moved }, options)
        tunnels.moveTo(moved)
        await adopt(moved)
        return answer
      }
    },
  }
}

export const isRefused = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'connector_refused'
