/**
 * A browser without a screen: cookies per host, redirects, forms. Every host is on this machine, as
 * `*.localhost` is for a real one.
 */
import { Agent, request } from 'undici'

export interface Visit {
  readonly url: string
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

export interface VisitOptions {
  readonly method?: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

interface Cookie {
  readonly value: string
  readonly path: string
}

const REDIRECTS_MAX = 15

export class Browser {
  /** By host, then by name and path. */
  readonly cookies = new Map<string, Map<string, Cookie>>()
  userAgent = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36'
  readonly #agent = new Agent({
    connect: {
      lookup: (_host, options, done) => {
        if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }])
        else done(null, '127.0.0.1', 4)
      },
    },
  })

  /** One request as a navigation, without following. */
  async once(url: string, options: VisitOptions = {}): Promise<Visit> {
    const { method = 'GET', body, headers = {} } = options
    const target = new URL(url)
    const cookie = this.#cookiesFor(target)
    const answer = await request(url, {
      dispatcher: this.#agent,
      method: method as 'GET',
      body: body ?? null,
      headers: {
        accept: 'text/html,application/xhtml+xml',
        'user-agent': this.userAgent,
        'sec-fetch-mode': 'navigate',
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
    })
    this.#remember(target, answer.headers['set-cookie'])
    const text = await answer.body.text()
    return { url, status: answer.statusCode, headers: answer.headers, text }
  }

  /** Follows redirects as a browser does, to a page. */
  async open(url: string, options: VisitOptions = {}): Promise<Visit> {
    let visit = await this.once(url, options)
    for (let hops = 0; visit.status >= 300 && visit.status < 400; hops++) {
      const location = visit.headers['location']
      if (typeof location !== 'string' || hops === REDIRECTS_MAX) break
      visit = await this.once(new URL(location, visit.url).href)
    }
    return visit
  }

  /** Fills in the first form of a page and sends it. */
  async submit(page: Visit, fields: Record<string, string>): Promise<Visit> {
    const form = /<form[^>]*>.*?(?:<\/form>|$)/s.exec(page.text)?.[0] ?? ''
    const action = unescape(/\baction="([^"]*)"/.exec(form)?.[1] ?? '')
    const hidden = [...form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([input]) => [
      unescape(/\bname="([^"]*)"/.exec(input)?.[1] ?? ''),
      unescape(/\bvalue="([^"]*)"/.exec(input)?.[1] ?? ''),
    ])
    const body = new URLSearchParams([...hidden, ...Object.entries(fields)] as [string, string][])
    const url = new URL(action, page.url)
    const headers = { origin: url.origin, 'sec-fetch-site': 'same-origin' }
    return this.open(url.href, { method: 'POST', body: body.toString(), headers })
  }

  async signIn(url: string, username: string, password: string): Promise<Visit> {
    return this.submit(await this.open(url), { username, password })
  }

  /** A request of a script on the page: no navigation. */
  fetch(url: string, options: VisitOptions = {}): Promise<Visit> {
    const headers = { accept: 'application/json', 'sec-fetch-mode': 'cors', ...options.headers }
    return this.once(url, { ...options, headers })
  }

  cookie(host: string, name: string): string | undefined {
    for (const [key, { value }] of this.cookies.get(host) ?? [])
      if (key.startsWith(`${name} `)) return value
    return undefined
  }

  setCookie(host: string, name: string, value: string, path = '/') {
    const jar = this.cookies.get(host) ?? new Map<string, Cookie>()
    this.cookies.set(host, jar.set(`${name} ${path}`, { value, path }))
  }

  forget(host: string) {
    this.cookies.delete(host)
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  #cookiesFor({ hostname, pathname }: URL): string {
    const jar = [...(this.cookies.get(hostname) ?? [])]
    return jar
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(([key, { value }]) => `${key.slice(0, key.indexOf(' '))}=${value}`)
      .join('; ')
  }

  #remember({ hostname }: URL, lines: string | string[] | undefined) {
    for (const line of [lines ?? []].flat()) {
      const [pair = '', ...attributes] = line.split(/;\s*/)
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/'
      const isOver = attributes.some((attribute) => /^max-age=0$|^expires=.*1970/i.test(attribute))
      const name = pair.slice(0, pair.indexOf('='))
      if (isOver) this.cookies.get(hostname)?.delete(`${name} ${path}`)
      else this.setCookie(hostname, name, pair.slice(pair.indexOf('=') + 1), path)
    }
  }
}

function unescape(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}
