/**
 * The ClientHello, whole before OpenSSL sees any of it. To answer it costs as much as thirty requests
 * in one step, and that step is taken as soon as its last byte is there: whoever holds back the end
 * of five hundred of them would choose the moment of all.
 */
import type { Socket } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'
import { GatheredBytes } from '../wire/gathered-bytes.ts'

const RECORD_HEADER_BYTES = 5
const RECORD_BYTES_MAX = 2 ** 14
const HANDSHAKE_RECORD = 22
const MESSAGE_HEADER_BYTES = 4
const CLIENT_HELLO = 1

/**
 * RFC 8446, sections 4 and 5.1: one message in any number of records. A number is how many bytes
 * there must be before it is worth while to ask again.
 */
export function measureClientHello(start: Buffer): 'whole' | 'other' | number {
  let at = 0
  let payloadBytes = 0
  let header = 0
  // It is walked over again with each look, so it may not be long to walk.
  for (let records = 0; records < LIMITS.clientHelloRecordsMax; records++) {
    const payloadAt = at + RECORD_HEADER_BYTES
    if (start.length > at && start[at] !== HANDSHAKE_RECORD) return 'other'
    if (start.length < payloadAt) return payloadAt
    const length = start.readUInt16BE(at + 3)
    if (length === 0 || length > RECORD_BYTES_MAX) return 'other'
    at = payloadAt + length
    if (at > LIMITS.clientHelloBytesMax) return 'other'
    if (start.length < at) return at
    const missing = Math.max(0, MESSAGE_HEADER_BYTES - payloadBytes)
    for (const byte of start.subarray(payloadAt, Math.min(at, payloadAt + missing)))
      header = header * 256 + byte
    payloadBytes += length
    if (payloadBytes < MESSAGE_HEADER_BYTES) continue
    const [type, messageBytes] = [Math.floor(header / 2 ** 24), header % 2 ** 24]
    if (type !== CLIENT_HELLO) return 'other'
    if (payloadBytes >= MESSAGE_HEADER_BYTES + messageBytes) return 'whole'
  }
  return 'other'
}

/** Hands on, paused, with all that came put back, and told. Whoever asks limits the time. */
export function awaitClientHello(
  socket: Socket,
  handOn: (isClientHello: boolean, start: Buffer) => void,
): void {
  const gathered = new GatheredBytes()
  let wantedBytes = 1

  function hear(chunk: Buffer): void {
    gathered.add(chunk)
    if (gathered.length < wantedBytes) return
    const start = gathered.take()
    const measured = measureClientHello(start)
    if (typeof measured === 'number') {
      wantedBytes = measured
      return gathered.add(start)
    }
    // Paused first: what is put back must wait for its reader.
    socket.off('data', hear).pause()
    socket.unshift(start)
    handOn(measured === 'whole', start)
  }

  // Behind a PROXY header it comes paused.
  socket.on('data', hear).resume()
}
