import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

t.test('a rotation of the client secret signs nobody out, and breaks no sign-in', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'renewed', application.origin)
  const work = `${tenant.edge()}/work`
  const rotate = (body?: object) =>
    fleet.operator('POST', '/tenants/renewed/client-secret/rotate', body)

  const ada = fleet.browser()
  t.match(await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })
  const late = fleet.browser()
  const login = String(
    (await late.once(`${tenant.edge()}/service/login?returnTo=/work`)).headers['location'],
  )

  t.match(await rotate(), { status: 200, body: { previous_valid_until: String } })
  await fleet.settled()
  t.match(await ada.fetch(work), { status: 200 }, 'who was signed in goes on')
  t.match(await late.signIn(login, 'ada', PASSWORD), { status: 200 }, 'who was about to gets in')
  t.match(await late.fetch(work), { status: 200 })
  const newcomer = fleet.browser()
  t.match(await newcomer.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })

  t.match(await rotate({ overlap_seconds: 0 }), { body: { previous_valid_until: null } })
  await fleet.settled()
  t.match(await ada.fetch(work), { status: 401 }, 'a secret that leaked is ended at once')
  t.match(await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })
})
