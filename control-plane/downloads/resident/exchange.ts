/** One request to the control plane, with all of its answer within bounds, or a reason. */
import { request as requestPlain, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { connectThrough, codeOf, ConnectError, proxyCredentials } from './connect.ts'
import type { Proxies, Target } from './proxies.ts'

const ANSWER_BYTES_MAX = 256 * 1024
const ANSWER_MS_MAX = 20_000

interface Asked {
  readonly url: URL
  readonly bearer?: string | undefined
  readonly proxies: Proxies
  readonly signal?: AbortSignal | undefined
}

interface AskedBytes extends Asked {
  readonly method: 'GET' | 'POST'
  /** '' for none. */
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytesMax?: number
}

interface BytesAnswer {
  readonly status: number
  readonly bytes: Buffer
  /** As it was sent, if it was. */
  readonly retryAfter: string | undefined
}

export interface Answer {
  readonly status: number
  /** null: it was no JSON. */
  readonly body: unknown
}

/** It did not come to an answer; `code` is the system's, or one of ours. */
export class ExchangeError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'ExchangeError'
    this.code = code
  }
}

/** JSON, both ways. */
export async function exchange(asked: Asked & { readonly body: object }): Promise<Answer> {
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const text = JSON.stringify(asked.body)
  const { status, bytes } = await exchangeBytes({ ...asked, method: 'POST', text, headers })
  return { status, body: jsonOf(bytes) }
}

export async function exchangeBytes(wish: AskedBytes): Promise<BytesAnswer> {
  const { url, method, text, bearer, proxies, signal, bytesMax = ANSWER_BYTES_MAX } = wish
  const until = new AbortController()
  let isLate = false
  const deadline = setTimeout(() => {
    isLate = true
    until.abort()
  }, ANSWER_MS_MAX)
  const stop = () => until.abort()
  if (signal?.aborted === true) stop()
  signal?.addEventListener('abort', stop)
  const to = targetOf(url)
  const headers = {
    ...wish.headers,
    ...(method === 'POST' && { 'content-length': String(Buffer.byteLength(text)) }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  }
  const proxy = proxies(to)
  try {
    const way = { to, proxy, signal: until.signal }
    const asked = await send(method, url, headers, way)
    return await answerTo(asked, text, bytesMax)
  } catch (error) {
    if (isLate) throw new ExchangeError('timeout', 'there was no response in time')
    if (error instanceof ExchangeError) throw error
    if (error instanceof ConnectError) throw new ExchangeError(error.code, error.message)
    const code = codeOf(error)
    if (proxy !== undefined && !to.isSecure)
      throw new ExchangeError('proxy', `the connection to the proxy ${proxy.host} failed: ${code}`)
    throw new ExchangeError(code, code)
  } finally {
    clearTimeout(deadline)
    signal?.removeEventListener('abort', stop)
  }
}

const targetOf = ({ protocol, hostname, port }: URL): Target => {
  const isSecure = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  return { isSecure, host, port: Number(port) || (isSecure ? 443 : 80) }
}

interface Way {
  readonly to: Target
  readonly proxy: URL | undefined
  readonly signal: AbortSignal
}

/** Without TLS a proxy is given the whole address; with it, it connects and sees nothing. */
async function send(
  method: AskedBytes['method'],
  url: URL,
  headers: Record<string, string>,
  { to, proxy, signal }: Way,
): Promise<ClientRequest> {
  const { isSecure, host, port } = to
  const path = `${url.pathname}${url.search}`
  const common = { method, headers, signal }
  if (proxy === undefined)
    return (isSecure ? requestSecure : requestPlain)({ ...common, agent: false, host, port, path })
  if (isSecure) {
    const socket = await connectThrough(proxy, { host, port }, signal)
    const servername = isIP(host) === 0 ? host : ''
    const createConnection = () => connectTls({ socket, servername })
    // With an agent it would not be asked.
    return requestSecure({ ...common, host, port, path, createConnection })
  }
  return (proxy.protocol === 'https:' ? requestSecure : requestPlain)({
    ...common,
    agent: false,
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80),
    path: url.href,
    headers: { ...headers, host: url.host, ...proxyCredentials(proxy) },
  })
}

function answerTo(asked: ClientRequest, text: string, bytesMax: number): Promise<BytesAnswer> {
  return new Promise((resolve, reject) => {
    asked.on('error', reject)
    asked.once('response', (response) => {
      const { statusCode: status = 0, headers } = response
      readAll(response, bytesMax).then(
        (bytes) => resolve({ status, bytes, retryAfter: headers['retry-after'] }),
        reject,
      )
    })
    asked.end(text)
  })
}

async function readAll(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new ExchangeError('too_long', 'the response is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** null: it is none. */
export function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return null
  }
}
