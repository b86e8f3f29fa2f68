/** Bytes between a gateway's connection and the application, each as fast as the other takes them. */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { breakOff } from '../../../../shared/connector/break-off.ts'
import type { OpenFailure } from '../../../../shared/connector/messages.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { readBeforeEnd } from '../../../../shared/read-before-end.ts'

/** libuv fills it and it is emptied within one callback: all connections share it. */
const buffer = Buffer.allocUnsafeSlow(128 * 1024)

/** As large, for what is written and not taken yet; kept, so that a download makes no garbage. */
const copies: Buffer[] = []
const COPIES_KEPT_MAX = 32
const SMALL_BYTES = 8 * 1024

function passOn(tunnel: TLSSocket, bytes: number): boolean {
  if (bytes <= SMALL_BYTES) return tunnel.write(Buffer.from(buffer.subarray(0, bytes)))
  const copy = copies.pop() ?? Buffer.allocUnsafeSlow(buffer.length)
  buffer.copy(copy, 0, 0, bytes)
  return tunnel.write(copy.subarray(0, bytes), () => {
    if (copies.length < COPIES_KEPT_MAX) copies.push(copy)
  })
}

export interface ApplicationAddress {
  readonly isSecure: boolean
  readonly host: string
  readonly port: number
  /** The authorities of an https origin, PEM; without them those that Node trusts. */
  readonly ca?: string | undefined
}

export function applicationAddress(origin: string, ca?: string): ApplicationAddress {
  const { protocol, hostname, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  return { isSecure, host, port: Number(port) || (isSecure ? 443 : 80), ca }
}

interface Opened {
  /** From here on its bytes go to the gateway, and back. */
  spliceWith(tunnel: TLSSocket): void
  /** Nobody wants it any more. */
  close(): void
}

/** Calls back once. */
export function openApplication(
  { isSecure, host, port, ca }: ApplicationAddress,
  timeoutMs: number,
  onAnswer: (answer: Opened | OpenFailure) => void,
): void {
  let tunnel: TLSSocket | undefined
  const options = {
    host,
    port,
    noDelay: true,
    allowHalfOpen: true,
    onread: {
      buffer,
      callback: (bytes: number) => tunnel !== undefined && passOn(tunnel, bytes),
    },
  }
  const ready = () => settle({ spliceWith, close: () => application.destroy() })
  const application: Socket = isSecure
    ? connectTls({ ...options, ...secureOptions(host, ca) }, ready)
    : connectTcp(options, ready)
  const deadline = setTimeout(() => settle('timeout'), timeoutMs)
  application.on('error', (error: NodeJS.ErrnoException) => settle(failureOf(error)))

  let isSettled = false
  function settle(answer: Opened | OpenFailure): void {
    if (isSettled) return
    isSettled = true
    clearTimeout(deadline)
    if (typeof answer === 'string') application.destroy()
    onAnswer(answer)
  }

  function spliceWith(given: TLSSocket): void {
    tunnel = given
    /** The application takes no more, and what it has said is on its way. */
    let isDeaf = false
    /** It has said all. */
    let hasEnded = false
    let isOver = false
    readBeforeEnd(application, {
      isAwaited() {
        if (!given.destroyed) goDeaf()
        return !hasEnded && !given.destroyed
      },
      onEnd: over,
    })
    given.on('data', (chunk: Buffer) => {
      if (!isDeaf && !application.write(chunk)) given.pause()
    })
    application.on('drain', () => given.resume())
    given.on('drain', () => application.resume())
    application.on('end', () => {
      hasEnded = true
      given.end()
    })
    given.on('end', () => {
      if (isDeaf) given.destroy()
      else application.end()
    })
    application.on('close', over)
    given.on('close', () => application.destroy())
    application.resume()

    /** A gateway that could not write would not read any more, either: it is taken, and dropped. */
    function goDeaf(): void {
      isDeaf = true
      given.resume()
      if (hasEnded) given.end(linger)
    }

    /** What was cut off must not look as if it had come to its end. */
    function over(isCut: boolean): void {
      if (isOver || given.destroyed) return
      isOver = true
      application.destroy()
      if (isCut && !hasEnded) breakOff(given, linger)
      else hasEnded = true
      goDeaf()
    }

    function linger(): void {
      const patience = setTimeout(() => given.destroy(), LIMITS.lingerMsMax)
      given.once('close', () => clearTimeout(patience))
    }
  }
}

/** As the edge itself speaks to an https origin: by its name, and in nothing but HTTP/1.1. */
function secureOptions(host: string, ca: string | undefined) {
  return {
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
  }
}

function failureOf({ code = '' }: NodeJS.ErrnoException): OpenFailure {
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unresolved'
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return 'tls'
  return code === 'ETIMEDOUT' ? 'timeout' : 'unreachable'
}
