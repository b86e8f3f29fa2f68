/**
 * What a gateway says, from its first word to the end of the connection. Nothing that comes in
 * here can do more harm than close this one connection.
 */
import type { Logger } from 'pino'
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../shared/clock.ts'
import { featuresIn, type Feature } from '../../shared/fleet/features.ts'
import { parseFleetMessage } from '../../shared/fleet/parse.ts'
import {
  FLEET_FORMAT,
  UpMessageSchema,
  type GatewayDoor,
  type UpMessage,
} from '../../shared/fleet/snapshot.ts'
import type { FleetTiming } from './fleet-timing.ts'
import type { GatewayLink } from './gateway-link.ts'
import { write } from './outgoing.ts'

export interface Hello {
  readonly socket: WebSocket
  readonly log: Logger
  readonly id: string
  readonly version: string
  readonly epoch: string
  readonly revision: number
  /** It compares versions, and asks for the tenants that it needs. */
  readonly byNeed: boolean
  readonly features: ReadonlySet<Feature>
  readonly connect: GatewayDoor | undefined
}

interface ConnectionOptions {
  readonly socket: WebSocket
  readonly log: Logger
  readonly clock: Clock
  readonly timing: Pick<FleetTiming, 'helloMsMax' | 'heartbeatMs' | 'silenceMsMax'>
  /** Why it may not be the gateway that it says; undefined: it is. */
  readonly refusalOf: (gatewayId: string) => Promise<string | undefined>
  /** null: the gateway has gone while we were getting ready. */
  readonly welcome: (hello: Hello) => Promise<GatewayLink | null>
  readonly onSeen: (gatewayId: string) => void
  readonly onMessage: (gatewayId: string, link: GatewayLink, message: UpMessage) => Promise<void>
}

export function serveConnection(options: ConnectionOptions): void {
  const { socket, clock, timing, refusalOf, welcome, onSeen, onMessage } = options
  let log = options.log
  let gatewayId: string | null = null
  let link: GatewayLink | null = null
  let isAlive = true

  const helloTimer = setTimeout(() => {
    log.warn('a gateway connected and did not say hello')
    socket.close(4002, 'no hello')
  }, timing.helloMsMax)

  const silenceTimer = setInterval(() => {
    if (!isAlive) {
      log.warn('nothing heard from the gateway, closing')
      socket.terminate()
    }
    isAlive = false
  }, timing.silenceMsMax)
  /** Says what time it is: the gateway's clock may be wrong (gateway/fleet/told-time.ts). */
  const ping = () => socket.ping(String(clock.nowMs()))
  const heartbeatTimer = setInterval(ping, timing.heartbeatMs)

  function seen() {
    isAlive = true
    if (gatewayId !== null && link !== null) onSeen(gatewayId)
  }

  async function hear(raw: RawData, isBinary: boolean) {
    const parsed = isBinary
      ? ({ kind: 'not_json' } as const)
      : parseFleetMessage(UpMessageSchema, textOf(raw))
    if (parsed.kind === 'not_json') {
      log.warn('the gateway sent something that is not JSON, closing')
      return socket.close(1007, 'not JSON')
    }
    if (parsed.kind === 'unknown')
      return log.warn({ type: parsed.type }, 'a message of a type that is not known, left out')
    if (parsed.kind === 'malformed') {
      log.warn({ type: parsed.type.slice(0, 50), reason: parsed.reason }, 'a malformed message')
      if (gatewayId === null) refuse(parsed.reason)
      return
    }
    const { message } = parsed
    log.debug({ type: message.type }, 'heard from the gateway')
    if (message.type === 'hello') return greet(message)
    if (gatewayId !== null && link !== null) await onMessage(gatewayId, link, message)
  }

  async function greet(hello: UpMessage & { type: 'hello' }) {
    if (gatewayId !== null) return socket.close(1002, 'a second hello')
    clearTimeout(helloTimer)
    if (hello.format !== FLEET_FORMAT)
      return refuse(`format ${hello.format} is not spoken here, only ${FLEET_FORMAT}`)
    const { id, version, epoch, revision, by_need: byNeed = false, connect } = hello
    const features = featuresIn(hello.features ?? [])
    gatewayId = id
    const refusal = await refusalOf(id)
    if (refusal !== undefined) return refuse(refusal)
    log = log.child({ gateway_id: id, version })
    log.info({ epoch, revision }, 'gateway connected')
    ping()
    const said = { id, version, epoch, revision, byNeed, features, connect }
    link = await welcome({ socket, log, ...said })
  }

  function refuse(reason: string) {
    log.error({ gateway_id: gatewayId, reason }, 'gateway refused')
    socket.send(write({ type: 'refused', reason }))
    socket.close(4003, 'refused')
  }

  socket.on('message', (raw, isBinary) => {
    seen()
    hear(raw, isBinary).catch((error: unknown) => {
      log.error({ error }, 'cannot act on a message of the gateway, closing')
      socket.close(1011, 'cannot act on a message')
    })
  })
  socket.on('ping', seen)
  socket.on('pong', seen)
  socket.on('error', (error) => log.warn({ error }, 'fleet connection failed'))
  socket.on('close', (code) => {
    clearTimeout(helloTimer)
    clearInterval(silenceTimer)
    clearInterval(heartbeatTimer)
    log.info({ code }, 'gateway disconnected')
  })
}

function textOf(raw: RawData): string {
  if (Array.isArray(raw)) return Buffer.concat(raw).toString()
  return Buffer.isBuffer(raw) ? raw.toString() : Buffer.from(raw).toString()
}
