/** How a connection to an application comes about. */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { readInto } from '../wire/borrowed-reads.ts'
import type { UpstreamRuntime } from './runtime.ts'

/** What becomes of it, told to whoever wanted it. */
interface OpenedConnection {
  /** From now on it takes bytes. Never within the call that opens it. */
  onReady(): void
  /** The bytes are only there during the call. False: no more until it is resumed. */
  onRead(bytes: number, buffer: Buffer): boolean
}

export type OpenConnection = (to: OpenedConnection) => Socket

/** By name and port, as a client of the application does. */
export function openByAddress({
  url,
  runtime,
  ca,
}: {
  readonly url: URL
  readonly runtime: Pick<UpstreamRuntime, 'lookup' | 'readBuffer'>
  /** Further certificate authorities for an https origin, PEM. */
  readonly ca?: string | undefined
}): OpenConnection {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isSecure = url.protocol === 'https:'
  const port = Number(url.port) || (isSecure ? 443 : 80)
  const secureOptions = {
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
  }
  return (to) => {
    const options = {
      host,
      port,
      lookup: runtime.lookup,
      noDelay: true,
      onread: {
        buffer: runtime.readBuffer,
        callback: (bytes: number, buffer: Uint8Array) => to.onRead(bytes, buffer as Buffer),
      },
    }
    return isSecure
      ? connectTls({ ...options, ...secureOptions }, () => to.onReady())
      : connectTcp(options, () => to.onReady())
  }
}

/** It is there already, and takes bytes. */
export function openedAs(socket: Socket, readBuffer: Buffer): OpenConnection {
  return (to) => {
    if (!readInto(socket, readBuffer, (bytes, buffer) => to.onRead(bytes, buffer)))
      socket.on('data', (chunk: Buffer) => {
        if (!to.onRead(chunk.length, chunk)) socket.pause()
      })
    return socket
  }
}
