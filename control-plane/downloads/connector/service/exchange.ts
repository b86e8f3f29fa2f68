/** One request to the control plane, with all of its answer: JSON within bounds, or a reason. */
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
  readonly body: object
  readonly bearer?: string | undefined
  readonly proxies: Proxies
  readonly signal?: AbortSignal | undefined
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

export async function exchange({ url, body, bearer, proxies, signal }: Asked): Promise<Answer> {
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
  const text = JSON.stringify(body)
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  }
  const proxy = proxies(to)
  try {
    const asked = await send(url, to, proxy, headers, until.signal)
    return await answerTo(asked, text)
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

/** Without TLS a proxy is given the whole address; with it, it connects and sees nothing. */
async function send(
  url: URL,
  { isSecure, host, port }: Target,
  proxy: URL | undefined,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<ClientRequest> {
  const path = `${url.pathname}${url.search}`
  const common = { method: 'POST', headers, signal }
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

function answerTo(asked: ClientRequest, text: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    asked.on('error', reject)
    asked.once('response', (response) => {
      readAll(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, body: jsonOf(bytes) }),
        reject,
      )
    })
    asked.end(text)
  })
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new ExchangeError('too_long', 'the response is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return null
  }
}
