/** A TLS session that was begun at one gateway goes on at any, and at none that was sent away. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import t from 'tap'
import { startApplication, startTenant } from '../support/application.ts'
import { until } from '../support/fleet.ts'
import { freePort } from '../support/ports.ts'
import { Program, SECRETS, startFleet } from '../support/programs.ts'
import { connectRaw } from '../support/raw-gateway.ts'
import { createTestAuthority } from '../support/test-certificates.ts'

const HOST = 'acme.localhost'

void t.test('two gateways with keys of their own read the tickets of one another', async (t) => {
  const authority = createTestAuthority(t)
  const tlsPorts = [await freePort(), await freePort()]
  const fleet = await startFleet(t, {
    gateways: 2,
    gatewayConfig: (gateway) => `  tls_listen: 127.0.0.1:${tlsPorts[gateway]}`,
  })
  await startTenant(fleet, 'acme', (await startApplication(t)).origin)
  const { hostname, ...certificate } = authority.issue(HOST)
  const path = `/tenants/acme/certificates/${hostname}`
  t.match(await fleet.operator('PUT', path, certificate), { status: 200 })
  const made = await fleet.operator('POST', '/gateways', { gateway_id: 'gateway-1' })
  const { key, key_id } = made.body as unknown as { key: string; key_id: string }
  await fleet.gateways[1]?.stop()
  const program = new Program('gateway/main.ts', ['--config', `${fleet.folder}/config-1.yaml`], {
    ...SECRETS,
    SERVICE_FLEET_KEY: key, // and none that would open to it after this one
  })
  t.after(async () => void (await program.stop('SIGKILL')))
  await program.ready
  fleet.gateways[1] = program
  await fleet.settled()

  const visit = async (gateway: number, version: 'TLSv1.2' | 'TLSv1.3', session?: Buffer) => {
    const socket = connect({
      ...{ port: tlsPorts[gateway]!, host: '127.0.0.1', servername: HOST, ca: authority.caPem },
      ...{ minVersion: version, maxVersion: version, ...(session && { session }) },
    })
    const issued = new Promise<Buffer>((resolve) => socket.once('session', resolve))
    await once(socket, 'secureConnect')
    socket.write(`GET /service/logout HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
    socket.resume()
    const isReused = socket.isSessionReused()
    const ticket = session === undefined ? await issued : session
    socket.destroy()
    return { isReused, ticket }
  }
  // a gateway beside them, which hears what all are told
  const port = Number(/fleet_listen: "127.0.0.1:(\d+)"/.exec(configOf(fleet.folder))![1])
  const headers = { authorization: `Bearer ${SECRETS.SERVICE_FLEET_KEY}` }
  const witness = await connectRaw(t, port, { id: 'witness', webSocket: { headers } })
  await witness.wait('synced')
  const secrets = () => witness.of('settings').map(({ settings }) => settings.ticket_secret ?? '')

  const before: Buffer[] = []
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const { ticket } = await visit(0, version)
    before.push(ticket)
    t.ok((await visit(1, version, ticket)).isReused, `${version}: resumed at the other gateway`)
  }

  const { body } = await fleet.operator('DELETE', `/gateways/gateway-1/keys/${key_id}`)
  const enforced = { gateways: 1, of: 2, pending: ['witness'] }
  t.same(body, { gateway_id: 'gateway-1', enforced }, 'the witness says nothing')
  await until(() => secrets().length === 2)
  t.not(secrets()[0], secrets()[1], 'whoever was sent away has known the first')
  for (const [at, version] of (['TLSv1.2', 'TLSv1.3'] as const).entries()) {
    let isReused = true
    while (isReused) ({ isReused } = await visit(0, version, before[at]))
    t.notOk(isReused, `${version}: what it could read is worth nothing`)
    const { ticket } = await visit(0, version)
    t.notOk((await visit(1, version, ticket)).isReused, 'and it reads nothing new')
  }

  const said = fleet.logs() + program.output
  for (const secret of secrets()) {
    t.ok(secret.length >= 43)
    t.notOk(said.includes(secret), 'in no log')
    for (const file of filesOf(`${fleet.folder}/data`))
      t.notOk(readFileSync(file, 'latin1').includes(secret), `not in ${file}`)
  }
})

const configOf = (folder: string) => readFileSync(`${folder}/config-0.yaml`, 'utf8')

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
