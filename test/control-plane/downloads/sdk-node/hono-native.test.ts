/**
 * Hono on @hono/node-server: whatever somebody did with the request before the guard, and however
 * the application reads it afterwards, it is told of the verified user and of nobody else. The
 * standard's Request is made on demand there, with a copy of the headers as they came.
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono, type Context, type Env } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { logger } from 'hono/logger'
import t from 'tap'
import { verifyClaims } from '../../../../control-plane/downloads/sdk-node/index.ts'
import type { Guard } from '../../../../control-plane/downloads/sdk-node/guard.ts'
import { createService } from '../../../../control-plane/downloads/sdk-node/service.ts'
import { claimsWorld, tokenOf } from '../../../support/claims.ts'

/** What stands before the guard. */
const EARLIER: Readonly<Record<string, (c: Context<Env, string>) => unknown>> = {
  nothing: () => undefined,
  'a header': (c) => c.req.header('a'),
  'all headers': (c) => c.req.header(),
  'raw.headers': (c) => c.req.raw.headers.get('a'),
  'raw.signal': (c) => c.req.raw.signal,
  'raw.clone()': (c) => c.req.raw.clone(),
  'raw.body': (c) => c.req.raw.body,
  'raw.cache': (c) => c.req.raw.cache,
  'text()': (c) => c.req.text(),
  'arrayBuffer()': (c) => c.req.arrayBuffer(),
  'a body limit': (c) => bodyLimit({ maxSize: 1000 })(c, async () => undefined),
  'a logger': (c) => logger(() => undefined)(c, async () => undefined),
  'another Request': (c) => (c.req.raw = new Request(c.req.raw)),
  'another Request, with headers': (c) =>
    (c.req.raw = new Request(c.req.raw, { headers: new Headers(c.req.raw.headers) })),
}

/** How the application reads it. */
const LATER: Readonly<Record<string, (c: Context<Env, string>) => Headers>> = {
  'req.header()': (c) => new Headers(c.req.header()),
  'raw.headers': (c) => c.req.raw.headers,
  'raw.clone()': (c) => c.req.raw.clone().headers,
  'raw.clone().clone()': (c) => c.req.raw.clone().clone().headers,
  'new Request(raw)': (c) => new Request(c.req.raw).headers,
  'new Request(raw, init)': (c) => new Request(c.req.raw, { method: 'GET' }).headers,
  'new Request(url, raw)': (c) =>
    new Request('http://inside/', { headers: c.req.raw.headers }).headers,
}

/** Only the first body of the two can be read, and undici says so itself. */
const isUsedUp = (error: unknown) =>
  error instanceof TypeError && /unusable|already been (?:used|read)|disturbed|locked|with GET\/HEAD method/i.test(error.message) // prettier-ignore

async function told(service: ReturnType<typeof verifyClaims>, isSigned: boolean) {
  const app = new Hono()
  app.use(async (c, next) => {
    await EARLIER[c.req.query('earlier') ?? '']!(c)
    await next()
  })
  app.use(service.hono() as never)
  app.all('/told', (c) => {
    try {
      return c.json([...LATER[c.req.query('later') ?? '']!(c)])
    } catch (error) {
      if (!isUsedUp(error)) throw error
      return c.json(null)
    }
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const headers: [string, string][] = [
    ['X-Service-User', 'root'],
    ['X_Service_User', 'root'],
    ['SCRIPT_NAME', '/root'],
    ['X-Original-URL', '/root'],
    ['Cookie', 'service_seen=root; own=1'],
    ...(isSigned ? [['X-Service-Claims', tokenOf()] as [string, string]] : []),
  ]
  return {
    server,
    async ask(earlier: string, later: string, init: RequestInit) {
      const query = new URLSearchParams({ earlier, later })
      const answer = await fetch(`http://127.0.0.1:${port}/told?${query.toString()}`, {
        ...init,
        headers,
      })
      const text = await answer.text()
      return { status: answer.status, text }
    },
  }
}

for (const isSigned of [true, false])
  t.test(isSigned ? 'somebody who is signed in' : 'nobody, on an excluded path', async (t) => {
    const excluded = isSigned ? [] : ['/told']
    const { server, ask } = await told(
      verifyClaims({ ...claimsWorld().options, excluded }),
      isSigned,
    )
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    let read = 0
    for (const earlier of Object.keys(EARLIER))
      for (const later of Object.keys(LATER))
        for (const init of [{}, { method: 'POST', body: 'a=1' }]) {
          const { status, text } = await ask(earlier, later, init)
          const name = `${init.method ?? 'GET'}: ${earlier}, then ${later}`
          if (status !== 200 || text.includes('root')) t.fail(name, { status, text })
          if (text === 'null') continue
          const seen = new Map(JSON.parse(text) as [string, string][])
          if (seen.get('x-service-user') !== (isSigned ? 'usr_ada' : undefined))
            t.fail(name, { text })
          if (seen.get('cookie') !== 'own=1') t.fail(name, { text })
          read++
        }
    const all = 2 * Object.keys(EARLIER).length * Object.keys(LATER).length
    t.ok(read > all * 0.8, `${read} of ${all} could be read, the others had used up the body`)
  })

const GUARD: Guard = {
  judge: ({ target }) => ({
    kind: 'forward',
    target,
    identity: { token: 'a.b.c', claims: { sub: 'usr_ada' } as never },
    isForeignPage: false,
    privateCookies: [],
  }),
  ready: async () => {},
  close: async () => {},
}

t.test(
  'where a runtime lets nobody change headers, the application gets another request',
  async (t) => {
    const app = new Hono()
    app.use(createService(GUARD).hono() as never)
    app.all('/', async (c) => c.json({ headers: [...c.req.raw.headers], body: await c.req.text() }))
    const refuse = () => {
      throw new TypeError('immutable')
    }
    const request = new Request('http://app.test/', {
      method: 'POST',
      body: 'kept',
      headers: { 'X-Service-User': 'root', 'X-Kept': '1' },
    })
    Object.assign(request.headers, { set: refuse, delete: refuse, append: refuse })
    const seen = (await (await app.request(request)).json()) as {
      headers: [string, string][]
      body: string
    }
    t.match(Object.fromEntries(seen.headers), { 'x-service-user': 'usr_ada', 'x-kept': '1' })
    t.equal(seen.body, 'kept')
  },
)

t.test('a server that keeps requests in a way that nobody knows is refused', async (t) => {
  const app = new Hono()
  app.onError((error, c) => c.text(error.message, 500))
  app.use(createService(GUARD).hono() as never)
  app.all('/', () => t.fail('it was reached') as never)
  const incoming = { url: '/', headers: {}, rawHeaders: [], method: 'GET', socket: {} }
  const unknown = { url: 'http://app.test/', method: 'GET', headers: new Headers() }
  const answer = await app.fetch(unknown as never, { incoming, outgoing: {} })
  t.equal(answer.status, 500)
  t.match(await answer.text(), /this @hono\/node-server version is not supported/)
})
