/** Operator key and fleet key are replaced while the real programs run and serve. */
import { rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { request } from 'undici'
import { PASSWORD, startApplication, startTenant } from '../support/application.ts'
import { until } from '../support/fleet.ts'
import { Program, SECRETS, startFleet } from '../support/programs.ts'

const NEXT = {
  operator: 'the-next-operator-key-0123456789',
  fleet: 'the-next-fleet-key-0123456789-abc',
} as const
const OLD = { operator: SECRETS.SERVICE_OPERATOR_KEY, fleet: SECRETS.SERVICE_FLEET_KEY } as const

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadlineMs = Date.now() + 60_000; !(await isTrue());)
    if (Date.now() > deadlineMs) throw new Error(`not within a minute: ${isTrue.toString()}`)
}

void t.test('both keys are replaced, with overlap and without a restart', async (t) => {
  const fleet = await startFleet(t, { gateways: 2, workers: 2 })
  const tenant = await startTenant(fleet, 'acme', (await startApplication(t)).origin)
  const ada = fleet.browser()
  t.match(await ada.signIn(`${tenant.edge()}/work`, 'ada', PASSWORD), { status: 200 })

  const at = (program: string, name: string) => `${fleet.folder}/${program}-${name}`
  const environmentOf = (program: string) => {
    const named = ['operator', 'fleet'].flatMap((key) =>
      ['', '_previous'].map((more) => [key, more] as const),
    )
    for (const key of ['operator', 'fleet'] as const) writeFileSync(at(program, key), OLD[key])
    const files = named.map(([key, more]) => [
      `SERVICE_${key}_KEY${more}_FILE`.toUpperCase(),
      at(program, key + more),
    ])
    const env = { ...SECRETS, SERVICE_OPERATOR_KEY: '', SERVICE_FLEET_KEY: '' }
    return { ...env, ...(Object.fromEntries(files) as Record<string, string>) }
  }
  const start = async (file: string, name: string, config: string) => {
    const program = new Program(file, ['--config', config], environmentOf(name))
    t.after(async () => void (await program.stop('SIGKILL')))
    await program.ready
    return program
  }
  await Promise.all([fleet.controlPlane.stop(), ...fleet.gateways.map((one) => one.stop())])
  const config = (gateway: number) => `${fleet.folder}/config-${gateway}.yaml`
  const controlPlane = await start('control-plane/main.ts', 'control', config(0))
  const gateways = [
    await start('gateway/main.ts', 'gateway-0', config(0)),
    await start('gateway/main.ts', 'gateway-1', config(1)),
  ] as const
  await fleet.settled()

  const { fleetAddress } = (await controlPlane.ready) as { fleetAddress: { port: number } }
  const metrics = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const url = `http://127.0.0.1:${fleetAddress.port}/metrics`
    const { statusCode, body } = await request(url, { headers })
    return { status: statusCode, text: await body.text() }
  }
  const operator = async (key: string) => (await fleet.api(key, 'GET', '/operator/tenants')).status
  const connected = async () => {
    const { body } = await fleet.api(NEXT.operator, 'GET', '/operator/gateways')
    const items = body['items'] as unknown as { gateway_id: string; connected: boolean }[]
    return items.filter((one) => one.connected).map((one) => one.gateway_id)
  }
  const serves = async () => {
    for (const gateway of [0, 1])
      t.match(await ada.fetch(`${tenant.edge(gateway)}/work`), { status: 200 }, 'served all along')
  }

  t.test('the operator key', async (t) => {
    writeFileSync(at('control', 'operator_previous'), OLD.operator)
    writeFileSync(at('control', 'operator'), NEXT.operator)
    controlPlane.child.kill('SIGHUP')
    await eventually(async () => (await operator(NEXT.operator)) === 200)
    t.equal(await operator(OLD.operator), 200, 'the one before opens beside it')
    t.match((await metrics(OLD.fleet)).text, /^control_plane_previous_key\{key="operator"\} 1$/m)
    rmSync(at('control', 'operator_previous'))
    controlPlane.child.kill('SIGHUP')
    await eventually(async () => (await operator(OLD.operator)) === 401)
    t.equal(await operator(NEXT.operator), 200)
    t.match((await metrics(OLD.fleet)).text, /^control_plane_previous_key\{key="operator"\} 0$/m)
    await serves()
  })

  t.test('the fleet key', async (t) => {
    writeFileSync(at('control', 'fleet_previous'), OLD.fleet)
    writeFileSync(at('control', 'fleet'), NEXT.fleet)
    controlPlane.child.kill('SIGHUP')
    await eventually(async () => (await metrics(NEXT.fleet)).status === 200)
    t.same((await connected()).sort(), ['gateway-0', 'gateway-1'], 'who is here stays')

    writeFileSync(at('gateway-0', 'fleet'), NEXT.fleet)
    gateways[0].child.kill('SIGHUP')
    await until(() => gateways[0].output.includes('SERVICE_FLEET_KEY_PREVIOUS can go'))
    await eventually(async () => (await connected()).length === 2)
    await serves()

    rmSync(at('control', 'fleet_previous'))
    controlPlane.child.kill('SIGHUP')
    await eventually(async () => (await metrics(OLD.fleet)).status === 401)
    t.same(await connected(), ['gateway-0'], 'whoever came with the key before is out')
    await serves()

    writeFileSync(at('gateway-1', 'fleet'), NEXT.fleet)
    gateways[1].child.kill('SIGHUP')
    await eventually(async () => (await connected()).length === 2)
    await until(() => gateways[1].output.includes('SERVICE_FLEET_KEY_PREVIOUS can go'))
    const change = { name: 'Acme, of the next key' }
    const changed = await fleet.api(NEXT.operator, 'PATCH', '/operator/tenants/acme', change)
    t.equal(changed.status, 200)
    await eventually(async () => {
      const { body } = await fleet.api(NEXT.operator, 'GET', '/operator/gateways')
      const items = body['items'] as unknown as { connected: boolean; lag: number }[]
      return items.filter((one) => one.connected && one.lag === 0).length === 2
    })
    await serves()
  })

  t.test('what lies on a gateway’s disk opens with the new key alone', async (t) => {
    await controlPlane.stop('SIGKILL')
    await gateways[1].stop()
    const program = new Program('gateway/main.ts', ['--config', config(1)], {
      ...SECRETS,
      SERVICE_FLEET_KEY: NEXT.fleet,
    })
    t.teardown(() => program.stop('SIGKILL'))
    await program.ready
    t.match(await ada.fetch(`${tenant.edge(1)}/work`), { status: 200 })
  })

  t.test('no line has a key', async (t) => {
    const output = [controlPlane, ...gateways].map((program) => program.output).join('')
    for (const key of [...Object.values(NEXT), ...Object.values(OLD)]) t.notOk(output.includes(key))
    t.match(output, /keys and log level were read again/)
  })
})
