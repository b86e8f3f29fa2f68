/**
 * Check-ins in their order, one at a time. Each carries what the last answer gave; it is on the disk
 * before it is sent and sent again as it was, so that neither a lost answer nor an end at any moment
 * looks like a second machine with this key.
 */
import type { AskCode, CheckIn } from '../../../../shared/device/messages.ts'
import type { OpenKey } from '../key/open-key.ts'
import { KeyLost } from '../key/open-key.ts'
import { Refused, type AgentService } from '../service/agent-service.ts'
import type { Device } from '../state/device-state.ts'
import type { Told } from './posture.ts'

interface ChainWorld {
  readonly device: Device
  readonly key: OpenKey
  readonly service: Pick<AgentService, 'checkIn' | 'prove' | 'code' | 'leave' | 'nonce'>
  readonly write: (device: Device) => Promise<void>
  /** Random, of this start of the agent. */
  readonly bootId: string
  readonly told: () => Promise<Told>
  readonly nowMs: () => number
}

export type Chain = ReturnType<typeof createChain>

export function createChain(world: ChainWorld) {
  const { key, service, bootId, told, nowMs } = world
  let device = world.device
  let last: Promise<unknown> = Promise.resolve()

  /** Whoever comes second waits for the first: two at once would be taken for two machines. */
  function inTurn<Made>(work: () => Promise<Made>): Promise<Made> {
    const made = last.then(work, work)
    last = made.catch(() => undefined)
    return made
  }

  async function keep(changes: Partial<Device>): Promise<void> {
    device = { ...device, ...changes }
    await world.write(device)
  }

  /** What goes out now. On the disk first; if it cannot be written it is not sent. */
  async function nextLink(
    signal?: AbortSignal,
  ): Promise<Pick<CheckIn, 'prev' | 'ctr' | 'boot_id'>> {
    const { link } = device
    if (!link.is_sent) {
      const ctr = link.boot_id === bootId ? link.ctr : 0
      await keep({ link: { ...link, boot_id: bootId, ctr, is_sent: true } })
    }
    const { prev, ctr, boot_id: sentBy, is_lost: isLost } = device.link
    const boot_id = sentBy ?? bootId
    return { prev: isLost ? await service.nonce(device.device_id, signal) : prev, ctr, boot_id }
  }

  const signing = (signal?: AbortSignal) => ({ deviceId: device.device_id, key, signal })

  const answered = (next: string) => ({
    link: {
      prev: next,
      ctr: device.link.boot_id === bootId ? device.link.ctr + 1 : 0,
      boot_id: bootId,
      is_sent: false,
      is_lost: false,
    },
    state: 'fine' as const,
    checked_in_at: new Date(nowMs()).toISOString(),
  })

  /** Remembers how it stands, and says the same to who has asked. */
  async function failed(error: unknown): Promise<never> {
    if (error instanceof KeyLost) await keep({ state: 'key_lost' })
    if (error instanceof Refused && error.code === 'device_refused')
      await keep({ state: 'refused' })
    if (error instanceof Refused && error.code === 'device_suspect_clone')
      await keep({ state: 'suspect_clone', link: { ...device.link, is_lost: true } })
    throw error
  }

  async function checkInOnce(isWanted: boolean, signal?: AbortSignal): Promise<boolean> {
    const { posture, hash, ageS } = await told()
    const isNews = isWanted || hash !== device.posture_hash
    const payload = {
      ...(await nextLink(signal)),
      posture_hash: hash,
      age_s: ageS,
      ...(isNews && { posture }),
    }
    const answer = await service.checkIn(payload, signing(signal))
    await keep({
      ...answered(answer.next),
      poll_s: answer.poll_s,
      posture_hash: answer.want_posture ? null : hash,
      update: answer.update?.version ?? null,
      ...(answer.challenge_jwks !== undefined && { challenge_jwks: answer.challenge_jwks }),
    })
    return answer.want_posture
  }

  /** The facts go along in any case. */
  function shown<Answer extends { readonly next: string; readonly poll_s: number }>(
    show: (report: AskCode) => Promise<Answer>,
    signal?: AbortSignal,
  ): Promise<Answer> {
    return inTurn(async () => {
      try {
        const { posture, hash, ageS } = await told()
        const link = await nextLink(signal)
        const answer = await show({ ...link, posture_hash: hash, age_s: ageS, posture })
        await keep({ ...answered(answer.next), poll_s: answer.poll_s, posture_hash: hash })
        return answer
      } catch (error) {
        return failed(error)
      }
    })
  }

  return {
    device: () => device,
    checkIn: (signal?: AbortSignal): Promise<void> =>
      inTurn(async () => {
        try {
          if (await checkInOnce(false, signal)) await checkInOnce(true, signal)
        } catch (error) {
          await failed(error)
        }
      }),
    /** The one-time code. */
    prove: async (cid: string, signal?: AbortSignal): Promise<string> =>
      (await shown((report) => service.prove({ ...report, cid }, signing(signal)), signal)).code,
    /** A code for a person to type. */
    code: (signal?: AbortSignal) =>
      shown((report) => service.code(report, signing(signal)), signal),
    leave: (): Promise<void> =>
      inTurn(async () => {
        await service.leave(await nextLink(), signing())
      }),
  }
}
