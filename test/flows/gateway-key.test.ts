/** A gateway with a key of its own, as the real program: served, given another key, sent away. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../support/application.ts'
import { Program, SECRETS, startFleet } from '../support/programs.ts'

void t.test('a key is replaced without the control plane, and revoked alone', async (t) => {
  const fleet = await startFleet(t, { gateways: 2 })
  const tenant = await startTenant(fleet, 'acme', (await startApplication(t)).origin)
  const ada = fleet.browser()
  t.match(await ada.signIn(`${tenant.edge()}/work`, 'ada', PASSWORD), { status: 200 })
  const config = ['--config', `${fleet.folder}/config-1.yaml`]
  const startWith = async (environment: Record<string, string>) => {
    await fleet.gateways[1]?.stop()
    const program = new Program('gateway/main.ts', config, { ...SECRETS, ...environment })
    t.after(async () => void (await program.stop('SIGKILL')))
    fleet.gateways[1] = program
    await program.ready
  }
  const make = async () => {
    const { body } = await fleet.operator('POST', '/gateways', { gateway_id: 'gateway-1' })
    return body as unknown as { key: string; key_id: string }
  }
  const old = SECRETS.SERVICE_FLEET_KEY
  const first = await make()
  await startWith({ SERVICE_FLEET_KEY: first.key, SERVICE_FLEET_KEY_PREVIOUS: old })
  await fleet.settled()
  const { body } = await fleet.operator('GET', '/gateways')
  t.match(body['items'], [{ gateway_id: 'gateway-0', key_id: null }, { key_id: first.key_id }])

  const second = await make()
  await fleet.controlPlane.stop('SIGKILL')
  const file = `${fleet.folder}/fleet-key`
  writeFileSync(file, `${second.key}\n`, { mode: 0o600 })
  const named = { SERVICE_FLEET_KEY: '', SERVICE_FLEET_KEY_FILE: file }
  await startWith({ ...named, SERVICE_FLEET_KEY_PREVIOUS: first.key })
  t.match(await ada.fetch(`${tenant.edge(1)}/work`), { status: 200 }, 'what it had is there')
  await fleet.startControlPlane()
  await fleet.settled()

  const path = `/gateways/gateway-1/keys/${second.key_id}`
  t.match(await fleet.operator('DELETE', path), { status: 204 })
  const after = await fleet.operator('POST', '/tenants/acme/revocations', { all: true })
  t.match(after.body, { enforced: { gateways: 1, of: 1, unreachable: ['gateway-1'] } })
  t.notMatch(fleet.logs() + fleet.gateways[1]!.output, new RegExp(`${first.key}|${second.key}`))
})
