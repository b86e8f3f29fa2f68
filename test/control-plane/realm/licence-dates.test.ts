/** What people see of a licence whose time has come. */
import t from 'tap'
import { DAY_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ACTOR, ADA, Browser, sidOf, signIn, startWorld } from './realm-world.ts'

t.test(
  'from its end on new sign-ins are refused with a page, and running sessions go on',
  async (t) => {
    const clock = movableClock(Date.now())
    const world = await startWorld(t, { clock })
    const acme = await world.tenant('acme')
    await world.tenants.setLicence(
      'acme',
      {
        state: 'active',
        blocksSignin: false,
        graceFrom: clock.nowMs() + MINUTE_MS,
        expiresAt: clock.nowMs() + 2 * MINUTE_MS,
        expiryBlocks: true,
      },
      ACTOR,
    )
    const browser = new Browser(world.baseUrl)
    const { party, tokens } = await signIn(browser, acme)
    const atPage = async () => await new Browser(world.baseUrl).visit((await party.begin()).url)

    clock.advance(MINUTE_MS)
    await world.tenants.advanceLicences(10)
    t.match(await atPage(), { response: { status: 200 } }, 'grace refuses nobody')
    const waiting = new Browser(world.baseUrl)
    const page = await waiting.visit((await party.begin()).url)

    clock.advance(MINUTE_MS)
    await world.tenants.advanceLicences(10)
    for (const { response, html } of [await atPage(), await waiting.submit(page.url, ADA)]) {
      t.equal(response.status, 403)
      t.match(html, /New sign-ins are paused/)
      t.match(html, /The license of this application does not allow new sign-ins/)
      t.match(html, /If you are signed in on another device, that keeps working/)
      t.notMatch(html, /name="password"/)
    }
    const again = await party.begin()
    const { url } = await browser.visit(again.url)
    t.match(url, /\/service\/callback\?code=/, 'who is signed in goes through')
    t.equal((await world.sessions.find('acme', sidOf(tokens)))?.endedAt, null)

    await world.tenants.setLicence('acme', { state: 'active', blocksSignin: false }, ACTOR)
    clock.advance(DAY_MS)
    await world.tenants.advanceLicences(10)
    t.match(await atPage(), { response: { status: 200 } }, 'renewed')
  },
)
