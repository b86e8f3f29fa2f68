/** Cookies that a sibling host has set for the parent domain, beside or instead of one's own. */
import t from 'tap'
import type { Case } from './case.ts'
import { runTable } from './table.ts'
import { AS, headOf, HOST, startWorld } from './world.ts'

t.test('a session that was tossed in from a sibling host signs nobody in', async (t) => {
  const world = await startWorld(t, { address: `https://${HOST}` })
  const [own, tossed] = [world.session({ sid: 'own' }), world.session({ sid: 'evil', sub: 'eve' })]
  const plain = tossed.replace('__Host-', '')
  const [ownToken = '', ownSeen = ''] = own.split('; ')
  const [tossedToken = '', tossedSeen = ''] = tossed.split('; ')
  const asked = (cookie: string, reason: string): Case => ({
    name: reason,
    ask: headOf({ cookie }),
    required: { outcome: 'sign_in_401', reason: `sign_in_required: ${reason}`, application: null },
  })
  await runTable(t, world.targets, [
    asked(plain, 'seen_missing'),
    asked(`${tossedToken}; ${ownSeen}`, 'seen_missing'),
    asked(`${tossedToken}; ${tossedSeen.replace('__Host-', '')}; ${ownSeen}`, 'seen_missing'),
    asked(`${ownToken}; ${ownSeen}; ${tossedToken}`, 'session_repeated'),
    asked(`${tossedToken}; ${ownToken}; ${ownSeen}`, 'session_repeated'),
    asked(`${ownToken}; ${ownSeen}; ${tossedSeen}`, 'seen_missing'),
    {
      name: 'one’s own, beside a companion that anybody can set',
      ask: headOf({ cookie: `${own}; ${plain.split('; ')[1]}` }),
      required: { outcome: 'forward', application: { user: 'ada', cookies: ownToken } },
    },
    {
      name: 'a hop counter that anybody can set',
      ask: headOf({ target: '/service/login', as: 'navigation', cookie: 'service_hops=8' }),
      required: { outcome: 'service_302' },
    },
    {
      name: 'one’s own loop',
      ask: headOf({ target: '/service/login', as: 'navigation', cookie: '__Host-service_hops=8' }),
      required: { outcome: 'service_508', cookies: ['-__Host-service_hops'] },
    },
  ])
})

t.test('two session cookies end in one clear sign-in', async (t) => {
  for (const scheme of ['http', 'https']) {
    const world = await startWorld(t, { address: `${scheme}://${HOST}` })
    const [token = ''] = world.session().split('; ')
    const cookie = `${world.session()}; ${token}`
    const end = scheme === 'https' ? '; Secure' : ''
    const ended = (path: string) =>
      ['', `; Domain=${HOST}`].map((domain) => `set-cookie: service_session=; Path=${path}; Max-Age=0${domain}${end}`) // prettier-ignore
    for (const target of world.targets) {
      for (const as of AS) {
        const { headers } = await target.ask(headOf({ target: '/a/b;Domain=x?y', as, cookie }))
        const lines = headers.map(([name, value]) => `${name}: ${value}`)
        for (const path of ['/', '/a', '/a/', '/a/b'])
          for (const line of ended(path))
            t.ok(lines.includes(line), `${target.name}: ${as}: ${line}`)
        t.equal(lines.join().includes('Domain=x'), false)
        if (scheme === 'https') t.match(lines.join('\n'), /; Secure; Partitioned$/m)
      }
      const login = await target.ask(headOf({ target: '/service/login', as: 'navigation', cookie }))
      t.equal(login.status, 302)
      const lines = login.headers.map(([name, value]) => `${name}: ${value}`)
      for (const path of ['/', '/service', '/service/'])
        for (const line of ended(path)) t.ok(lines.includes(line), `${target.name}: ${line}`)
      t.match(lines.join(), /service_flow_/)
    }
  }
})

t.test('signing out with several session cookies ends what they prove', async (t) => {
  const world = await startWorld(t, { address: `https://${HOST}` })
  for (const [at, target] of world.targets.entries()) {
    const own = world.session({ sid: `own${at}` })
    const tossed = world.session({ sid: `evil${at}`, sub: 'eve' })
    const [ownToken = '', tossedToken = ''] = [own, tossed].map((pair) => pair.split('; ')[0]!)
    const logout = async (cookie: string) => {
      const answer = await target.ask(headOf({ target: '/service/logout', as: 'navigation', cookie })) // prettier-ignore
      t.equal(answer.status, 303, target.name)
      return new URL(answer.headers.find(([name]) => name === 'location')![1])
    }
    const hinted = await logout(`${tossedToken}; ${own}`)
    t.equal(`service_session=${hinted.searchParams.get('id_token_hint')}`, ownToken, target.name)
    for (const cookie of [own, tossed])
      t.match((await target.ask(headOf({ cookie }))).body, /revoked/, target.name)
    for (const cookie of ['service_session=a; service_session=b', `service_session=a; ${tossedToken}`])
      t.equal((await logout(cookie)).searchParams.get('id_token_hint'), null, 'the realm asks') // prettier-ignore
  }
})
