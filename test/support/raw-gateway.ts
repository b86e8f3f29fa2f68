/** A gateway that says and does exactly what a test wants, on a real WebSocket. */
import { WebSocket, type ClientOptions } from 'ws'
import { FEATURES } from '../../shared/fleet/features.ts'
import type { DownMessage, GatewayDoor, UpMessage } from '../../shared/fleet/snapshot.ts'
import { FLEET_KEY, until } from './fleet.ts'

export interface RawGateway {
  readonly socket: WebSocket
  readonly received: DownMessage[]
  readonly closed: Promise<{ code: number; reason: string }>
  send(message: UpMessage): void
  sendText(text: string): void
  /** Keeps up from now on. */
  consume(): void
  of<Type extends DownMessage['type']>(type: Type): (DownMessage & { type: Type })[]
  /** Waits for so many messages of a type. */
  wait(type: DownMessage['type'], count?: number): Promise<void>
}

interface Teardown {
  teardown(close: () => unknown): void
}

export interface RawGatewayOptions {
  readonly id?: string
  readonly epoch?: string
  readonly revision?: number
  readonly format?: number
  readonly by_need?: boolean
  /** Answers every tenant message, as a gateway that keeps up does. */
  readonly isConsuming?: boolean
  readonly isSilent?: boolean
  /** What it says that it knows of; nothing: it is one from before. */
  readonly features?: readonly string[]
  /** Where connectors dial it. */
  readonly connect?: GatewayDoor
  readonly fleetKey?: string
  readonly webSocket?: ClientOptions
}

const PACED: ReadonlySet<string> = new Set(['tenant', 'index', 'remove', 'keep'])

export async function connectRaw(
  t: Teardown,
  port: number,
  options: RawGatewayOptions = {},
): Promise<RawGateway> {
  const { isSilent = false } = options
  let isConsuming = options.isConsuming ?? true
  const socket = new WebSocket(`ws://127.0.0.1:${port}/fleet`, {
    headers: { authorization: `Bearer ${options.fleetKey ?? FLEET_KEY}` },
    ...options.webSocket,
  })
  const received: DownMessage[] = []
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  socket.on('error', () => {})
  const send = (message: UpMessage) => socket.send(JSON.stringify(message))
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as DownMessage
    received.push(message)
    const { type } = message
    if (isConsuming && PACED.has(type)) send({ type: 'consumed', messages: 1 })
  })
  t.teardown(() => socket.terminate())
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const { id = 'raw-1', epoch = '', revision = 0, format = 1, by_need = true } = options
  const features = [...(options.features ?? FEATURES)]
  const door = options.connect && { connect: options.connect }
  if (!isSilent)
    send({ type: 'hello', id, version: '0', format, epoch, revision, by_need, features, ...door })
  const of = <Type extends DownMessage['type']>(type: Type) =>
    received.filter((message): message is DownMessage & { type: Type } => message.type === type)
  return {
    socket,
    received,
    closed,
    send,
    sendText: (text) => socket.send(text),
    consume() {
      isConsuming = true
      const messages = received.filter(({ type }) => type === 'tenant').length
      send({ type: 'consumed', messages })
    },
    of,
    wait: (type, count = 1) => until(() => of(type).length >= count),
  }
}
