/** What enrolled machines say: that they are there, how they are, whom they prove, that they go. */
import type * as v from 'valibot'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { DEVICE_FACTS, type DeviceFact, type Posture } from '../../shared/device/facts.ts'
import {
  CheckInSchema,
  CodeSchema,
  DEVICE_ID,
  DEVICE_MESSAGES,
  LeaveSchema,
  ProveSchema,
  type CheckInAnswer,
  type CodeAnswer,
  type ProveAnswer,
} from '../../shared/device/messages.ts'
import { postureHash } from '../../shared/device/posture-hash.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { VERSION } from '../../shared/version.ts'
import type { Vault } from '../keys/vault.ts'
import {
  deleteDevice,
  findDeviceRow,
  findPosture,
  rewriteChain,
  updateDevice,
  upsertPosture,
  type DeviceRow,
} from '../store/queries/enrolled-devices.ts'
import { numberOf } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import type { Change, Store } from '../store/store.ts'
import type { ChallengeKeys } from './challenge-keys.ts'
import type { CheckInRoom } from './check-in-room.ts'
import { deviceOf, stateOf, type EnrolledDevice } from './enrolled-device.ts'
import { actorOf, chainHash, makeNext, type From } from './enrolment.ts'
import { createNonces } from './nonces.ts'
import { turn } from './ratchet.ts'
import { createSharedChanges } from './shared-changes.ts'
import { readSigned } from './signed-message.ts'
import { endSessionsOn } from './sessions-on-devices.ts'

interface CheckInsWorld {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly challengeKeys: Pick<ChallengeKeys, 'jwks'>
  readonly checkInRoom: CheckInRoom
  /** What is known of a device has changed: it may fall out of the policy. */
  readonly onChanged: OnChanged
}

export type OnChanged = (change: Change, device: EnrolledDevice) => Promise<number>

interface Proven {
  readonly tenantId: string
  readonly deviceId: string
}
/** Answers the one-time code of a sign-in that waits for this proof; part of the same change. */
type Redeem = (change: Change, proof: Proven & { readonly cid: string }) => Promise<string>
/** As above, for a person to type. */
type MakeCode = (change: Change, proof: Proven) => Promise<string>

/** A proof is a check-in with two members more, and none is taken for the other without them. */
const { checkIn, prove, code, leave } = DEVICE_MESSAGES
const TYPES = {
  checkIn: [checkIn],
  prove: [prove, checkIn],
  code: [code],
  leave: [leave],
} as const

interface Message {
  readonly ctr: number
  readonly prev: string
  readonly boot_id: string
}
interface Report extends Message {
  readonly posture_hash: string
  readonly age_s: number
  readonly posture?: Posture | undefined
}
type Advanced = { readonly next: string; readonly row: DeviceRow } | Refusal

