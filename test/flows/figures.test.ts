/** From requests at the real edge to the figures of the tenant, whoever is killed on the way. */
// long: a series of stops, starts and kills
import t from 'tap'
import { request } from 'undici'
import { newTenant } from '../support/api.ts'
import { startFleet, type Fleet } from '../support/programs.ts'

async function knock(fleet: Fleet, times: number): Promise<void> {
  const port = fleet.gatewayPorts[0] ?? 0
  for (let time = 0; time < times; time++) {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/internal`, {
      headers: { host: `acme.localhost:${port}` },
    })
    await body.dump()
    if (statusCode !== 404) throw new Error(`status ${statusCode}`)
  }
}

async function sealedHits(fleet: Fleet): Promise<number> {
  const { body } = await fleet.operator('GET', '/tenants/acme/figures')
  const lines = body['series'] as unknown as { outcome: string; total: number }[]
  return lines.find(({ outcome }) => outcome === 'sealed')?.total ?? 0
}

t.test('every sealed hit is counted once, over stops, starts and kills', async (t) => {
  const fleet = await startFleet(t, { workers: 2 })
  await fleet.operator('POST', '/tenants', newTenant('acme'))
  await fleet.operator('POST', '/tenants/acme/publish')
  await fleet.operator('POST', '/tenants/acme/go-live', { force: true })
  await fleet.settled()

  await knock(fleet, 20)
  await fleet.gateways[0]?.stop()
  t.equal(await sealedHits(fleet), 20, 'the last words of a gateway that stops')

  await fleet.startGateway(0)
  await fleet.settled()
  await knock(fleet, 3)
  await fleet.controlPlane.stop('SIGKILL')
  await knock(fleet, 30)
  await fleet.gateways[0]?.stop()
  await fleet.startControlPlane()
  await fleet.startGateway(0)
  while ((await sealedHits(fleet)) < 53) await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await sealedHits(fleet), 53, 'kept until there was somebody to take it')

  await fleet.gateways[0]?.stop('SIGKILL')
  await fleet.startGateway(0)
  await fleet.settled()
  t.equal(await sealedHits(fleet), 53, 'and not sent again')
})
