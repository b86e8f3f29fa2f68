/** One question to the service and its answer: bounded, in time, and never followed elsewhere. */
import { setTimeout as wait } from 'node:timers/promises'
import { VERSION } from '../../../shared/version.ts'
import { Problem } from '../command-line/exit.ts'
import { objectIn } from './json.ts'
import { isTlsProblem, networkProblem, type NetworkPlace } from './network-problem.ts'
import { plainText } from '../command-line/words.ts'

export interface Question {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** header: as a bearer; query: as `api_key`, where the service wants it there; none: not told. */
  readonly key?: 'header' | 'query' | 'none'
  readonly body?: unknown
  readonly timeoutMs?: number
  readonly answerBytesMax?: number
  /**
   * Statuses beside 200 that the asker understands, with the error, or one of those, that has to come
   * with them; null: any. All others are thrown as a `Problem`.
   */
  readonly expected?: Readonly<Record<number, string | readonly string[] | null>>
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface ServiceClientWorld extends NetworkPlace {
  readonly key: string | null
  readonly fetch: typeof fetch
}

const TIMEOUT_MS = 20_000
const ANSWER_BYTES_MAX = 1024 * 1024
const RETRY_AFTER_MS = 500
const BUSY: ReadonlySet<number> = new Set([502, 503, 504])

export function createServiceClient(world: ServiceClientWorld) {
  const { baseUrl, key } = world

  return async (question: Question): Promise<Answer> => {
    const answer = await once(question).catch((error: unknown) => error)
    const isRetried = question.method !== 'POST' && deservesAnotherTry(answer)
    if (isRetried) await wait(RETRY_AFTER_MS)
    const last = isRetried ? await once(question).catch((error: unknown) => error) : answer
    if (last instanceof Problem) throw last
    if (!isAnswer(last)) throw networkProblem(last, world)
    if (last.status === 200 || isExpected(last, question)) return last
    throw refusalOf(last, baseUrl)
  }

  async function once(question: Question): Promise<Answer> {
    const { method = 'GET', path, body, timeoutMs = TIMEOUT_MS } = question
    const { key: keyPlace = 'header', answerBytesMax = ANSWER_BYTES_MAX } = question
    const url = new URL(`${baseUrl}${path}`)
    const headers = new Headers({ accept: '*/*', 'user-agent': `service-analyzer/${VERSION}` })
    if (key !== null && keyPlace === 'header') headers.set('authorization', `Bearer ${key}`)
    if (key !== null && keyPlace === 'query') url.searchParams.set('api_key', key)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const answer = await world.fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual', // the key goes nowhere else
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await readBounded(answer, answerBytesMax, baseUrl)
    return { status: answer.status, headers: answer.headers, text }
  }
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && 'status' in value && 'text' in value
}

function isExpected({ status, text }: Answer, { expected }: Question): boolean {
  const errors = expected?.[status]
  if (errors === null || errors === undefined) return errors === null
  return [errors].flat().includes(String(objectIn(text)?.['error']))
}

/** What may be over in a moment; a certificate or a time-out is not. */
function deservesAnotherTry(result: unknown): boolean {
  if (isAnswer(result)) return BUSY.has(result.status)
  if (result instanceof Problem || isTlsProblem(result)) return false
  return (result as Error).name !== 'TimeoutError'
}

/** The body of an answer, and not one byte more than is to be held. */
export async function readBounded(
  answer: Response,
  bytesMax: number,
  baseUrl: string,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) {
      const megabytes = Math.round(bytesMax / 1024 / 1024)
      throw notTheService(baseUrl, `returned more than ${megabytes} MiB`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

export function notTheService(baseUrl: string, says: string): Problem {
  return new Problem(
    'not_the_service',
    `${baseUrl} ${says}, so it does not seem to be the service.`,
    `Check SERVICE_BASE_URL: curl -i ${baseUrl}/api/v1/contract should return 200 with JSON.`,
  )
}

/** An object, or a `Problem`. */
export function jsonOf({ status, text }: Answer, baseUrl: string): Record<string, unknown> {
  const body = objectIn(text)
  if (body === null) throw notTheService(baseUrl, `returned ${status} without JSON`)
  return body
}

function refusalOf(answer: Answer, baseUrl: string): Problem {
  const { status, headers } = answer
  if (status >= 300 && status < 400) return redirected(answer, baseUrl)
  const body = objectIn(answer.text)
  const code = plainText(body?.['error'])
  const detail = plainText(body?.['detail']).slice(0, 500)
  if (status === 401)
    return new Problem(
      'key_refused',
      `${baseUrl} does not accept the analyzer key.`,
      "It may have been rotated. Copy the current one from your tenant's integration page.",
      'Then: service-analyzer login, or set SERVICE_ANALYZER_KEY.',
    )
  if (status === 429)
    return new Problem(
      'rate_limited',
      'Too many requests to the service.',
      `Wait ${waitOf(headers.get('retry-after'))} and try again.`,
    )
  if (status === 404 && (code === '' || code === 'not_found'))
    return new Problem(
      'not_the_service',
      `${baseUrl} does not know this call: it is an older version than this program (${VERSION}), or not the service.`,
      `Check SERVICE_BASE_URL, or install the matching version: curl -fsS ${baseUrl}/api/v1/cli/install | sh`,
    )
  if (body === null) return notTheService(baseUrl, `returned ${status} without JSON`)
  const requestId = plainText(headers.get('x-request-id') ?? '').slice(0, 100)
  return new Problem(
    status >= 500 ? 'service_failed' : 'service_refused',
    `The service returned ${status}: ${detail === '' ? 'no reason given' : detail}`,
    requestId === '' ? '' : `Ask the operator of the service about request ${requestId}.`,
  )
}

/** Named only where it leads to the same host: nobody is sent elsewhere with a key. */
function redirected({ status, headers }: Answer, baseUrl: string): Problem {
  const from = new URL(baseUrl)
  const location = headers.get('location') ?? ''
  const to = URL.canParse(location, baseUrl) ? new URL(location, baseUrl) : undefined
  const isSafer = to?.hostname === from.hostname && to.protocol === 'https:'
  return new Problem(
    'not_the_service',
    `${baseUrl} redirects (${status}), and the key is not sent to another address.`,
    isSafer
      ? `Try: export SERVICE_BASE_URL=${to.origin}`
      : 'Set SERVICE_BASE_URL to the final address of the service.',
  )
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function waitOf(header: string | null): string {
  const text = plainText(header ?? '')
  if (/^\d{1,6}$/.test(text)) return `${text} s`
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? '60 s' : `until ${new Date(atMs).toISOString()}`
}
