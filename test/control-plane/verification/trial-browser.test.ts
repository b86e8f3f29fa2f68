import type { AddressInfo } from 'node:net'
import t from 'tap'
import {
  createTrialAgent,
  createTrialBrowser,
  leadsTo,
} from '../../../control-plane/verification/trial-browser.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { listen } from './scene.ts'

void t.test('a redirect leads to an address, below it, or nowhere near', async (t) => {
  const to = 'https://a.example/service/login'
  for (const location of [to, `${to}?returnTo=%2F`, `${to}/more`]) t.ok(leadsTo(location, to))
  for (const location of [
    undefined,
    `${to}.evil`,
    'https://a.example.evil/service/login',
    'https://b.example/service/login',
    'http://a.example/service/login',
    'https://a.example/?u=https://a.example/service/login',
  ])
    t.notOk(leadsTo(location, to), String(location))
  t.ok(leadsTo('http://a.example/x', 'HTTP://A.Example:80'), 'as a browser spells it')
  t.notOk(leadsTo('http://a.example.evil/', 'http://a.example'))
})

void t.test('keeps cookies as a browser does, and gives them to nobody else', async (t) => {
  const sent: (string | undefined)[] = []
  let lines: string[] = []
  const server = await listen(t, (request, response) => {
    sent.push(request.headers.cookie)
    response.writeHead(200, { 'Set-Cookie': lines }).end()
  })
  const { port } = server.address() as AddressInfo
  const agent = createTrialAgent(5000)
  t.teardown(() => agent.destroy())
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  const world = { agent, signal: new AbortController().signal, nowMs: () => nowMs }
  const browser = createTrialBrowser(world)
  const open = async (path: string, host = 'localhost') => {
    await browser.open(`http://${host}:${port}${path}`)
    return sent.at(-1)
  }
  lines = ['all=1; Path=/; HttpOnly', 'deep=2; Path=/a; Secure', 'gone=3; Max-Age=0']
  lines.push('late=4; Path=/; Expires=Thu, 01 Jan 2026 01:00:00 GMT')
  t.equal(await open('/'), undefined)
  lines = []
  t.equal(await open('/'), 'all=1; late=4')
  t.equal(await open('/a/b'), 'all=1; deep=2; late=4')
  t.equal(await open('/ab'), 'all=1; late=4')
  t.equal(await open('/', '127.0.0.1'), undefined, 'another host')
  const copy = browser.copy()
  lines = ['all=; Path=/; Max-Age=0', 'late=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT']
  await open('/')
  t.equal(await open('/'), undefined)
  t.equal(copy.cookie(`http://localhost:${port}/`, 'all'), '1', 'who copied them has them still')

  lines = Array.from(
    { length: LIMITS.signInTrialCookiesMax + 1 },
    (_, index) => `c${index}=x; Path=/`,
  )
  await open('/')
  lines = []
  t.equal((await open('/'))?.split('; ').length, LIMITS.signInTrialCookiesMax)
})

void t.test('reads no more of a page than it needs', async (t) => {
  const server = await listen(t, (_request, response) => {
    response.writeHead(200)
    const talk = setInterval(() => response.write('x'.repeat(64 * 1024)), 1)
    response.on('close', () => clearInterval(talk))
  })
  const { port } = server.address() as AddressInfo
  const agent = createTrialAgent(5000)
  t.teardown(() => agent.destroy())
  const world = { agent, signal: new AbortController().signal, nowMs: Date.now }
  const page = await createTrialBrowser(world).open(`http://127.0.0.1:${port}/`)
  t.match(page, { kind: 'page', status: 200 })
  t.ok('text' in page && page.text.length <= LIMITS.signInTrialPageBytesMax + 64 * 1024)
})
