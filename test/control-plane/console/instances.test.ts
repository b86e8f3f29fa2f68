/** Instances: who polls, how far behind, and why there are none. */
import { VERSION } from '../../../shared/version.ts'
import t from 'tap'
import { instanceState } from '../../../control-plane/console/tenant/instances-routes.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { startConsole } from '../../support/console.ts'

const PAGE = '/console/tenants/acme/instances'
const SDK = { mode: 'sdk', origin: 'http://127.0.0.1:9000' } as const

void t.test('without instances the page says why, and what to do', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  t.match((await ada.get(PAGE)).text, /In gateway mode the gateway enforces.*acme\.localhost/s)
  await services.tenants.patch('acme', SDK, ACTOR)
  t.match((await ada.get(PAGE)).text, /Publish the tenant first.*Open setup checklist/s)
  await services.tenants.publish('acme', ACTOR)
  t.match((await ada.get(PAGE)).text, /No instance has polled yet.*place=sdk#code/s)
})

void t.test('an instance shows its version, its last poll, its lag and its state', async (t) => {
  const clock = movableClock()
  const { services, person } = await startConsole(t, { clock })
  const { tenants, feed } = services
  await tenants.patch('acme', SDK, ACTOR)
  await tenants.publish('acme', ACTOR)
  const features = new Set<never>()
  const poll = async (name: string, version = '0.1.0', clockOffsetMs: number | null = 20) => {
    await feed.poll(
      await tenants.get('acme'),
      { name, version, features, clockOffsetMs },
      undefined,
    )
  }
  await poll('web-1')
  await poll('<img src=x onerror=alert(1)>', '<b>9', -90_000)
  const ada = await person('acme')
  const rowOf = async (name: string) => {
    const { text } = await ada.get(PAGE)
    t.notMatch(text, '<img src=x')
    return new RegExp(`<th scope="row"[^>]*>${name}[^]*?</tr>`).exec(text)?.[0] ?? 'none'
  }
  t.match(await rowOf('web-1'), /Up to date.*just now.*none.*0\.1\.0.*\+0\.0\ss/s)
  t.match(await rowOf('&lt;img'), new RegExp(`Clock is off.*latest: ${VERSION}.*−90\\.0\\ss`, 's'))
  await tenants.patch('acme', { sealed: ['/internal'] }, ACTOR)
  clock.advance(2000)
  t.match(await rowOf('web-1'), /Behind.*2 seconds ago.*up to 2\ss/s)
  await poll('web-1')
  t.match(await rowOf('web-1'), /Up to date/)
  clock.advance(15_001)
  t.match(await rowOf('web-1'), /Silent.*cannot reach this service/s)
})

void t.test('instances come by pages, and an unnamed one has a name for it', async (t) => {
  const { services, person } = await startConsole(t)
  const { tenants, feed } = services
  await tenants.patch('acme', SDK, ACTOR)
  await tenants.publish('acme', ACTOR)
  for (const name of ['', 'a', 'b', 'c'])
    await feed.poll(
      await tenants.get('acme'),
      { name, version: '', features: new Set<never>(), clockOffsetMs: null },
      undefined,
    )
  const ada = await person('acme')
  const first = await ada.get(`${PAGE}?limit=2`)
  t.match(first.text, /\(unnamed\)/)
  t.notMatch(first.text, />b</)
  const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.match((await ada.get(next)).text, /<th scope="row"[^>]*>b</)
})

void t.test('what is worst about an instance is what its state says', async (t) => {
  const good = { name: 'a', version: '', lastPollMs: 0, etagIsCurrent: true, clockOffsetMs: 0 }
  const word = (one: Partial<typeof good>, nowMs: number) =>
    instanceState({ ...good, ...one }, 2, nowMs).word
  t.equal(word({}, 15_000), 'Up to date', 'a deploy, a hiccup')
  t.equal(word({ etagIsCurrent: false }, 15_001), 'Silent')
  t.equal(word({ etagIsCurrent: false, clockOffsetMs: 90_000 }, 0), 'Behind')
  t.equal(word({ clockOffsetMs: -90_000 }, 0), 'Clock is off')
})
