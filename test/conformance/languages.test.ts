/** Pages on a tenant's own hostname are written in the language that the browser asks for. */
import t from 'tap'
import { SESSION_ENDED } from '../../shared/sign-in/session-ended.ts'
import { SIGNED_OUT } from '../../shared/sign-in/signed-out-url.ts'
import type { Target } from './target.ts'
import { isEdge } from './wire-differences.ts'
import { headOf, startWorld } from './world.ts'

const GERMAN = 'Accept-Language: fr, de-AT;q=0.8, en;q=0.5'
const headerOf = ({ headers }: Awaited<ReturnType<Target['ask']>>, wanted: string) =>
  headers.find(([name]) => name === wanted)?.[1]

t.test('refusals and the pages around the sign-in are German for who reads German', async (t) => {
  const world = await startWorld(t)
  const page = (target: string, cookie = '', lines = [GERMAN]) =>
    headOf({ target, as: 'navigation', cookie, lines })
  for (const target of world.targets) {
    const read = async (...asked: Parameters<typeof page>) => {
      const { status, body } = await target.ask(page(...asked))
      return `${status} ${/<html lang="(..)">[^]*<h1>(.*)<\/h1>/.exec(body)?.slice(1).join(' ')}`
    }
    const says = async (wanted: string, ...asked: Parameters<typeof page>) =>
      t.equal(await read(...asked), wanted, `${target.name}: ${asked[0]}`)
    await says('404 de Seite nicht gefunden', '/admin/users')
    await says('404 en Page not found', '/admin/users', '', [])
    await says('404 en Page not found', '/admin/users', '', ['Accept-Language: de;q=0, en'])
    await says('508 de Die Anmeldung wiederholt sich', '/service/login', 'service_hops=8')
    await says('200 de Sie sind abgemeldet', '/service/logout')
    await says('200 de Sie sind abgemeldet', `/service/logout?${SIGNED_OUT}`)
    await says('200 en You&#39;re signed out', `/service/logout?${SIGNED_OUT}`, '', [])
  }
})

t.test('a request that cannot be read is a page for people, and JSON for programs', async (t) => {
  const world = await startWorld(t)
  const long = `/${'a'.repeat(9000)}`
  for (const target of world.targets) {
    for (const [path, title, code] of [
      // Fastify's own router refuses it, before anybody of ours is asked
      ...(/Fastify/.test(target.name)
        ? []
        : [['/%zz', 'Ungültige Adresse', 'bad_target'] as const]),
      [long, 'Adresse zu lang', 'target_too_long'],
    ] as const) {
      const asked = { target: path, lines: [GERMAN] }
      const page = await target.ask(headOf({ ...asked, as: 'navigation' }))
      t.match(page.body, new RegExp(`lang="de"[^]*<h1>${title}[^]*${code}`), target.name)
      t.equal(headerOf(page, 'content-type'), 'text/html; charset=utf-8', target.name)
      const program = await target.ask(headOf(asked))
      t.match(JSON.parse(program.body), { error: code }, target.name)
    }
    const posted = { target: '/service/login', method: 'POST', lines: [GERMAN] }
    const page = await target.ask(headOf({ ...posted, as: 'navigation' }))
    t.match(page, { status: 405, body: /lang="de"[^]*So lässt sich diese Seite/ }, target.name)
    const program = await target.ask(headOf(posted))
    t.match(JSON.parse(program.body), { error: 'method_not_allowed' }, target.name)
  }
})

t.test(
  'a suspended tenant says so in German, and programs read what they always read',
  async (t) => {
    const world = await startWorld(t, { state: { status: 'suspended' } })
    for (const target of world.targets) {
      const page = await target.ask(headOf({ as: 'navigation', lines: [GERMAN] }))
      t.match(page, { status: 503, body: /lang="de"[^]*Vorübergehend ausgesetzt/ }, target.name)
      const { body } = await target.ask(headOf({ lines: [GERMAN] }))
      t.match(JSON.parse(body), { error: 'suspended', detail: /currently suspended/ }, target.name)
    }
  },
)

t.test('the page of the sign-out ends nothing, and hides no session', async (t) => {
  const world = await startWorld(t)
  const cookie = world.session({ sid: 'stays' })
  const lines = ['Sec-Fetch-Site: cross-site']
  const target = `/service/logout?${SIGNED_OUT}`
  for (const one of world.targets) {
    const asked = await one.ask(headOf({ target, as: 'navigation', cookie, lines }))
    t.match(asked, { status: 200, body: /<small hidden>confirm_logout/ }, one.name)
    const nobody = await one.ask(headOf({ target, as: 'navigation', lines }))
    t.match(nobody, { status: 200, body: /<small hidden>signed_out/ }, one.name)
    t.equal(headerOf(nobody, 'set-cookie'), undefined, one.name)
    t.equal((await one.ask(headOf({ cookie }))).status, 200, `${one.name}: signed in still`)
  }
})

t.test('whoever signs in because a session has ended is told so by the realm', async (t) => {
  const world = await startWorld(t)
  const endingTold = async (target: Target, cookie: string) => {
    const answer = await target.ask(headOf({ target: '/service/login', as: 'navigation', cookie }))
    return new URL(headerOf(answer, 'location') ?? '').searchParams.get(SESSION_ENDED)
  }
  for (const target of world.targets) {
    t.equal(await endingTold(target, ''), null, `${target.name}: nobody`)
    t.equal(await endingTold(target, world.session()), null, `${target.name}: signed in`)
    const idle = world.session({ seenAgoSeconds: 1000 })
    t.equal(await endingTold(target, idle), 'expired', `${target.name}: idle`)
    t.equal(
      await endingTold(target, 'service_seen=x'),
      'expired',
      `${target.name}: the browser has let the session go, and not its companion`,
    )
  }
})

t.test('/service/me: the session, and the way to the account', async (t) => {
  const world = await startWorld(t)
  const cookie = world.session()
  const me = (head: Partial<Parameters<typeof headOf>[0]>) =>
    headOf({ target: '/service/me', ...head })
  for (const target of world.targets) {
    const isAtEdge = isEdge(target.name)
    const told = await target.ask(me({ cookie }))
    t.equal(told.status, 200, target.name)
    t.match(JSON.parse(told.body), {
      tenant_id: 'app',
      user_id: 'ada',
      sessions: null,
      account_url: /^http.*\/account$/,
    })
    const page = await target.ask(me({ cookie, as: 'navigation', lines: [GERMAN] }))
    if (isAtEdge) t.match(page, { status: 200, body: /lang="de"[^]*Sie sind bei App angemeldet/ })
    else {
      t.equal(page.status, 303, target.name)
      t.match(headerOf(page, 'location'), /^http.*\/account$/, target.name)
    }
    const nobody = await target.ask(me({ as: 'navigation' }))
    t.equal(nobody.status, 302, target.name)
    t.equal(headerOf(nobody, 'location'), '/service/login?returnTo=%2Fservice%2Fme', target.name)
    t.match(await target.ask(me({})), { status: 401, body: /no_session/ }, target.name)
    const put = await target.ask(me({ method: 'PUT', cookie, lines: ['Content-Length: 0'] }))
    t.match(put, { status: 405, body: /method_not_allowed/ }, target.name)
  }
})
