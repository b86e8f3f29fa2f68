/**
 * The gateway's end of the fleet link: one WebSocket to one of the control planes, opened again and
 * again for as long as the gateway runs, each time to the next of them. What it says is handed on
 * in order; nothing it says can end this process.
 */
import type { Logger } from 'pino'
import { WebSocket, type RawData } from 'ws'
import { SECOND_MS } from '../../shared/clock.ts'
import { parseFleetMessage } from '../../shared/fleet/parse.ts'
import { LIMITS } from '../../shared/limits.ts'
import { FEATURES } from '../../shared/fleet/features.ts'
import { ownAddresses } from './fleet-address.ts'
import { transportTo, type FleetTransport } from './fleet-transport.ts'
import {
  DownMessageSchema,
  FLEET_FORMAT,
  type DownMessage,
  type GatewayDoor,
  type UpMessage,
} from '../../shared/fleet/snapshot.ts'

const FEED_TIMING = {
  heartbeatMs: 5 * SECOND_MS,
  silenceMsMax: 15 * SECOND_MS,
  connectMsMax: 5 * SECOND_MS,
  backoffMsMin: 100,
  backoffMsMax: 5 * SECOND_MS,
} as const
/** From here on it waits as long as it ever does. */
const FAILURES_MAX = 30

export type FeedTiming = { readonly [Name in keyof typeof FEED_TIMING]: number }

interface FeedOptions {
  /** Each like `http://127.0.0.1:8081`; which is asked first is chance. */
  readonly controlPlaneUrls: readonly string[]
  readonly fleetKey: string
  /** What it was before: it is tried where the first is refused. */
  readonly previousKey?: string | null
  /** Whether the link may go to another machine in the clear. */
  readonly mayBePlain?: boolean
  readonly transport?: (base: string, key: string) => FleetTransport
  readonly gatewayId: string
  readonly version: string
  readonly log: Logger
  /** 0 ≤ random() < 1, so that a fleet does not come back in one moment. */
  readonly random: () => number
  /** Where connectors dial it; undefined: nowhere. */
  readonly connect?: GatewayDoor | undefined
  /** What the gateway surely has. */
  readonly hello: () => { readonly epoch: string; readonly revision: number }
  readonly onMessage: (message: DownMessage) => void
  /** What its pings say. */
  readonly onPing?: (said: string) => void
  /** The link is down. */
  readonly onLost?: () => void
  /** A message of a known type that cannot be read. `content` is what it was, unchecked. */
  readonly onMalformed: (type: string, reason: string, content: unknown) => void
  readonly timing?: Partial<FeedTiming>
}

