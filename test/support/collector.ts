/** A collector that speaks OTLP over HTTP in JSON, and answers as it is told. */
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { listening } from './wire.ts'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly status: { readonly code?: number }
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { key: string; value: Record<string, string> }[]
}

interface Body {
  resourceSpans: {
    resource: { attributes: Span['attributes'] }
    scopeSpans: { spans: Span[] }[]
  }[]
}

interface Answer {
  readonly status: number
  readonly retryAfter?: string
  /** It takes the spans and never says so. */
  readonly isSilent?: boolean
}

export async function startCollector(t: Test, answer: () => Answer = () => ({ status: 200 })) {
  const bodies: Body[] = []
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['content-type']}`)
    let body = ''
    request.on('data', (chunk: Buffer) => void (body += chunk.toString()))
    request.on('end', () => {
      const { status, retryAfter, isSilent = false } = answer()
      if (isSilent) return
      if (status === 200) bodies.push(JSON.parse(body) as Body)
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
      response.writeHead(status, headers).end('{}')
    })
  })
  const port = await listening(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const spans = () => bodies.flatMap(({ resourceSpans: [all] }) => all!.scopeSpans[0]!.spans)
  return { endpoint: `http://127.0.0.1:${port}`, spans, bodies, asked }
}

export const attributesOf = ({ attributes }: Pick<Span, 'attributes'>): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']))
