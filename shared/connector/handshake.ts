/**
 * How a connector says who it is: a line of the gateway's, a line of its own, and a signature over
 * both ends of this one TLS connection. What is signed is good nowhere else and never again, and no
 * clock has a part in it.
 */
import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import * as v from 'valibot'
import { TENANT_ID } from '../fleet/snapshot.ts'

/** Told apart from browsers on the same port by ALPN. */
export const CONNECTOR_ALPN = 'service-connector/1'
/** Newest first. */
export const CONNECTOR_VERSIONS = [1] as const

/** The newest that both ends speak; undefined: none. */
export const commonVersion = (
  theirs: readonly number[],
  ours: readonly number[] = CONNECTOR_VERSIONS,
): number | undefined => ours.find((version) => theirs.includes(version))

/**
 * What a connection is dialled for, as its ClientHello says: `asked` while a request waits for it, `spare`
 * for one ahead of demand. It decides whose turn is first, and nothing else.
 */
const DIAL_USES = ['asked', 'spare'] as const
export type DialUse = (typeof DIAL_USES)[number]

export interface DialledFor {
  /** Which of the gateway's workers is wanted; undefined: any. */
  readonly worker: number | undefined
  readonly use: DialUse | undefined
}

/** The names that a dialled connection says. All but the first are never chosen. */
export const alpnFor = ({ worker, use }: DialledFor): string[] => [
  CONNECTOR_ALPN,
  ...(worker === undefined ? [] : [`${CONNECTOR_ALPN}/worker-${worker}`]),
  ...(use === undefined ? [] : [`${CONNECTOR_ALPN}/${use}`]),
]

/** Undefined for whoever is no connector. */
export function dialledFor(names: readonly string[]): DialledFor | undefined {
  if (!names.includes(CONNECTOR_ALPN)) return undefined
  return {
    worker: names.map(workerOf).find((worker) => worker !== undefined),
    use: DIAL_USES.find((use) => names.includes(`${CONNECTOR_ALPN}/${use}`)),
  }
}

function workerOf(name: string): number | undefined {
  const match = /^service-connector\/1\/worker-([1-9]\d{0,2})$/.exec(name)
  return match === null ? undefined : Number(match[1])
}

const EXPORTER_LABEL = 'EXPORTER-service-connector'
const EXPORTER_BYTES = 32
const SIGNED_LABEL = 'service-connector handshake 1'
const HOP_SIGNED_LABEL = 'service-gateway hop 1'

const worker = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(256))
const name = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,100}$/))
/** 32 bytes. */
const nonce = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/))
const signature = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{86}$/))

export const GatewayHelloSchema = v.object({
  nonce,
  versions: v.pipe(v.array(v.number()), v.minLength(1), v.maxLength(10)),
  gateway_id: name,
  /** Who has answered, of how many. Each of them is to have connections of its own. */
  worker,
  workers: worker,
})
export type GatewayHello = v.InferOutput<typeof GatewayHelloSchema>

const CONNECTION_KINDS = ['control', 'data'] as const
export type ConnectionKind = (typeof CONNECTION_KINDS)[number]

export const ConnectorHelloSchema = v.object({
  tenant_id: v.pipe(v.string(), v.regex(TENANT_ID)),
  connector_id: name,
  key_id: name,
  kind: v.picklist(CONNECTION_KINDS),
  version: v.number(),
  /** Of the program, for people. */
  program: v.pipe(v.string(), v.regex(/^[\w.+-]{1,50}$/)),
  signature,
})
export type ConnectorHello = v.InferOutput<typeof ConnectorHelloSchema>

/** What a worker of another gateway says, which has no connector of a tenant and comes for one here. */
const hopEntries = {
  gateway_id: name,
  /** Names its control connection, and which connections belong to that. */
  link: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{22}$/)),
  version: v.number(),
  signature,
}
export const HopHelloSchema = v.variant('kind', [
  v.object({ kind: v.literal('hop_control'), ...hopEntries }),
  v.object({
    kind: v.literal('hop'),
    tenant_id: v.pipe(v.string(), v.regex(TENANT_ID)),
    /** Its number on the link. */
    hop: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    ...hopEntries,
  }),
])
export type HopHello = v.InferOutput<typeof HopHelloSchema>
type Unsigned<Hello> = Hello extends unknown ? Omit<Hello, 'signature'> : never
export type UnsignedHop = Unsigned<HopHello>

/** What a TLS socket has of it. */
export interface Exporting {
  exportKeyingMaterial(length: number, label: string, context?: Buffer): Buffer
}

/** Fields cannot run into each other: none of them holds a line feed. */
function bytesOf(fields: readonly (string | number)[], connection: Exporting): Buffer {
  const exported = connection.exportKeyingMaterial(EXPORTER_BYTES, EXPORTER_LABEL, Buffer.alloc(0))
  return Buffer.concat([Buffer.from(`${fields.join('\n')}\n`), exported])
}

function signedBytes(
  hello: GatewayHello,
  answer: Omit<ConnectorHello, 'signature'>,
  connection: Exporting,
): Buffer {
  const { tenant_id, connector_id, key_id, kind, version, program } = answer
  const fields = [SIGNED_LABEL, hello.nonce, hello.gateway_id, hello.worker, tenant_id]
  return bytesOf([...fields, connector_id, key_id, kind, version, program], connection)
}

function hopBytes(hello: GatewayHello, hop: UnsignedHop, connection: Exporting): Buffer {
  const { gateway_id, link, kind, version } = hop
  const fields = [HOP_SIGNED_LABEL, hello.nonce, hello.gateway_id, hello.worker, gateway_id, link]
  const what = hop.kind === 'hop' ? [hop.tenant_id, hop.hop] : []
  return bytesOf([...fields, kind, version, ...what], connection)
}

export function signHello(
  hello: GatewayHello,
  answer: Omit<ConnectorHello, 'signature'>,
  connection: Exporting,
  key: KeyObject,
): ConnectorHello {
  const signed = sign(null, signedBytes(hello, answer, connection), key)
  return { ...answer, signature: signed.toString('base64url') }
}

export function isSignedBy(
  hello: GatewayHello,
  { signature: given, ...answer }: ConnectorHello,
  connection: Exporting,
  key: KeyObject,
): boolean {
  return verify(null, signedBytes(hello, answer, connection), key, Buffer.from(given, 'base64url'))
}

export function signHop(
  hello: GatewayHello,
  hop: UnsignedHop,
  connection: Exporting,
  key: KeyObject,
): HopHello {
  const signature = sign(null, hopBytes(hello, hop, connection), key).toString('base64url')
  return { ...hop, signature }
}

export function isHopSignedBy(
  hello: GatewayHello,
  { signature: given, ...hop }: HopHello,
  connection: Exporting,
  key: KeyObject,
): boolean {
  return verify(null, hopBytes(hello, hop, connection), key, Buffer.from(given, 'base64url'))
}

/** Throws for what is no public key of Ed25519: 32 bytes in base64url. */
export function importConnectorKey(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}
