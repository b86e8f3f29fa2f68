/**
 * A process of its own: clients that speak HTTP/2 as no library would, all from one address.
 *
 *   node bench/adversity/http2-clients.ts <TLS port> <kind> <connections> <fields, as JSON>
 *
 * zero-windows: a hundred requests each, whose answers may not bring a byte.
 * used-up-windows: the same with the window that is the default, and never another.
 * slow-uploads: a hundred uploads each, of which a byte comes now and then.
 * hang-ups: a request, its answer, and then the end without GOAWAY, one connection after the other.
 */
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'
import { connect as connectTls } from 'node:tls'
import {
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  FrameClient,
  TYPE,
} from '../../test/support/http2-frames.ts'
import { LIVE_HOST } from '../../test/support/live-gateway.ts'

const [port = 0] = process.argv.slice(2).map(Number)
const kind = process.argv[3] ?? ''
const connections = Number(process.argv[4])
const block = fields(JSON.parse(process.argv[5] ?? '[]') as [string, string][])
const STREAMS = 100
const TRICKLE_MS = 2000
const HANG_UPS_AT_ONCE = 8
const ADDRESS = '127.0.1.1'

// They are other machines: what their handshakes take is not the gateway's to wait for.
setPriority(constants.priority.PRIORITY_LOW)

const state = { open: 0, begun: 0, failed: 0, sentBytes: 0 }

/** Handshake included, as the wire carries it. */
function open(onReady: (client: FrameClient) => void, onClose: () => void) {
  const raw = connect({ port, host: '127.0.0.1', localAddress: ADDRESS })
  raw.on('error', () => undefined)
  const secure = connectTls({
    socket: raw,
    servername: LIVE_HOST,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  })
  let sentBytes = 0
  const count = () => {
    state.sentBytes += raw.bytesWritten - sentBytes
    sentBytes = raw.bytesWritten
  }
  const counting = setInterval(count, 50)
  let isOpen = false
  secure.on('error', () => undefined)
  secure.on('secureConnect', () => {
    isOpen = true
    state.open++
    state.begun++
    onReady(new FrameClient(secure))
  })
  secure.on('close', () => {
    count()
    clearInterval(counting)
    if (isOpen) state.open--
    else state.failed++
    onClose()
  })
}

const again = (run: () => void) => void setTimeout(run, 50)

function hold() {
  const timers = new Set<NodeJS.Timeout>()
  open(
    (client) => {
      if (kind === 'zero-windows')
        client.send(frame(TYPE.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])))
      const isUpload = kind === 'slow-uploads'
      const flags = isUpload ? END_HEADERS : END_HEADERS | END_STREAM
      for (let at = 0; at < STREAMS; at++) client.request(1 + 2 * at, block, flags)
      if (!isUpload) return
      const bytes = Array.from({ length: STREAMS }, (_item, at) =>
        frame(TYPE.data, 0, 1 + 2 * at, Buffer.from('x')),
      )
      timers.add(setInterval(() => client.send(...bytes), TRICKLE_MS))
    },
    () => {
      for (const timer of timers) clearInterval(timer)
      again(hold)
    },
  )
}

function hangUp() {
  open(
    (client) => {
      client.request(1, block)
      void client
        .until((found) => found.stream === 1 && (found.flags & END_STREAM) === 1)
        .then(() => client.socket.end())
    },
    () => again(hangUp),
  )
}

if (kind === 'hang-ups') for (let count = 0; count < HANG_UPS_AT_ONCE; count++) hangUp()
else for (let count = 0; count < connections; count++) hold()
setInterval(() => process.send?.(state), 100)
process.on('disconnect', () => process.exit())
