/** Calls of the service's API: one question, one answer, and a sentence for everything else. */
import { VERSION } from '../../../shared/version.ts'
import { EXIT } from './commands.ts'
import type { AnalyzerSettings } from './settings.ts'
import { plainText } from './words.ts'

export interface Reply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface Api {
  /** Answers of 200 and 409; whatever else the service says is thrown as a `ServiceProblem`. */
  call(method: 'GET' | 'POST', path: string): Promise<Reply>
}

export class ServiceProblem extends Error {
  readonly exit: number
  readonly lines: readonly string[]

  constructor(exit: number, ...lines: string[]) {
    super(lines[0])
    this.exit = exit
    this.lines = lines.filter((line) => line !== '')
  }
}

/** A probe of many hostnames takes its time. */
const TIMEOUT_MS = 120_000
const ANSWER_CHARACTERS_MAX = 1024 * 1024

export function createApi({ baseUrl, key }: AnalyzerSettings, fetchNow: typeof fetch): Api {
  return {
    async call(method, path) {
      const answer = await ask(method, `${baseUrl}${path}`)
      const body = await readBody(answer, baseUrl)
      if (answer.status === 200 || answer.status === 409) return { status: answer.status, body }
      throw problemOf(answer, body, baseUrl)
    },
  }

  async function ask(method: string, url: string): Promise<Response> {
    try {
      return await fetchNow(url, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json',
          'user-agent': `service-analyzer/${VERSION}`,
        },
        redirect: 'manual', // the key goes nowhere else
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
    } catch (error) {
      throw new ServiceProblem(
        EXIT.unavailable,
        `${baseUrl} cannot be reached: ${reasonOf(error as Error)}.`,
        'Check SERVICE_BASE_URL and the way there: ' + `curl -i ${baseUrl}/health`,
      )
    }
  }
}

async function readBody(answer: Response, baseUrl: string): Promise<Record<string, unknown>> {
  const text = await answer.text().catch(() => '')
  try {
    const body = JSON.parse(text.slice(0, ANSWER_CHARACTERS_MAX)) as unknown
    if (typeof body === 'object' && body !== null) return body as Record<string, unknown>
  } catch {
    // told below
  }
  throw new ServiceProblem(
    EXIT.unavailable,
    `${baseUrl} answers ${answer.status}, but not as the service does.`,
    `Check SERVICE_BASE_URL: curl -i ${baseUrl}/api/v1/contract must answer 200 with JSON.`,
  )
}

function problemOf(
  { status, headers }: Response,
  body: Record<string, unknown>,
  baseUrl: string,
): ServiceProblem {
  const detail = plainText(body['detail'])
  const requestId = plainText(headers.get('x-request-id') ?? '')
  if (status === 401)
    return new ServiceProblem(
      EXIT.misused,
      `${baseUrl} does not accept the analyzer key.`,
      "Copy it from your tenant's integration page into SERVICE_ANALYZER_KEY; a key that was rotated is worth nothing any more.",
    )
  if (status === 429)
    return new ServiceProblem(
      EXIT.unavailable,
      'The service has been asked too often.',
      `Wait ${plainText(headers.get('retry-after') ?? '60')} s and try again.`,
    )
  return new ServiceProblem(
    EXIT.unavailable,
    `The service answers ${status}: ${detail === '' ? 'it does not say why' : detail}`,
    requestId === '' ? '' : `Ask its operator about request ${requestId}.`,
  )
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve',
  ECONNRESET: 'the connection breaks off',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return 'there is no answer in time'
  const { code = '' } = (error.cause ?? {}) as { code?: string }
  if (/CERT|SIGNED|UNABLE_TO_|TLS|SSL/.test(code))
    return `its TLS certificate is not accepted (${code}; set NODE_EXTRA_CA_CERTS for a CA of your own)`
  return REASONS[code] ?? (code === '' ? 'the connection fails' : `the connection fails (${code})`)
}
