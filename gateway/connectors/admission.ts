/** Who has dialled: one line of ours, one of the connector's, and its signature is looked at. */
import { randomBytes, type KeyObject } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import {
  CONNECTOR_VERSIONS,
  ConnectorHelloSchema,
  HopHelloSchema,
  isHopSignedBy,
  isSignedBy,
  type ConnectorHello,
  type GatewayHello,
  type HopHello,
} from '../../shared/connector/handshake.ts'
import { readLines } from '../../shared/connector/lines.ts'
import {
  readWord,
  type GatewayWord,
  type HandshakeRefusal,
} from '../../shared/connector/messages.ts'

const HelloSchema = v.union([ConnectorHelloSchema, HopHelloSchema])

export interface Admitted {
  readonly hello: ConnectorHello | HopHello
  /** What came behind its line. */
  readonly left: Buffer
}

export interface AdmissionWorld {
  readonly gatewayId: string
  readonly worker: number
  readonly workers: number
  /** Undefined: no such tenant in this mode, no such connector, no such key. */
  readonly keyOf: (hello: ConnectorHello) => KeyObject | undefined
  /** Undefined: no such gateway in the fleet. */
  readonly gatewayKeyOf: (gatewayId: string) => KeyObject | undefined
  readonly onRefused: (
    reason: HandshakeRefusal | 'malformed' | 'timeout',
    peerAddress: string,
  ) => void
}

/** Calls back at most once; who is not admitted is cut off. */
export function admit(
  socket: TLSSocket,
  world: AdmissionWorld,
  onAdmitted: (admitted: Admitted) => void,
): void {
  const { gatewayId, worker, workers } = world
  const ours: GatewayHello = {
    nonce: randomBytes(32).toString('base64url'),
    versions: [...CONNECTOR_VERSIONS],
    gateway_id: gatewayId,
    worker,
    workers,
  }
  const deadline = setTimeout(() => refuse('timeout'), LIMITS.connectorHandshakeMsMax)
  const lines = readLines(socket, {
    bytesMax: LIMITS.connectorHandshakeBytesMax,
    onLine: hear,
    onTooLong: () => refuse('malformed'),
  })
  socket.once('close', leave)
  socket.write(`${JSON.stringify(ours)}\n`)

  function leave(): void {
    clearTimeout(deadline)
    socket.off('close', leave)
  }

  function refuse(reason: HandshakeRefusal | 'malformed' | 'timeout'): void {
    leave()
    lines.stop()
    world.onRefused(reason, socket.remoteAddress ?? '')
    if (reason === 'malformed' || reason === 'timeout') return void socket.destroy()
    sayRefused(socket, reason)
  }

  function hear(line: string): void {
    const hello = readWord(HelloSchema, line)
    if (hello === undefined) return refuse('malformed')
    if (!CONNECTOR_VERSIONS.some((version) => version === hello.version)) return refuse('version')
    // Who is unknown and who signs with another key are told the same.
    if (!isProven(hello)) return refuse('unknown')
    leave()
    onAdmitted({ hello, left: lines.stop() })
  }

  function isProven(hello: ConnectorHello | HopHello): boolean {
    if (isOfConnector(hello)) {
      const key = world.keyOf(hello)
      return key !== undefined && isSignedBy(ours, hello, socket, key)
    }
    const key = world.gatewayKeyOf(hello.gateway_id)
    return key !== undefined && isHopSignedBy(ours, hello, socket, key)
  }
}

export const isOfConnector = (hello: ConnectorHello | HopHello): hello is ConnectorHello =>
  hello.kind === 'control' || hello.kind === 'data'

/** The last word on it. */
export function sayRefused(socket: TLSSocket, reason: HandshakeRefusal): void {
  const word: GatewayWord = { say: 'refused', reason }
  socket.end(`${JSON.stringify(word)}\n`)
  socket.destroySoon()
}
