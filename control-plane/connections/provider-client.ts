/**
 * What is asked of identity providers: documents and codes, over https, at public addresses, without
 * redirects, within a deadline and a size. What goes wrong is said in words for an administrator.
 */
import type { Dispatcher } from 'undici'
import { LIMITS } from '../../shared/limits.ts'
import {
  checkedAgent,
  Late,
  problemOf,
  raced,
  type OutboundWorld,
} from '../outbound/checked-connect.ts'
import { readReceiverUrl } from '../outbound/public-address.ts'

/** Why a provider could not be used, without a word of what it has sent. */
export class ProviderProblem extends Error {
  override readonly name = 'ProviderProblem'
  /** That it answered with, where that is what was wrong. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

interface ProviderRequest {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ProviderClient {
  /** A JSON object; whatever else comes is a `ProviderProblem`. */
  json(request: ProviderRequest): Promise<Readonly<Record<string, unknown>>>
  /** The same for a list. */
  list(request: ProviderRequest): Promise<readonly unknown[]>
  /** A document of whatever kind. */
  text(request: ProviderRequest): Promise<string>
  close(): Promise<void>
}

export function createProviderClient(world: OutboundWorld): ProviderClient {
  const timeoutMs = Math.min(world.timeoutMs ?? LIMITS.providerMsMax, LIMITS.providerMsMax)
  const agent = checkedAgent(
    { ...world, timeoutMs },
    { connections: LIMITS.providerSendsMax, maxResponseSize: LIMITS.providerAnswerBytesMax },
  )

  async function ask({ url: text, method = 'GET', headers = {}, body }: ProviderRequest) {
    const ending = new AbortController()
    const { signal } = ending
    const timer = setTimeout(() => ending.abort(new Late()), timeoutMs)
    try {
      const { origin, pathname, search } = readReceiverUrl(text)
      const wanted = { origin, path: pathname + search, method, signal } as const
      const asked = agent.request({
        ...wanted,
        headers: { accept: 'application/json', ...headers },
        ...(body !== undefined && { body }),
      })
      const answer = await raced(asked, signal)
      return { status: answer.statusCode, text: await raced(textOf(answer), signal) }
    } catch (error) {
      if (error instanceof ProviderProblem) throw error
      throw new ProviderProblem(problemOf(error, signal, timeoutMs))
    } finally {
      clearTimeout(timer)
      ending.abort() // whoever is still sending is not listened to
    }
  }

  async function parsed<Value>(
    request: ProviderRequest,
    read: (text: string) => Value | undefined,
  ): Promise<Value> {
    const value = read(await text(request))
    if (value !== undefined) return value
    throw new ProviderProblem(`${new URL(request.url).host} did not answer with JSON`)
  }

  async function text(request: ProviderRequest): Promise<string> {
    const answer = await ask(request)
    const { host } = new URL(request.url)
    if (answer.status === 200) return answer.text
    const said = `${host} answered with status ${answer.status}${errorCodeIn(answer.text)}`
    throw new ProviderProblem(said, answer.status)
  }

  return {
    text,
    json: (request) => parsed(request, objectIn),
    list: (request) => parsed(request, listIn),
    close: () => agent.destroy(),
  }
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > LIMITS.providerAnswerBytesMax) throw new ProviderProblem('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : undefined
}

function listIn(text: string): readonly unknown[] | undefined {
  const value = jsonIn(text)
  return Array.isArray(value) ? (value as unknown[]) : undefined
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** A code of RFC 6749, and nothing else: what a provider writes may hold what we have sent. */
function errorCodeIn(text: string): string {
  const error = objectIn(text)?.error
  return typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
}
