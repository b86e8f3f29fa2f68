/**
 * A browser without a screen, for one sign-in: it keeps cookies, and goes where it is told. It
 * follows no redirect by itself, since each of them is something to be judged.
 */
import { Agent, getSetCookies } from 'undici'
import { isThisMachine } from '../../shared/hosts.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createEdgeLookup } from '../outbound/edge-lookup.ts'
import { problemOf, PROBLEMS, type Problem } from './probe-client.ts'

export interface Page {
  readonly kind: 'page'
  readonly url: string
  readonly status: number
  /** Where it redirects to, whole; undefined where it does not. */
  readonly location: string | undefined
  readonly text: string
}

export interface NoPage {
  readonly kind: 'no_page'
  readonly url: string
  readonly problem: Problem
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly hostname: string
  readonly path: string
}

export interface TrialBrowser {
  open(url: string, form?: Readonly<Record<string, string>>): Promise<Page | NoPage>
  cookie(url: string, name: string): string | undefined
  /** Another one with the same cookies, as somebody would have who copied them. */
  copy(): TrialBrowser
}

const USER_AGENT = 'Mozilla/5.0 (compatible; Service-Verify/1)'

export function createTrialAgent(timeoutMs: number): Agent {
  return new Agent({
    connect: { timeout: timeoutMs, lookup: createEdgeLookup() },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
}

interface TrialBrowserWorld {
  readonly agent: Agent
  /** Ends all of it, whatever is under way. */
  readonly signal: AbortSignal
  readonly nowMs: () => number
}

export function createTrialBrowser(
  world: TrialBrowserWorld,
  kept: readonly Cookie[] = [],
): TrialBrowser {
  const { agent, signal, nowMs } = world
  let cookies = [...kept]

  const cookiesFor = (url: URL) =>
    cookies.filter(({ hostname, path }) => hostname === url.hostname && isUnder(url.pathname, path))

  function remember(url: URL, headers: Headers) {
    for (const cookie of getSetCookies(headers)) {
      const { name, value, path = '/', maxAge, expires, secure } = cookie
      if (secure === true && !isTrustworthy(url)) continue
      const isSame = (cookie: Cookie) =>
        cookie.name === name && cookie.hostname === url.hostname && cookie.path === path
      cookies = cookies.filter((cookie) => !isSame(cookie))
      const isOver = maxAge !== undefined ? maxAge <= 0 : Number(expires ?? Infinity) <= nowMs()
      if (!isOver) cookies.push({ name, value, hostname: url.hostname, path })
    }
    cookies = cookies.slice(-LIMITS.signInTrialCookiesMax)
  }

  return {
    async open(address, form) {
      const url = new URL(address)
      const cookie = cookiesFor(url).map(({ name, value }) => `${name}=${value}`)
      try {
        const answer = await agent.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: form === undefined ? 'GET' : 'POST',
          headers: {
            'user-agent': USER_AGENT,
            accept: 'text/html,application/xhtml+xml',
            'accept-language': 'en',
            'sec-fetch-mode': 'navigate',
            'sec-fetch-dest': 'document',
            'sec-fetch-site': form === undefined ? 'none' : 'same-origin',
            ...(cookie.length > 0 && { cookie: cookie.join('; ') }),
            ...(form !== undefined && {
              origin: url.origin,
              'content-type': 'application/x-www-form-urlencoded',
            }),
          },
          body: form === undefined ? null : new URLSearchParams(form).toString(),
          signal,
        })
        const headers = new Headers()
        for (const line of [answer.headers['set-cookie'] ?? []].flat())
          headers.append('set-cookie', line)
        remember(url, headers)
        const { location } = answer.headers
        const isRedirect = answer.statusCode >= 300 && answer.statusCode < 400
        return {
          kind: 'page',
          url: address,
          status: answer.statusCode,
          location:
            isRedirect && typeof location === 'string' ? whole(location, address) : undefined,
          text: await readBounded(answer.body),
        }
      } catch (error) {
        const problem = problemOf(error as NodeJS.ErrnoException)
        return { kind: 'no_page', url: address, problem }
      }
    },
    cookie: (url, name) => cookiesFor(new URL(url)).find((cookie) => cookie.name === name)?.value,
    copy: () => createTrialBrowser(world, cookies),
  }
}

/** Where browsers keep Secure cookies: encrypted, or on the machine itself. */
function isTrustworthy({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isThisMachine(hostname)
}

/** RFC 6265, section 5.1.4. */
function isUnder(pathname: string, path: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
}

function whole(location: string, base: string): string | undefined {
  return URL.canParse(location, base) ? new URL(location, base).href : undefined
}

/** Our own pages are far smaller; of somebody else's the beginning is enough. */
async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > LIMITS.signInTrialPageBytesMax) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Whether a redirect goes to this address, to one below it, or to it with a query. */
export function leadsTo(location: string | undefined, address: string): location is string {
  const wanted = new URL(address).href.replace(/\/$/, '') // as a browser spells it
  if (location?.startsWith(wanted) !== true) return false
  return location.length === wanted.length || '/?'.includes(location.charAt(wanted.length))
}

/** As it completes «https://app.example.com/ …». */
export function describePage(page: Page | NoPage): string {
  if (page.kind === 'no_page') return `cannot be opened: ${PROBLEMS[page.problem]}`
  if (page.location === undefined) return `answers ${page.status}`
  const { origin, pathname } = new URL(page.location) // its query may hold a code
  return `answers ${page.status} and leads to ${origin}${pathname}`
}