export function openFeed(options: FeedOptions) {
  const { log, gatewayId, version } = options
  let { connect: door } = options
  let keys = [options.fleetKey, options.previousKey ?? null].filter((key) => key !== null)
  /** Of `keys`, the one of the next try. */
  let keyAt = 0
  const timing = { ...FEED_TIMING, ...options.timing }
  const bases = options.controlPlaneUrls
  const { mayBePlain = false } = options
  const { connectMsMax } = timing
  const {
    transport = (base, key) =>
      transportTo({ base, key, own: ownAddresses(), mayBePlain, connectMsMax }),
  } = options
  let at = Math.floor(options.random() * bases.length)
  requireSendable(options.fleetKey)
  let lastProblem = ''
  let socket: WebSocket | undefined
  let failures = 0
  let retryTimer: NodeJS.Timeout | undefined
  let isClosed = false
  let gone = Promise.resolve()

  /** False while there is no link; then nothing was sent. */
  function send(message: UpMessage): boolean {
    if (socket?.readyState !== WebSocket.OPEN) return false
    socket.send(JSON.stringify(message))
    if (socket.bufferedAmount > LIMITS.fleetUnsentBytesMax) socket.terminate()
    return true
  }

  function connect() {
    const triedKeyAt = keyAt
    const key = keys[triedKeyAt]!
    const { url, createConnection } = transport(bases[at % bases.length]!, key)
    const opened = new WebSocket(url, {
      headers: { authorization: `Bearer ${key}` },
      ...(createConnection && { createConnection: createConnection as never }),
      handshakeTimeout: timing.connectMsMax,
      maxPayload: LIMITS.fleetMessageBytesMax,
      perMessageDeflate: false,
      followRedirects: false,
    })
    socket = opened
    const left = Promise.withResolvers<void>()
    gone = left.promise
    const stopWatching = watch(opened)

    opened.on('open', () => {
      log.info({ url }, 'connected to the control plane')
      if (triedKeyAt > 0)
        log.error(
          { gateway_id: gatewayId },
          'the control plane refuses the key of this gateway, so it came in with the one before: check SERVICE_FLEET_KEY',
        )
      keyAt = 0
      lastProblem = ''
      send({
        type: 'hello',
        id: gatewayId,
        version,
        format: FLEET_FORMAT,
        by_need: true,
        features: [...FEATURES],
        ...options.hello(),
        ...(door && { connect: door }),
      })
    })
    opened.on('message', (raw, isBinary) => {
      if (socket === opened) hear(opened, raw, isBinary)
    })
    opened.on('ping', (said) => options.onPing?.(said.toString('latin1')))
    opened.on('error', (error) => explain(error, url))
    opened.on('close', (code, reason) => {
      stopWatching()
      left.resolve()
      if (socket === opened) {
        socket = undefined
        options.onLost?.()
      }
      at += 1
      if (code !== 1006) log.warn({ code, reason: reason.toString() }, 'the fleet link was closed')
      connectLater()
    })
  }

  function watch(opened: WebSocket): () => void {
    let isAlive = true
    const alive = () => void (isAlive = true)
    opened.on('ping', alive).on('pong', alive).on('message', alive)
    const heartbeat = setInterval(() => {
      if (opened.readyState === WebSocket.OPEN) opened.ping()
    }, timing.heartbeatMs)
    const silence = setInterval(() => {
      if (!isAlive) {
        log.warn('nothing heard from the control plane, connecting again')
        opened.terminate()
      }
      isAlive = false
    }, timing.silenceMsMax)
    return () => {
      clearInterval(heartbeat)
      clearInterval(silence)
    }
  }

  function hear(opened: WebSocket, raw: RawData, isBinary: boolean) {
    if (isBinary || !Buffer.isBuffer(raw)) return opened.close(1003, 'text only')
    const text = raw.toString()
    const parsed = parseFleetMessage(DownMessageSchema, text)
    switch (parsed.kind) {
      case 'not_json':
        log.error('the control plane sent something that is not JSON, connecting again')
        return opened.close(1007, 'not JSON')
      case 'unknown':
        return log.warn({ type: parsed.type }, 'a message of a type that is not known, left out')
      case 'malformed':
        return options.onMalformed(parsed.type, parsed.reason, JSON.parse(text))
      case 'message':
        log.debug({ type: parsed.message.type }, 'heard from the control plane')
        if (parsed.message.type === 'synced') failures = 0
        if (parsed.message.type === 'refused') keyRefused()
        return options.onMessage(parsed.message)
    }
  }

  /** Once per problem, not once per try. */
  function explain({ message: reason }: Error, url: string) {
    const isKeyRefused = / 401$/.test(reason)
    if (isKeyRefused) keyRefused()
    if (isClosed || reason === lastProblem) return
    lastProblem = reason
    if (isKeyRefused)
      log.error(
        { url, gateway_id: gatewayId },
        'the control plane refuses the key of this gateway: make one for it (Fleet in the console, or POST /api/v1/operator/gateways) and set SERVICE_FLEET_KEY',
      )
    else log.warn({ url, reason }, 'cannot reach the control plane, trying again')
  }

  /** The other one is tried at once; where none opens, nothing is gained by haste. */
  function keyRefused() {
    keyAt = (keyAt + 1) % keys.length
    failures = keyAt === 0 ? FAILURES_MAX : 0
  }

  function connectLater() {
    if (isClosed) return
    const delayMs = backoffMs(failures, timing, options.random)
    failures = Math.min(failures + 1, FAILURES_MAX)
    retryTimer = setTimeout(connect, delayMs)
  }

  connect()
  return {
    send,
    /** From now on it comes in with this key, and as this door: at once, with the one before in reserve. */
    turnTo(key: string, nextDoor: GatewayDoor | undefined) {
      requireSendable(key)
      keys = [key, ...keys.filter((one) => one !== key).slice(0, 1)]
      keyAt = 0
      door = nextDoor
      failures = 0
      if (socket !== undefined) return socket.terminate()
      clearTimeout(retryTimer)
      if (!isClosed) connect()
    },
    isConnected: () => socket?.readyState === WebSocket.OPEN,
    async close() {
      isClosed = true
      clearTimeout(retryTimer)
      const closing = socket
      if (closing === undefined) return
      closing.close(1001, 'the gateway stops')
      const impatience = setTimeout(() => closing.terminate(), SECOND_MS)
      await gone
      clearTimeout(impatience)
    },
  }
}

function requireSendable(fleetKey: string) {
  if (!/^[\x20-\x7e]+$/.test(fleetKey))
    throw new Error('the fleet key must consist of printable ASCII characters')
}

/** Doubling with full jitter, but never nothing. */
export function backoffMs(
  failures: number,
  { backoffMsMin, backoffMsMax }: Pick<FeedTiming, 'backoffMsMin' | 'backoffMsMax'>,
  random: () => number,
): number {
  const ceilingMs = Math.min(backoffMsMax, backoffMsMin * 2 ** failures)
  return backoffMsMin / 2 + random() * (ceilingMs - backoffMsMin / 2)
}
