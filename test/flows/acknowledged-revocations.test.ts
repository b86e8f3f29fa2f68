/** Whoever is told that a session has ended can rely on it, whichever program is killed next. */
// long: a series of kills, with everything started anew after each
import t, { type Test } from 'tap'
import { addUser, PASSWORD, startApplication, startTenant } from '../support/application.ts'
import { startFleet } from '../support/programs.ts'

async function startWorld(t: Test) {
  const fleet = await startFleet(t, { gateways: 2, workers: 2 })
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'acme', application.origin)
  const signedIn = async (name: string) => {
    const browser = fleet.browser()
    t.match(await browser.signIn(`${tenant.edge()}/work`, name, PASSWORD), { status: 200 })
    const me = await browser.fetch(`${tenant.edge()}/service/me`)
    const { sid, user_id: subject } = JSON.parse(me.text) as { sid: string; user_id: string }
    return { browser, sid, subject }
  }
  return { fleet, tenant, signedIn }
}

void t.test(
  'what was acknowledged holds when the control plane is killed right then',
  async (t) => {
    const { fleet, tenant, signedIn } = await startWorld(t)
    const revocations = '/tenants/acme/revocations'
    type Person = Awaited<ReturnType<typeof signedIn>>
    const ways: [string, (person: Person) => Promise<unknown>][] = [
      ['one session', ({ sid }) => fleet.operator('POST', revocations, { sid })],
      [
        'a disabled person',
        ({ subject }) =>
          fleet.operator('PATCH', `/tenants/acme/users/${subject}`, { disabled: true }),
      ],
      [
        'another password',
        ({ subject }) =>
          fleet.operator('PATCH', `/tenants/acme/users/${subject}`, { password: `${PASSWORD} 2` }),
      ],
      ['a sign-out', ({ browser }) => browser.open(`${tenant.edge()}/service/logout`)],
    ]
    for (const [index, [name, end]] of ways.entries()) {
      await addUser(fleet, 'acme', `person-${index}`)
      const person = await signedIn(`person-${index}`)
      const cookies = (['service_session', 'service_seen'] as const).map(
        (cookie) => [cookie, person.browser.cookie(tenant.host, cookie) ?? ''] as const,
      )
      const thief = fleet.browser()
      for (const [cookie, value] of cookies) thief.setCookie(tenant.host, cookie, value)
      for (const gateway of [0, 1])
        t.match(await thief.fetch(`${tenant.edge(gateway)}/work`), { status: 200 })

      t.match(await end(person), { status: /^20[0-4]$/ }, name)
      await fleet.controlPlane.stop('SIGKILL')
      for (const gateway of [0, 1, 0, 1, 0, 1])
        t.match(await thief.fetch(`${tenant.edge(gateway)}/work`), { status: 401 }, `${name}: dead`)
      await fleet.gateways[1]?.stop('SIGKILL')
      await fleet.startGateway(1)
      const again = await thief.fetch(`${tenant.edge(1)}/work`)
      t.match(again, { status: 401 }, `${name}: and dead after a restart from the disk`)
      await fleet.startControlPlane()
      await fleet.settled()
    }
  },
)

void t.test('a gateway that does not answer is named, within about a second', async (t) => {
  const { fleet, signedIn } = await startWorld(t)
  const { sid } = await signedIn('ada')
  const stalled = fleet.gateways[1]!
  stalled.child.kill('SIGSTOP')
  t.after(() => void stalled.child.kill('SIGCONT'))
  const revoked = await fleet.operator('POST', '/tenants/acme/revocations', { sid })
  const enforced = { gateways: 1, of: 2, pending: ['gateway-1'] }
  t.match(revoked, { status: 200, body: { sid, enforced } })
  stalled.child.kill('SIGCONT')
})
