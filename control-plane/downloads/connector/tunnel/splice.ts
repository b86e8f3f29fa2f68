/** Bytes between a gateway's connection and the application, each as fast as the other takes them. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { OpenFailure } from '../../../../shared/connector/messages.ts'

/** libuv fills it and it is emptied within one callback: all connections share it. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024)

export interface ApplicationAddress {
  readonly isSecure: boolean
  readonly host: string
  readonly port: number
}

export function applicationAddress(origin: string): ApplicationAddress {
  const { protocol, hostname, port } = new URL(origin)
  const isSecure = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  return { isSecure, host, port: Number(port) || (isSecure ? 443 : 80) }
}

export interface Opened {
  /** From here on its bytes go to the gateway, and back. */
  spliceWith(tunnel: TLSSocket): void
  /** Nobody wants it any more. */
  close(): void
}

/** Calls back once. */
export function openApplication(
  { isSecure, host, port }: ApplicationAddress,
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
      callback: (bytes: number, view: Uint8Array) =>
        tunnel !== undefined && tunnel.write(Buffer.from(view.subarray(0, bytes))),
    },
  }
  const ready = () => settle({ spliceWith, close: () => application.destroy() })
  const application: Socket = isSecure
    ? connectTls({ ...options, servername: host }, ready)
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
    given.on('data', (chunk: Buffer) => {
      if (!application.write(chunk)) given.pause()
    })
    application.on('drain', () => given.resume())
    given.on('drain', () => application.resume())
    application.on('end', () => given.end())
    given.on('end', () => application.end())
    application.on('close', (hadError: boolean) => {
      // What was cut off must not look as if it had come to its end.
      if (hadError) given.destroy()
      else given.end()
    })
    given.on('close', () => application.destroy())
    application.resume()
  }
}

function failureOf({ code = '' }: NodeJS.ErrnoException): OpenFailure {
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unresolved'
  return code === 'ETIMEDOUT' ? 'timeout' : 'unreachable'
}
