/**
 * One compact JWS of an agent, read strictly: ES256 and nothing else, the kind that was asked for,
 * and no header beside those that it needs; so neither `crit` nor a key by address comes to be looked at.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import * as v from 'valibot'
import { DEVICE_ID, type DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { Refusal } from '../../shared/errors.ts'

type Kind = Exclude<keyof typeof DEVICE_MESSAGES, 'challenge' | 'update'>
type Typ = (typeof DEVICE_MESSAGES)[Kind]

const SIGNATURE_BYTES = 64
const coordinate = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/))
const kidHeader = (types: readonly Typ[]) =>
  v.strictObject({
    alg: v.literal('ES256'),
    typ: v.picklist(types),
    kid: v.pipe(v.string(), v.regex(DEVICE_ID)),
  })
/** Made once for each kind of message: with each one it costs as much as to read it. */
const kidHeaders = new WeakMap<readonly Typ[], ReturnType<typeof kidHeader>>()
const jwkHeader = (typ: Typ) =>
  v.strictObject({
    alg: v.literal('ES256'),
    typ: v.literal(typ),
    jwk: v.strictObject({
      kty: v.literal('EC'),
      crv: v.literal('P-256'),
      x: coordinate,
      y: coordinate,
    }),
  })

interface Signed {
  readonly header: unknown
  readonly payload: Buffer
  readonly signed: Buffer
  readonly signature: Buffer
}

/** Each part in its one spelling. */
function split(jws: string): Signed | undefined {
  const parts = jws.split('.')
  const [header, payload, signature] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (parts.length !== 3 || !header || !payload || !signature) return undefined
  const spelled = [header, payload, signature].map((bytes) => bytes.toString('base64url'))
  if (spelled.join('.') !== jws || signature.length !== SIGNATURE_BYTES) return undefined
  const signed = Buffer.from(jws.slice(0, jws.lastIndexOf('.')))
  return { header: jsonOf(header), payload, signed, signature }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

const isSigned = ({ signed, signature }: Signed, key: KeyObject): boolean =>
  verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)

const publicKeyText = ({ x, y }: { x: string; y: string }) => `${x}.${y}`

function keyOf(text: string): KeyObject | undefined {
  const [x = '', y = ''] = text.split('.')
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  } catch {
    return undefined // no point of the curve
  }
}

/** Says itself by which key it is signed; that is right once in the life of a device. */
export function readSelfSigned<Schema extends v.GenericSchema>(
  jws: string,
  typ: Typ,
  schema: Schema,
): { readonly publicKey: string; readonly content: v.InferOutput<Schema> } | undefined {
  const message = split(jws)
  const header = message && v.safeParse(jwkHeader(typ), message.header)
  if (header?.success !== true) return undefined
  const publicKey = publicKeyText(header.output.jwk)
  const key = keyOf(publicKey)
  if (key === undefined || !isSigned(message!, key)) return undefined
  return { publicKey, content: contentOf(message!, schema) }
}

/** Of whom it says it is; whether that is so, `open` tells with that device's key. */
export function readSigned<Schema extends v.GenericSchema>(
  jws: string,
  types: readonly Typ[],
  schema: Schema,
) {
  const message = split(jws)
  const allowed = kidHeaders.getOrInsertComputed(types, kidHeader)
  const header = message && v.safeParse(allowed, message.header)
  if (header?.success !== true) return undefined
  return {
    deviceId: header.output.kid,
    /** undefined: it is signed by another key. */
    open(publicKey: string): v.InferOutput<Schema> | undefined {
      const key = keyOf(publicKey)
      return key !== undefined && isSigned(message!, key) ? contentOf(message!, schema) : undefined
    },
  }
}

/** Who signs is known by now, and told which field is wrong; never what it held. */
function contentOf<Schema extends v.GenericSchema>(
  { payload }: Signed,
  schema: Schema,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, jsonOf(payload), { abortEarly: true })
  if (result.success) return result.output
  const [first] = (result.issues[0].path ?? []) as readonly { readonly key?: unknown }[]
  const ours = 'entries' in schema ? Object.keys(schema.entries as object) : []
  const field = ours.find((name) => name === first?.key) ?? 'payload'
  throw new Refusal('field_invalid', { field })
}