export function createCheckIns(world: CheckInsWorld) {
  const { store, clock, challengeKeys, checkInRoom, onChanged } = world
  const nonces = createNonces(world)
  const rates = createRateLimits(clock)
  const shared = createSharedChanges(store)

  /** Who is unknown, was revoked or signs with another key is told the same. */
  async function requireSigned<Schema extends v.GenericSchema>(
    jws: string,
    kind: keyof typeof TYPES,
    schema: Schema,
  ) {
    const read = readSigned(jws, TYPES[kind], schema)
    const row = read && (await findDeviceRow(store.read, read.deviceId))
    const content = row?.revokedAt === null ? read?.open(row.publicKey) : undefined
    if (row === undefined || content === undefined) throw new Refusal('device_refused')
    rates.take('of a device', row.deviceId, LIMITS.rateDeviceOwn)
    return { deviceId: row.deviceId, tenantId: row.tenantId, content }
  }

  /** Turns the ratchet. A suspicion is written down, so it is answered and not thrown. */
  async function advance(
    change: Change,
    deviceId: string,
    message: Message,
    from: From,
  ): Promise<Advanced> {
    const { queries } = change
    const row = await findLive(queries, deviceId)
    if (row === undefined) return new Refusal('device_refused')
    if (row.suspectedAt !== null) return new Refusal('device_suspect_clone')
    const { prev, boot_id: bootId, ctr } = message
    const isNonce = prev.includes('.')
    const shown = {
      prevHash: isNonce ? undefined : chainHash(prev),
      isNonceGood: isNonce && nonces.isGood(prev, deviceId, row.currentHash),
      ...{ bootId, ctr },
    }
    const { next, hash } = makeNext()
    const turned = turn(row, shown, hash)
    if (turned.kind === 'lost') return new Refusal('device_chain_lost')
    if (turned.kind === 'accepted') return { next, row: { ...row, ...turned.chain } }
    await suspect(change, row, turned.suspicion, from)
    return new Refusal('device_suspect_clone')
  }

  async function suspect(change: Change, row: DeviceRow, suspicion: string, from: From) {
    const { queries, nowMs } = change
    const { deviceId, tenantId, hostname } = row
    const suspected = { suspectedAt: nowMs, suspicion }
    await updateDevice(queries, deviceId, suspected)
    const content = { device_id: deviceId, hostname, reason: suspicion, address: from.address }
    await change.audit(actorOf(deviceId, from), { action: 'device.suspected', tenantId, content })
    const posture = await findPosture(queries, deviceId)
    await onChanged(change, deviceOf({ ...row, ...suspected }, posture))
  }

  async function record(change: Change, deviceId: string, report: Report, from: From) {
    const advanced = await advance(change, deviceId, report, from)
    if (advanced instanceof Refusal) return advanced
    const { queries, nowMs } = change
    const { posture, posture_hash: hash, age_s: ageS } = report
    const { row, next } = advanced
    const times = { seenAt: nowMs, collectedAt: Math.max(0, nowMs - ageS * SECOND_MS) }
    const said = posture && { postureHash: hash, agent: posture.agent }
    const after = { ...row, ...times, ...said }
    await rewriteChain(queries, after)
    if (posture !== undefined) await keep(change, after, posture)
    return { next, row: after }
  }

  /** The agent's word that nothing has changed is not asked where the facts themselves are here. */
  async function keep(change: Change, row: DeviceRow, posture: Posture) {
    const { queries, nowMs } = change
    const { deviceId, tenantId } = row
    const before = await findPosture(queries, deviceId)
    if (before !== undefined && postureHash(before.posture) === postureHash(posture)) return
    const kept = { posture, ...factTimes(before, posture, nowMs) }
    await upsertPosture(queries, { deviceId, tenantId, ...kept })
    await onChanged(change, deviceOf(row, kept))
  }

  async function proven(deviceId: string, report: Report, from: From, make: MakeCode) {
    const done = await store.change(async (change) => {
      const recorded = await record(change, deviceId, report, from)
      if (recorded instanceof Refusal) return recorded
      const { tenantId } = recorded.row
      return { ...recorded, code: await make(change, { tenantId, deviceId }) }
    })
    const { next, code } = accepted(done)
    return { next, poll_s: LIMITS.deviceCheckInSeconds, code }
  }

  return {
    async checkIn(jws: string, from: From): Promise<v.InferOutput<typeof CheckInAnswer>> {
      const show = () => requireSigned(jws, 'checkIn', CheckInSchema)
      return checkInRoom.enter(show, async ({ deviceId, content }) => {
        const done = await shared.enter((change) => record(change, deviceId, content, from))
        const { row, next } = accepted(done)
        return {
          state: stateOf(row),
          next,
          poll_s: LIMITS.deviceCheckInSeconds,
          want_posture: row.postureHash !== content.posture_hash,
          challenge_jwks: await challengeKeys.jwks(),
          ...(isOlder(row.agent) && { update: { version: VERSION } }),
        }
      })
    },

    /** As a check-in; a person waits, so it waits for no room. */
    async prove(
      jws: string,
      from: From,
      redeem: Redeem,
    ): Promise<v.InferOutput<typeof ProveAnswer>> {
      const { deviceId, content } = await requireSigned(jws, 'prove', ProveSchema)
      return proven(deviceId, content, from, (change, proof) =>
        redeem(change, { ...proof, cid: content.cid }),
      )
    },

    async code(jws: string, from: From, make: MakeCode): Promise<v.InferOutput<typeof CodeAnswer>> {
      const { deviceId, content } = await requireSigned(jws, 'code', CodeSchema)
      const answer = await proven(deviceId, content, from, make)
      return { ...answer, expires_s: LIMITS.deviceTypedCodeSeconds }
    },

    /** Whether there is such a device has no part in it. */
    async nonce(deviceId: string): Promise<string> {
      const row = DEVICE_ID.test(deviceId) ? await findDeviceRow(store.read, deviceId) : undefined
      return nonces.make(deviceId, row?.currentHash ?? '')
    },

    async leave(jws: string, from: From): Promise<void> {
      const { deviceId, content } = await requireSigned(jws, 'leave', LeaveSchema)
      const done = await store.change(async (change) => {
        const advanced = await advance(change, deviceId, content, from)
        if (advanced instanceof Refusal) return advanced
        const { tenantId, hostname } = advanced.row
        await endSessionsOn(change, tenantId, [deviceId], 'device_left')
        await deleteDevice(change.queries, tenantId, deviceId)
        const actor = actorOf(deviceId, from)
        const about = { device_id: deviceId, hostname }
        await change.audit(actor, { action: 'device.left', tenantId, content: about })
        return advanced
      })
      accepted(done)
    },
  }
}

/** Of a tenant that is there still, and not revoked. */
async function findLive(queries: Queries, deviceId: string): Promise<DeviceRow | undefined> {
  const row = await findDeviceRow(queries, deviceId)
  if (row === undefined || row.revokedAt !== null) return undefined
  return (await numberOf(queries, row.tenantId)) === undefined ? undefined : row
}

function accepted<Done extends object>(done: Done | Refusal): Done {
  if (done instanceof Refusal) throw done
  return done
}

/** Since when each is what it is, and since when those that are not true are not. */
function factTimes(
  before:
    | (Pick<EnrolledDevice, 'factsSince' | 'unmetSince'> & { readonly posture: Posture })
    | undefined,
  { facts }: Posture,
  nowMs: number,
): Pick<EnrolledDevice, 'factsSince' | 'unmetSince'> {
  const wasOf = (fact: DeviceFact) => before?.posture.facts[fact].value
  const heldSince = (fact: DeviceFact) => before?.factsSince[fact] ?? nowMs
  const sinceOf = (fact: DeviceFact) =>
    wasOf(fact) === facts[fact].value ? heldSince(fact) : nowMs
  const unmetOf = (fact: DeviceFact) => {
    const wasMet = before === undefined || wasOf(fact) === true
    return wasMet ? nowMs : (before.unmetSince[fact] ?? heldSince(fact))
  }
  const unmet = DEVICE_FACTS.filter((fact) => facts[fact].value !== true)
  return {
    factsSince: Object.fromEntries(DEVICE_FACTS.map((fact) => [fact, sinceOf(fact)])),
    unmetSince: Object.fromEntries(unmet.map((fact) => [fact, unmetOf(fact)])),
  }
}

function isOlder(version: string): boolean {
  const [own, latest] = [version, VERSION].map((text) => text.split('.').map(Number))
  const at = latest?.findIndex((number, place) => number !== own?.[place]) ?? -1
  return at !== -1 && (own?.[at] ?? 0) < (latest?.[at] ?? 0)
}
