import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

t.test('one browser ends the session of the other, which is out at every gateway', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'own', application.origin)
  const [here, there] = [fleet.browser(), fleet.browser()]
  there.userAgent = 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0'
  for (const browser of [here, there])
    t.match(await browser.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })

  const page = await here.open(`${tenant.edge()}/service/me`)
  t.match(page, { status: 200, text: /Firefox, Android/ })
  const [, sid = ''] = /name="sid" value="([^"]+)"/.exec(page.text) ?? []
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.text) ?? []
  const me = JSON.parse((await there.fetch(`${tenant.edge()}/service/me`)).text) as { sid: string }
  t.equal(sid, me.sid)
  for (const gateway of [0, 1])
    t.match(await there.fetch(`${tenant.edge(gateway)}/`), { status: 200 })

  const startedMs = performance.now()
  const ended = await here.open(`${tenant.edge()}/service/me`, {
    method: 'POST',
    body: new URLSearchParams({ sid, csrf }).toString(),
    headers: { origin: tenant.edge(), 'sec-fetch-site': 'same-origin' },
  })
  t.match(ended, { status: 200, url: `${tenant.edge()}/service/me?done=session` })
  t.match(ended.text, /Session ended/)
  t.notMatch(ended.text, sid)
  // the promise is a second; polled, so that the measured time is told and not waited for
  for (const gateway of [0, 1]) {
    let status = 200
    for (let tries = 0; tries < 250 && status === 200; tries++)
      ({ status } = await there.fetch(`${tenant.edge(gateway)}/`))
    t.equal(status, 401, `out at gateway ${gateway}`)
    t.comment(`gateway ${gateway}: out after ${Math.round(performance.now() - startedMs)} ms`)
    t.match(await here.fetch(`${tenant.edge(gateway)}/`), { status: 200 }, 'the other goes on')
  }
  const again = await there.open(`${tenant.edge()}/`)
  t.match(again, { url: /\/auth\/realms\/own\/sign-in\// }, 'the realm asks for the password')

  const { body } = await fleet.operator('GET', '/tenants/own/sessions')
  const items = body['items'] as unknown as { sid: string; state: string; end_reason: string }[]
  t.match(
    items.find((one) => one.sid === sid),
    { state: 'ended', end_reason: 'ended_by_user' },
  )

  await fleet.controlPlane.stop()
  const alone = await here.fetch(`${tenant.edge()}/service/me`)
  t.match(JSON.parse(alone.text), { sessions: null, devices: null, email: 'ada@example.test' })
})
