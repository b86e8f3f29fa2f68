/** A connection to a host, straight or through an HTTP proxy; closed if it is not there in time. */
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'

/** What stood in the way of it. */
export class ConnectError extends Error {
  readonly code: 'unreachable' | 'timeout' | 'proxy'

  constructor(code: ConnectError['code'], message: string) {
    super(message)
    this.name = 'ConnectError'
    this.code = code
  }
}

interface Destination {
  /** Without brackets. */
  readonly host: string
  readonly port: number
}

export const authorityOf = ({ host, port }: Destination): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** Of several addresses of a name the first that answers counts (RFC 8305). */
export function connectStraight(to: Destination, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ ...to, noDelay: true, allowHalfOpen: true })
    const expire = () => fail(new ConnectError('timeout', `${authorityOf(to)} did not answer`))
    const refuse = (error: NodeJS.ErrnoException) =>
      fail(
        new ConnectError('unreachable', `${authorityOf(to)} cannot be reached: ${codeOf(error)}`),
      )
    const settle = () => {
      signal.removeEventListener('abort', expire)
      socket.off('error', refuse)
    }
    const fail = (error: ConnectError) => {
      settle()
      socket.on('error', () => undefined)
      socket.destroy()
      reject(error)
    }
    if (signal.aborted) return expire()
    signal.addEventListener('abort', expire)
    socket.on('error', refuse)
    socket.once('connect', () => {
      settle()
      resolve(socket)
    })
  })
}

/** By CONNECT. Its name and password are for the proxy alone, and stand in no message. */
export function connectThrough(proxy: URL, to: Destination, signal: AbortSignal): Promise<Socket> {
  const isSecure = proxy.protocol === 'https:'
  const request = isSecure ? requestSecure : requestPlain
  return new Promise((resolve, reject) => {
    const fail = (code: ConnectError['code'], why: string) =>
      reject(new ConnectError(code, `the proxy ${proxy.host} ${why}`))
    const asked = request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: Number(proxy.port) || (isSecure ? 443 : 80),
      method: 'CONNECT',
      path: authorityOf(to),
      headers: { host: authorityOf(to), ...proxyCredentials(proxy) },
      signal,
      agent: false,
    })
    asked.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      if (statusCode >= 200 && statusCode < 300) {
        socket.allowHalfOpen = true
        if (head.length > 0) socket.unshift(head)
        return resolve(socket)
      }
      socket.on('error', () => undefined)
      socket.destroy()
      fail('proxy', refusalOf(statusCode, proxy))
    })
    asked.once('response', (response) => {
      response.destroy()
      fail('proxy', refusalOf(response.statusCode ?? 0, proxy))
    })
    asked.on('error', (error) => {
      if (signal.aborted) fail('timeout', 'did not answer in time')
      else fail('proxy', `cannot be reached: ${codeOf(error)}`)
    })
    asked.end()
  })
}

export function proxyCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

function refusalOf(status: number, { username }: URL): string {
  if (status !== 407) return `answered ${status}`
  return username === ''
    ? 'requires a username and password: put them into HTTPS_PROXY'
    : 'does not accept the username and password in HTTPS_PROXY'
}

/** Of several attempts the last one's. */
export function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: readonly unknown[] }
  if (typeof code === 'string' && code !== '') return code
  return errors === undefined ? 'unknown' : codeOf(errors.at(-1))
}
