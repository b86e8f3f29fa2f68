/** Whatever way an application writes the head of its answer, both have what is theirs. */
import { createServer, type RequestListener } from 'node:http'
import t from 'tap'
import { ask, cacheIn, cookiesIn, forward, serviceOf } from '../../../support/own-guard.ts'

const COOKIE = 'service_seen=x; Path=/'

const WRITERS: Record<string, { writer: RequestListener; cookies: string[]; cache: string }> = {
  'sets nothing': { writer: (_q, r) => void r.end('x'), cookies: [COOKIE], cache: 'private' },
  'writes at once': { writer: (_q, r) => void (r.write('x'), r.end()), cookies: [COOKIE], cache: 'private' }, // prettier-ignore
  'flushes its head': { writer: (_q, r) => void (r.flushHeaders(), r.end('x')), cookies: [COOKIE], cache: 'private' }, // prettier-ignore
  'sets one by one': {
    writer: (_q, r) => void r.setHeader('Set-Cookie', 'own=1').setHeader('cache-control', 'no-cache').end(), // prettier-ignore
    cookies: ['own=1', COOKIE],
    cache: 'no-cache, private',
  },
  'appends its own': {
    writer: (_q, r) => void r.appendHeader('Set-Cookie', 'own=1').appendHeader('Set-Cookie', 'own=2').end(), // prettier-ignore
    cookies: ['own=1', 'own=2', COOKIE],
    cache: 'private',
  },
  'writes an object': {
    writer: (_q, r) => void r.writeHead(200, FROZEN).end(),
    cookies: ['own=1', COOKIE],
    cache: 'max-age=5, private',
  },
  'writes an object with a reason, over what it set': {
    writer: (_q, r) => void r.setHeader('Set-Cookie', 'lost=1').writeHead(200, 'Fine', { 'Set-Cookie': ['own=1', 'own=2'] }).end(), // prettier-ignore
    cookies: ['own=1', 'own=2', COOKIE],
    cache: 'private',
  },
  'writes an object beside what it set': {
    writer: (_q, r) => void r.setHeader('Set-Cookie', 'own=1').setHeader('Cache-Control', 'no-store').writeHead(200, { a: 'b' }).end(), // prettier-ignore
    cookies: ['own=1', COOKIE],
    cache: 'no-store',
  },
  'writes a list': {
    writer: (_q, r) => void r.writeHead(200, ['Set-Cookie', 'own=1', 'X-A', 'b', 'set-cookie', 'own=2']).end(), // prettier-ignore
    cookies: ['own=1', 'own=2', COOKIE],
    cache: 'private',
  },
  'writes a list beside what it set': {
    writer: (_q, r) => void r.setHeader('Set-Cookie', 'own=1').writeHead(200, ['X-A', 'b']).end(),
    cookies: ['own=1', COOKIE],
    cache: 'private',
  },
  'writes pairs': {
    writer: (_q, r) => void r.writeHead(200, [['Set-Cookie', 'own=1'], ['Set-Cookie', 'own=2']] as never).end(), // prettier-ignore
    cookies: ['own=1', 'own=2', COOKIE],
    cache: 'private',
  },
  'says public': {
    writer: (_q, r) => void r.writeHead(200, { 'CACHE-control': 'public, max-age=5', 'Set-Cookie': 'own=1' }).end(), // prettier-ignore
    cookies: ['own=1'],
    cache: 'public, max-age=5',
  },
  'says s-maxage': {
    writer: (_q, r) => void r.setHeader('Cache-Control', 's-maxage=5').end(),
    cookies: [],
    cache: 's-maxage=5',
  },
  'lets a CDN have it': {
    writer: (_q, r) => void r.setHeader('CDN-Cache-Control', 'max-age=5').end(),
    cookies: [],
    cache: 'private',
  },
  'lets a CDN have it, all at once': {
    writer: (_q, r) => void r.writeHead(200, { 'surrogate-Control': 'max-age=5' }).end(),
    cookies: [],
    cache: 'private',
  },
  'forbids it to a CDN': {
    writer: (_q, r) => void r.writeHead(200, { 'CDN-Cache-Control': 'no-store' }).end(),
    cookies: [COOKIE],
    cache: 'private',
  },
  'is wrong at first': {
    writer: (_q, r) => {
      try {
        r.writeHead(200, { 'X-Bad': 'a\nb', 'Set-Cookie': 'own=1' })
      } catch {
        r.writeHead(500, { 'Set-Cookie': 'own=2' }).end()
      }
    },
    cookies: ['own=2', COOKIE],
    cache: 'private',
  },
  'has a wrong status at first': {
    writer: (_q, r) => {
      try {
        r.setHeader('Set-Cookie', 'own=1').writeHead(9999)
      } catch {
        r.writeHead(500).end()
      }
    },
    cookies: ['own=1', COOKIE],
    cache: 'private',
  },
  'is hooked by others as well': {
    writer: (_q, r) => {
      const before = r.writeHead as (...given: unknown[]) => typeof r
      r.writeHead = (...given: unknown[]) => {
        r.setHeader('Set-Cookie', 'theirs=1')
        return before.apply(r, given)
      }
      r.end('x')
    },
    cookies: ['theirs=1', COOKIE],
    cache: 'private',
  },
}
const FROZEN = Object.freeze({ 'Set-Cookie': 'own=1', 'Cache-Control': 'max-age=5' })

t.test('whatever way an application writes its head, both have what is theirs', async (t) => {
  const service = serviceOf(() => forward({ privateCookies: [COOKIE] }))
  for (const [what, { writer, cookies, cache }] of Object.entries(WRITERS)) {
    const { head } = await ask(t, createServer(service.node(writer as never)))
    t.same(cookiesIn(head), cookies, what)
    t.equal(cacheIn(head), cache, what)
  }
  const nobody = serviceOf(() => forward({ identity: undefined }))
  const { head } = await ask(t, createServer(nobody.node((_request, response) => response.end())))
  t.equal(cacheIn(head), '', 'without a user nothing is added')
})
