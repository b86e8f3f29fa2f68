/** The service's own API, called as a customer would call it. */
export interface ApiClient {
  request(method: string, path: string, body?: unknown): Promise<ApiAnswer>
}

interface ApiAnswer {
  readonly status: number
  readonly body: Record<string, unknown>
}

const TIMEOUT_MS = 30_000

export function createApiClient(baseUrl: string, key: string): ApiClient {
  return {
    async request(method, path, body) {
      const answer = await fetch(`${baseUrl}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const text = await answer.text()
      const parsed = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
      return { status: answer.status, body: parsed }
    },
  }
}

/** An answer that was not hoped for, with what the API says about it. */
export function expectStatus(answer: ApiAnswer, what: string, ...statuses: number[]): ApiAnswer {
  if (statuses.includes(answer.status)) return answer
  throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
}
