// long: a series of kills, with a fleet started for each
import { globSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { PASSWORD, startApplication, startTenant } from '../support/application.ts'
import { startFleet, type Fleet } from '../support/programs.ts'

async function signedIn(t: Test, fleet: Fleet) {
  const application = await startApplication(t)
  const tenant = await startTenant(fleet, 'acme', application.origin)
  const ada = fleet.browser()
  t.match(await ada.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 })
  return { tenant, ada }
}

t.test('with the control plane killed under traffic, no live session fails', async (t) => {
  const fleet = await startFleet(t)
  const { tenant, ada } = await signedIn(t, fleet)
  const statuses: number[] = []
  let isDone = false
  const traffic = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isDone) statuses.push((await ada.fetch(`${tenant.edge()}/work`)).status)
    }),
  )
  while (statuses.length < 50) await new Promise((resolve) => setImmediate(resolve))
  await fleet.controlPlane.stop('SIGKILL')
  const before = statuses.length
  while (statuses.length < before + 500) await new Promise((resolve) => setImmediate(resolve))

  isDone = true
  await traffic
  t.same([...new Set(statuses)], [200])

  await fleet.gateways[0]?.stop()
  await fleet.startGateway(0)
  t.match(await ada.fetch(`${tenant.edge()}/work`), { status: 200 }, 'served from disk')
  t.match(await ada.fetch(`${tenant.edge()}/admin`), { status: 404 }, 'sealed from disk')
  t.match(
    await fleet.browser().fetch(`${tenant.edge()}/work`),
    { status: 401 },
    'protected from disk',
  )
  t.match(await fleet.browser().open(`${tenant.edge()}/work`), { status: 503 }, 'no new sign-in')
  t.match(await fleet.browser().fetch(fleet.edge('other.localhost')), { status: 404 })

  await fleet.startControlPlane()
  await fleet.settled()
  const bob = fleet.browser()
  t.match(await bob.signIn(`${tenant.edge()}/`, 'ada', PASSWORD), { status: 200 }, 'and back')
})

t.test(
  'a damaged snapshot falls back to the generation before, protected and with a reason',
  async (t) => {
    const damages: [string, (file: string) => void][] = [
      ['truncated', (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2))],
      ['emptied', (file) => truncateSync(file, 0)],
      ['flipped', flipOneByte],
    ]
    const fleet = await startFleet(t)
    const { tenant, ada } = await signedIn(t, fleet)
    for (const sealed of [
      ['/admin', '/a'],
      ['/admin', '/b'],
    ])
      t.match(await fleet.operator('PATCH', '/tenants/acme', { sealed }), { status: 200 })
    await fleet.settled()
    await fleet.controlPlane.stop('SIGKILL')
    await fleet.gateways[0]?.stop()
    const [file = ''] = globSync(`${fleet.folder}/data/gateway/gateway-0/tenants/acme.current`)
    const whole = readFileSync(file)

    for (const [name, damage] of damages) {
      writeFileSync(file, whole)
      damage(file)
      await fleet.startGateway(0)
      t.match(
        await ada.fetch(`${tenant.edge()}/work`),
        { status: 200 },
        `${name}: live session served`,
      )
      t.match(
        await fleet.browser().fetch(`${tenant.edge()}/work`),
        { status: 401 },
        `${name}: protected`,
      )
      t.match(
        await fleet.browser().fetch(`${tenant.edge()}/admin`),
        { status: 404 },
        `${name}: sealed`,
      )
      await fleet.gateways[0]?.stop()
      const lines = fleet.gateways[0]?.output.split('\n') ?? []
      const reasons = lines.filter((line) => /"level":[45]0/.test(line) && line.includes('acme'))
      t.ok(reasons.length > 0, `${name}: the reason is logged`)
    }
  },
)

t.test('with both generations gone, a protected tenant is 503 and never let through', async (t) => {
  const fleet = await startFleet(t)
  const { tenant, ada } = await signedIn(t, fleet)
  await fleet.controlPlane.stop('SIGKILL')
  await fleet.gateways[0]?.stop()
  for (const file of globSync(`${fleet.folder}/data/gateway/gateway-0/tenants/*`)) flipOneByte(file)
  await fleet.startGateway(0)
  t.match(await ada.fetch(`${tenant.edge()}/work`), { status: 503 })
  t.match(await fleet.browser().fetch(`${tenant.edge()}/health`), { status: 503 })
})

t.test(
  'a gateway that never had a control plane answers 503 and is not mistaken for empty',
  async (t) => {
    const fleet = await startFleet(t, { gateways: 2 })
    await fleet.controlPlane.stop('SIGKILL')
    await fleet.gateways[1]?.stop()
    const { rmSync } = await import('node:fs')
    rmSync(`${fleet.folder}/data/gateway/gateway-1`, { recursive: true })
    await fleet.startGateway(1)
    t.match(await fleet.browser().fetch(fleet.edge('any.localhost', 1)), { status: 503 })
  },
)

function flipOneByte(file: string) {
  const bytes = readFileSync(file)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] ?? 0) ^ 0x10
  writeFileSync(file, bytes)
}
