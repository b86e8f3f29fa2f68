/**
 * What agent and control plane say to each other: compact JWS under the key of the device, and
 * JSON back. The `typ` tells the kinds apart, so that one can never be used as another.
 */
import * as v from 'valibot'
import { TENANT_ID } from '../fleet/snapshot.ts'
import { LIMITS } from '../limits.ts'
import { DEVICE_PLATFORMS, KEY_STORAGES, PostureSchema } from './facts.ts'

/** `typ` of each message; all are ES256. */
export const DEVICE_MESSAGES = {
  enrol: 'dev-enroll+jwt',
  checkIn: 'dev-checkin+jwt',
  prove: 'dev-prove+jwt',
  code: 'dev-code+jwt',
  leave: 'dev-leave+jwt',
  /** From us: what a browser brings to the agent, and the agent's next version. */
  challenge: 'dev-chal+jwt',
  update: 'dev-update+jwt',
} as const

export const DEVICE_ID = /^dev_[0-9a-f]{16}$/
/** 32 random bytes, in base64url. */
export const RANDOM_32 = /^[A-Za-z0-9_-]{43}$/

const random32 = v.pipe(v.string(), v.regex(RANDOM_32))
/** What an agent makes by itself and we only compare: its spelling is its own. */
const opaque = (max: number) => v.pipe(v.string(), v.maxLength(max), v.regex(/^[\w+/=:.-]+$/))
const printable = (max: number) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(max), v.regex(/^[^\p{C}]+$/u))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** Header: `{alg, typ, jwk}`. Authorization: Bearer with the ticket. */
export const EnrolSchema = v.strictObject({
  platform: v.picklist(DEVICE_PLATFORMS),
  arch: v.pipe(v.string(), v.regex(/^[a-z0-9_]{1,20}$/)),
  hostname: printable(LIMITS.deviceHostnameCharactersMax),
  agent: v.pipe(v.string(), v.regex(/^[0-9A-Za-z.+-]{1,64}$/)),
  key_storage: v.picklist(KEY_STORAGES),
  /** SHA-256 of the machine's own id with a name of ours: shows one hardware that is enrolled twice. */
  machine_hash: opaque(128),
  /** A random number of this request: in the audit trail, one that came twice is told from two. */
  rid: v.optional(opaque(64)),
})
export type Enrol = v.InferOutput<typeof EnrolSchema>

/** Header: `{alg, typ, kid}`, the kid is the device. */
const chain = {
  /** Counts check-ins since this start of the machine's agent. */
  ctr: count,
  /** `next` of the last answer; or, where that was lost, a nonce of `/agent/v1/nonce`. */
  prev: v.pipe(v.string(), v.regex(/^[A-Za-z0-9._-]{1,200}$/)),
  /** A random number of each start of the machine. */
  boot_id: opaque(64),
}

const report = {
  ...chain,
  /** By which the agent calls these facts, and we ask for them where we have others. */
  posture_hash: opaque(128),
  /** Seconds since the facts were collected, by the machine's uptime. */
  age_s: v.optional(count, 0),
}

export const CheckInSchema = v.strictObject({ ...report, posture: v.optional(PostureSchema) })
export type CheckIn = v.InferOutput<typeof CheckInSchema>

/** A check-in that also answers a challenge: the facts come with it in any case. */
export const ProveSchema = v.strictObject({ ...report, posture: PostureSchema, cid: random32 })
export type Prove = v.InferOutput<typeof ProveSchema>

/** A check-in that asks for a code to be typed into a sign-in; the facts come with it. */
export const CodeSchema = v.strictObject({ ...report, posture: PostureSchema })
export type AskCode = v.InferOutput<typeof CodeSchema>

export const LeaveSchema = v.strictObject(chain)

export const DEVICE_STATES = ['pending', 'approved', 'revoked', 'suspect_clone'] as const
export type DeviceState = (typeof DEVICE_STATES)[number]

const jwks = v.object({ keys: v.pipe(v.array(v.record(v.string(), v.unknown())), v.maxLength(4)) })
const next = random32
const pollS = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(86_400))

export const EnrolAnswer = v.object({
  device_id: v.pipe(v.string(), v.regex(DEVICE_ID)),
  tenant_id: v.pipe(v.string(), v.regex(TENANT_ID)),
  state: v.picklist(DEVICE_STATES),
  /** Pinned: the agent sends browsers nowhere else, and `confirm` is on it. */
  origin: v.pipe(v.string(), v.url()),
  confirm: v.pipe(v.string(), v.url()),
  /** By which challenges and updates are signed; a later answer may bring others. */
  challenge_jwks: jwks,
  poll_s: pollS,
  next,
})

export const CheckInAnswer = v.object({
  state: v.picklist(DEVICE_STATES),
  next,
  poll_s: pollS,
  want_posture: v.boolean(),
  challenge_jwks: v.optional(jwks),
  /** There is a newer version; who installs it fetches and verifies it by itself. */
  update: v.optional(v.object({ version: v.string() })),
})

/** `code` goes to `confirm` with `cid`, by the browser. */
export const ProveAnswer = v.object({ next, poll_s: pollS, code: random32 })

/** `BCDF-GHJK`, for a person to type. */
export const CodeAnswer = v.object({
  next,
  poll_s: pollS,
  code: v.pipe(v.string(), v.regex(/^[A-Z]{4}-[A-Z]{4}$/)),
  expires_s: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(600)),
})

export const NonceAnswer = v.object({ nonce: v.string() })

/** Payload of a challenge. */
export const ChallengeSchema = v.strictObject({
  /** The origin that the agent has pinned. */
  iss: v.pipe(v.string(), v.url()),
  cid: random32,
  /** The tenant. */
  aud: v.pipe(v.string(), v.regex(TENANT_ID)),
})

/** Payload of an update. */
export const UpdateSchema = v.strictObject({
  version: v.pipe(v.string(), v.regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}$/)),
  /** Of `agent.mjs`, hex. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  bytes: count,
  /** By which the next ones are signed: a machine that takes this one follows a rotation. */
  keys: jwks,
})
