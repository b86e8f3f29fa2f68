/** Who has dialled: one line of ours, one of the connector's, and its signature is looked at. */
import { randomBytes, type KeyObject } from 'node:crypto'
import type { Duplex } from 'node:stream'
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import {
  CONNECTOR_VERSIONS,
  ConnectorHelloSchema,
  HopHelloSchema,
  isHopSignedBy,
  isSignedBy,
  type ConnectorHello,
  type Exporting,
  type GatewayHello,
  type HopHello,
} from '../../shared/connector/handshake.ts'
import { readLines } from '../../shared/connector/lines.ts'
import {
  readWord,
  type GatewayWord,
  type HandshakeRefusal,
} from '../../shared/connector/messages.ts'
import type { Turns } from './turns.ts'
import { claimOf, type Claim, type Refusal } from './refusals.ts'

/** What is asked of a TLS socket here. */
type Dialled = Duplex & Exporting & { destroySoon(): void }

const HelloSchema = v.union([ConnectorHelloSchema, HopHelloSchema])

interface AdmissionWorld {
  readonly gatewayId: string
  readonly worker: number
  readonly workers: number
  /** Undefined: no such tenant in this mode, no such connector, no such key. */
  readonly keyOf: (hello: ConnectorHello) => KeyObject | undefined
  /** Undefined: no such gateway in the fleet. */
  readonly gatewayKeyOf: (gatewayId: string) => KeyObject | undefined
  readonly onRefused: (reason: Refusal, claim?: Claim) => void
  readonly turns: Pick<Turns, 'add'>
}

/** Calls back at most once; who is not admitted is cut off. */
export function admit(
  socket: Dialled,
  world: AdmissionWorld,
  onAdmitted: (hello: ConnectorHello | HopHello) => void,
): void {
  const { gatewayId, worker, workers } = world
  const ours: GatewayHello = {
    nonce: randomBytes(32).toString('base64url'),
    versions: [...CONNECTOR_VERSIONS],
    gateway_id: gatewayId,
    worker,
    workers,
  }
  const deadline = setTimeout(() => cutOff('timeout'), LIMITS.connectorHandshakeMsMax)
  const lines = readLines(socket, {
    bytesMax: LIMITS.connectorHandshakeBytesMax,
    onLine: hear,
    onTooLong: () => cutOff('malformed'),
  })
  /** Said behind its line, while that waits for its turn. */
  const early: Buffer[] = []
  let earlyBytes = 0
  let giveUpTurn = (): void => {}
  socket.once('close', breakOff)
  socket.write(`${JSON.stringify(ours)}\n`)

  function leave(): void {
    clearTimeout(deadline)
    socket.off('close', breakOff).off('data', hearEarly)
    giveUpTurn()
  }

  function hearEarly(chunk: Buffer): void {
    early.push(chunk)
    earlyBytes += chunk.length
    const isTooMuch = earlyBytes > LIMITS.connectorHandshakeBytesMax
    if (isTooMuch || early.length > LIMITS.connectorLinePiecesMax) cutOff('malformed')
  }

  /** Who has only looked whether there is somebody is no one to speak of. */
  function breakOff(): void {
    leave()
    if (lines.stop().length > 0) world.onRefused('malformed')
  }

  function cutOff(reason: Refusal, claim?: Claim): void {
    leave()
    lines.stop()
    world.onRefused(reason, claim)
    socket.destroy()
  }

  function refuse(
    told: HandshakeRefusal,
    hello: ConnectorHello | HopHello,
    reason: Refusal = told,
  ) {
    leave()
    lines.stop()
    world.onRefused(reason, claimOf(hello))
    sayRefused(socket, told)
  }

  function hear(line: string): void {
    const hello = readWord(HelloSchema, line)
    if (hello === undefined) return cutOff('malformed')
    if (!CONNECTOR_VERSIONS.some((version) => version === hello.version))
      return refuse('version', hello)
    // Behind the same line it has spoken before it was asked.
    const left = lines.stop()
    socket.on('data', hearEarly)
    clearTimeout(deadline) // it was in time, however long we take
    giveUpTurn = world.turns.add(() => judge(hello, left))
  }

  function judge(hello: ConnectorHello | HopHello, left: Buffer): void {
    if (socket.destroyed) return // and about to be closed
    const key = isOfConnector(hello) ? world.keyOf(hello) : world.gatewayKeyOf(hello.gateway_id)
    // Who is unknown and who signs with another key are told the same.
    if (key === undefined) return refuse('unknown', hello)
    if (!isProven(hello, key)) return refuse('unknown', hello, 'signature')
    // what carries requests says nothing before it is asked, or it would pass for an answer
    const isUnasked = left.length > 0 || (hello.kind === 'data' && early.length > 0)
    if (isUnasked) return cutOff('unasked', claimOf(hello))
    leave()
    onAdmitted(hello)
    for (const chunk of early) socket.emit('data', chunk)
  }

  function isProven(hello: ConnectorHello | HopHello, key: KeyObject): boolean {
    return isOfConnector(hello)
      ? isSignedBy(ours, hello, socket, key)
      : isHopSignedBy(ours, hello, socket, key)
  }
}

export const isOfConnector = (hello: ConnectorHello | HopHello): hello is ConnectorHello =>
  hello.kind === 'control' || hello.kind === 'data'

/** The last word on it. */
export function sayRefused(socket: Dialled, reason: HandshakeRefusal): void {
  const word: GatewayWord = { say: 'refused', reason }
  socket.end(`${JSON.stringify(word)}\n`)
  socket.destroySoon()
}
