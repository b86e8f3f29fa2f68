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

  async function text(request: ProviderRequest): Promise<string> {
    const answer = await ask(request)
    const { host } = new URL(request.url)
    if (answer.status === 200) return answer.text
    const code = errorCodeIn(answer.text)
    throw new ProviderProblem(`${host} answered with status ${answer.status}${code}`)
  }

  return {
    text,
    async json(request) {
      const parsed = objectIn(await text(request))
      if (parsed !== undefined) return parsed
      throw new ProviderProblem(`${new URL(request.url).host} did not answer with JSON`)
    },
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
  try {
    const parsed: unknown = JSON.parse(text)
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    return isObject ? (parsed as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** A code of RFC 6749, and nothing else: what a provider writes may hold what we have sent. */
function errorCodeIn(text: string): string {
  const error = objectIn(text)?.error
  return typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
}
