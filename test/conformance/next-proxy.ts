/**
 * What Next.js is to a proxy.ts: it takes the request apart, and neither the line as it came nor the
 * address of the client is left. So this target has to do what the edge does with the request that
 * is left: the application routes by that one, and nothing else of it can be read any more. The
 * real Next.js, which takes a minute to build, is in test/control-plane/api/snippets.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { Service } from '../../control-plane/downloads/sdk-node/service.ts'
import { networkOf } from '../../shared/enforcement/fingerprint.ts'
import { deriveKey, readSeen, writeSeen } from '../../shared/enforcement/seen.ts'
import { CLIENT_SECRET } from '../support/feed-service.ts'
import { HOST } from '../support/edge-world.ts'
import type { Application } from './applications.ts'
import type { Arrivals, Target } from './target.ts'

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

function requestOf({ method = '', url = '', headers }: IncomingMessage): Request | undefined {
  const address = addressOf(url)
  if (address === undefined || method === 'TRACE') return undefined
  return new Request(address, { method, headers: headers as Record<string, string> })
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
  const firstHost = lines.findIndex((header) => /^host:/i.test(header))
  const left = lines.filter((header, at) => !/^host:/i.test(header) || at === firstHost)
  return [`${method} ${address.pathname}${address.search} ${version}`, ...left].join('\r\n')
}

const HOME = networkOf('127.0.0.1')
const NOWHERE = networkOf('')
const KEY = deriveKey(CLIENT_SECRET, 'seen')

/** The same session, begun where no address is told, as all sessions are here. */
export function withoutAddress(ask: Target['ask']): Target['ask'] {
  return async (text) => {
    const sid = sidOf(text)
    const heard = await ask(moved(text, sid, HOME, NOWHERE))
    const headers = heard.headers.map(
      ([name, value]) => [name, moved(value, sid, NOWHERE, HOME)] as const,
    )
    return { ...heard, headers, arrived: heard.arrived }
  }
}

function moved(text: string, sid: string, from: string, to: string): string {
  return text.replace(
    /((?:__Host-)?service_seen)=([\w.-]+)/g,
    (whole, name: string, value: string) => {
      const seen = readSeen(value, sid, [KEY])
      if (seen === undefined || !seen.fingerprint.endsWith(`/${from}`)) return whole
      const fingerprint = seen.fingerprint.slice(0, -from.length) + to
      return `${name}=${writeSeen({ ...seen, fingerprint }, sid, KEY)}`
    },
  )
}

function sidOf(text: string): string {
  const payload = /service_session=[\w-]+\.([\w-]+)\./.exec(text)?.[1] ?? ''
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sid?: unknown }
    return String(claims.sid)
  } catch {
    return ''
  }
}
