/**
 * The PROXY protocol, versions 1 and 2: what a balancer says about the client before the client's
 * own bytes. Only asked of the operator's balancers, since whoever may send it can be anybody.
 * https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
 */
import type { Socket } from 'node:net'
import { MINUTE_MS } from './clock.ts'
import { parseProxyHeader, type ProxyHeader } from './proxy-header.ts'

/** Who a connection is from; what is left out is as the socket itself says. */
export type Proxied = Omit<ProxyHeader, 'bytes'>

interface ProxyProtocolOptions {
  /** From the connection to the end of the header. */
  readonly headMs: number
  /** Once a minute: behind a balancer that sends none, anybody could fill a log. */
  readonly onMalformed?: (balancer: string) => void
}

export function createProxyProtocol({ headMs, onMalformed }: ProxyProtocolOptions) {
  let pending = 0
  let toldMs = -Infinity
  let whenSettled: (() => void) | undefined

  function tell(balancer: string) {
    const nowMs = performance.now()
    if (nowMs - toldMs < MINUTE_MS) return
    toldMs = nowMs
    onMalformed?.(balancer)
  }

  return {
    /** Reads the header and hands on, paused, with all that came behind it put back; or closes. */
    read(socket: Socket, balancer: string, handOn: (proxied: Proxied) => void) {
      let held: Buffer | undefined
      const timer = setTimeout(() => refuse(), headMs)
      pending++

      function leave() {
        clearTimeout(timer)
        socket.off('data', hear).off('error', refuse).off('end', refuse).off('close', refuse)
        pending--
        if (pending === 0) whenSettled?.()
      }

      function refuse() {
        leave()
        socket.on('error', ignore)
        socket.destroy()
      }

      function hear(chunk: Buffer) {
        held = held === undefined ? chunk : Buffer.concat([held, chunk])
        const header = parseProxyHeader(held)
        if (header === 'incomplete') return
        if (header === 'malformed') {
          tell(balancer)
          return refuse()
        }
        leave()
        // Paused first: what is put back must wait for its reader.
        socket.pause()
        if (held.length > header.bytes) socket.unshift(held.subarray(header.bytes))
        handOn(header)
      }

      socket.on('data', hear).on('error', refuse).on('end', refuse).on('close', refuse)
    },
    /** Settles when no header is being waited for. */
    async settled() {
      if (pending > 0) await new Promise<void>((resolve) => (whenSettled = resolve))
    },
  }
}

const ignore = (): void => undefined
