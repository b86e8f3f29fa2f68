/** What gateway and connector say on a control connection: JSON, one message a line. */
import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000))
const checkId = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** In one word, which is one line. */
export const HOPS_TOLD_MAX = 1000
/** For people; never a reason to decide anything. */
const remark = v.pipe(v.string(), v.maxLength(500))

/** Gateway → connector. What a later version says besides is passed over. */
export const GatewayWordSchema = v.variant('say', [
  /** Who is who has been seen: this connection counts. */
  v.object({ say: v.literal('welcome') }),
  /** So many connections are to wait at this worker; for so many a request waits already. */
  v.object({ say: v.literal('wanted'), spare: count, asked: v.optional(count) }),
  v.object({ say: v.literal('ping') }),
  /** This worker goes: come again, and find another. Requests that are under way come to their end. */
  v.object({ say: v.literal('drain') }),
  /** The answer to `check`: what the way to the application looked like from here. */
  v.object({
    say: v.literal('checked'),
    id: checkId,
    is_reached: v.boolean(),
    reason: v.optional(remark),
  }),
  /** It ends with this, and why. */
  v.object({
    say: v.literal('refused'),
    reason: v.picklist(['unknown', 'revoked', 'version', 'many']),
  }),
])
export type GatewayWord = v.InferOutput<typeof GatewayWordSchema>
export type HandshakeRefusal = Extract<GatewayWord, { say: 'refused' }>['reason']

/** Connector → gateway. */
export const ConnectorWordSchema = v.variant('say', [
  v.object({ say: v.literal('pong') }),
  /** No new requests for this connector. */
  v.object({ say: v.literal('drain') }),
  /** Whether the application could be reached when it was last tried. */
  v.object({ say: v.literal('application'), is_reached: v.boolean(), reason: v.optional(remark) }),
  v.object({ say: v.literal('check'), id: checkId }),
])
export type ConnectorWord = v.InferOutput<typeof ConnectorWordSchema>

/** What the edge writes on a data connection, once; then the bytes are the application's. */
export const OPEN = 'OPEN\n'
export const OK = 'OK\n'

/** Why a connector could not reach its application. */
const OPEN_FAILURES = ['refused', 'timeout', 'unresolved', 'unreachable', 'tls'] as const
export type OpenFailure = (typeof OPEN_FAILURES)[number]
export const notOpened = (reason: OpenFailure): string => `NO ${reason}\n`

/** Undefined for what is none of our words. */
export function readOpenAnswer(line: string): 'opened' | OpenFailure | undefined {
  if (line === 'OK') return 'opened'
  return OPEN_FAILURES.find((reason) => line === `NO ${reason}`)
}

/** Gateway → gateway that came for its connectors; `pong` is what comes back. */
export const HopWordSchema = v.variant('say', [
  v.object({ say: v.literal('welcome') }),
  v.object({ say: v.literal('ping') }),
  /** No further request on this one: it ends when it is free. */
  v.object({ say: v.literal('retire'), hop: checkId }),
  /** This worker goes: no further request on any. */
  v.object({ say: v.literal('drain') }),
])
export type HopWord = v.InferOutput<typeof HopWordSchema>

/** What a gateway says of the connections that it has there. */
export const HopGuestWordSchema = v.variant('say', [
  v.object({ say: v.literal('pong') }),
  /** Of each the requests that it has answered since it was opened, also of one that has ended since. */
  v.object({
    say: v.literal('served'),
    hops: v.pipe(v.array(v.tuple([checkId, checkId])), v.maxLength(HOPS_TOLD_MAX)),
  }),
])
export type HopGuestWord = v.InferOutput<typeof HopGuestWordSchema>

/** `absent`: no connector of the tenant is there; `busy`: too many wait for one. */
export type HopFailure = OpenFailure | 'absent' | 'busy'
export const notHopped = (reason: HopFailure): string => `NO ${reason}\n`

/** Undefined for what is none of our words. */
export function readHopAnswer(line: string): 'opened' | HopFailure | undefined {
  if (line === 'NO absent') return 'absent'
  return line === 'NO busy' ? 'busy' : readOpenAnswer(line)
}

/** Undefined for a line that is no message of these; never throws. */
export function readWord<Schema extends v.GenericSchema>(
  schema: Schema,
  line: string,
): v.InferOutput<Schema> | undefined {
  try {
    const read = v.safeParse(schema, JSON.parse(line))
    return read.success ? read.output : undefined
  } catch {
    return undefined
  }
}
