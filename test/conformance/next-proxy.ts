/**
 * What Next.js is to a proxy.ts: it takes the request apart, and the line as it came is not left,
 * and the address of the client only in X-Forwarded-For. So this target has to do what the edge does with the request that
 * is left: the application routes by that one, and nothing else of it can be read any more. The
 * real Next.js, which takes a minute to build, is in test/control-plane/api/snippets.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { Service } from '../../control-plane/downloads/sdk-node/published.ts'
import { HOST } from '../support/edge-world.ts'
import type { Application } from './applications.ts'
import type { Arrivals } from './target.ts'

const headersForApplication = new WeakMap<Response, Headers>()
/** Stands for `NextResponse`: the request goes on, with these headers. */
const NextResponse = {
  next({ request }: { request: { headers: Headers } }): Response {
    const response = new Response(null)
    headersForApplication.set(response, request.headers)
    return response
  },
}

export function nextProxy(service: Service, arrivals: Arrivals): Application {
  const proxy = service.next(NextResponse)
  const server = createServer((incoming, outgoing) => {
    const request = requestOf(incoming)
    if (request === undefined) return void outgoing.writeHead(400).end()
    void proxy(request).then(async (response) => {
      const headers = headersForApplication.get(response)
      const { pathname, search } = new URL(request.url)
      if (headers !== undefined)
        arrivals.push({
          method: request.method,
          target: pathname + search,
          rawHeaders: [...headers].flat(),
          shown: Object.fromEntries(headers),
          user: undefined, // whoever it is comes in the headers only
        })
      for (const [name, value] of response.headers)
        if (name === 'set-cookie') outgoing.appendHeader(name, value)
        else outgoing.setHeader(name, value)
      outgoing.statusCode = response.status
      outgoing.end(headers === undefined ? await response.text() : 'ok')
    })
  })
  return { server }
}

function requestOf({
  method = '',
  url = '',
  headers,
  socket,
}: IncomingMessage): Request | undefined {
  const address = addressOf(url)
  if (address === undefined || method === 'TRACE') return undefined
  // without a trusted proxy of its own in front nothing can be believed of where a request came from
  const forwarded = { 'x-forwarded-for': socket.remoteAddress ?? '' }
  return new Request(address, {
    method,
    headers: { ...(headers as Record<string, string>), ...forwarded },
  })
}

function addressOf(target: string): URL | undefined {
  const text = `http://${HOST}${target}`
  return target.startsWith('/') && URL.canParse(text) ? new URL(text) : undefined
}

/** The request that is left of this one; undefined where none is. */
export function leftOf(ask: string): string | undefined {
  const [line = '', ...lines] = ask.trimStart().split('\r\n')
  const [method = '', target = '', version = ''] = line.split(' ')
  const address = addressOf(target)
  if (address === undefined || method === 'TRACE') return undefined
  // of these Node keeps the first, and the application sees no other
  const left = [/^host:/i, /^authorization:/i].reduce((kept, once) => {
    const first = kept.findIndex((header) => once.test(header))
    return kept.filter((header, at) => !once.test(header) || at === first)
  }, lines)
  return [`${method} ${address.pathname}${address.search} ${version}`, ...left].join('\r\n')
}
