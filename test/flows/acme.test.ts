/** Certificates that are ordered, by real gateways and a real authority. */
// long: ten thousand handshakes
import { createServer } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { getGlobalDispatcher } from 'undici'
import { CHALLENGE_PATH } from '../../shared/acme-challenge.ts'
import { schema } from '../../control-plane/store/schema.ts'
import { systemClock } from '../../shared/clock.ts'
import { addressesHere } from '../support/acme.ts'
import {
  ACTOR,
  FLEET_KEY,
  startServices,
  temporaryFolder,
  tenantNamed,
} from '../support/control-plane.ts'
import { NO_PEBBLE, startPebble } from '../support/pebble.ts'
import { freePort } from '../support/ports.ts'
import { Program } from '../support/programs.ts'
import { listening } from '../support/wire.ts'

const NAME = 'app.example.test'
const STRANGERS = 10_000
const AT_ONCE = 50

async function prepareGateway(t: Test, id: string, fleetPort: number) {
  const folder = temporaryFolder(t)
  const [port, tlsPort] = [await freePort(), await freePort()]
  const file = join(folder, 'config.yaml')
  writeFileSync(
    file,
    `data_dir: ${folder}/data
gateway:
  listen: 127.0.0.1:${port}
  tls_listen: 127.0.0.1:${tlsPort}
  id: ${id}
  workers: 2
  control_plane: http://127.0.0.1:${fleetPort}
`,
  )
  let program: Program | undefined
  t.teardown(() => program?.stop('SIGKILL'))
  return {
    port,
    tlsPort,
    async start() {
      program = new Program('gateway/main.ts', ['--config', file], { SERVICE_FLEET_KEY: FLEET_KEY })
      await program.ready
    },
    stop: () => program?.stop(),
    async challenge(token: string) {
      const asked = { origin: `http://127.0.0.1:${port}`, path: CHALLENGE_PATH + token }
      const headers = { host: NAME }
      const { body } = await getGlobalDispatcher().request({ ...asked, method: 'GET', headers })
      return body.text()
    },
  }
}

/** The name in the certificate that is trusted; else why there is none. */
function handshake(port: number, servername: string, ca?: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername, ...(ca !== undefined && { ca }) })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? 'none')
      socket.destroy()
    })
  })
}

void t.test(
  'any gateway answers, all serve what came, and strangers order nothing',
  { skip: NO_PEBBLE },
  async (t) => {
    const fleetServer = createServer()
    const fleetPort = await listening(fleetServer)
    const gateways = [
      await prepareGateway(t, 'one', fleetPort),
      await prepareGateway(t, 'two', fleetPort),
    ] as const
    const pebble = await startPebble(t, { httpPort: gateways[1].port })
    const services = await startServices(t, {
      clock: systemClock,
      edgeUrlFor: (hostname) => `https://${hostname}`,
      acme: { authorities: [{ directory: pebble.directory }], email: null, profile: null },
      acmeWorld: {
        ca: pebble.ca,
        httpPort: gateways[0].port,
        addresses: addressesHere,
        roundMs: 2000,
      },
    })
    services.fleet.attach(fleetServer)
    t.teardown(() => {
      fleetServer.closeAllConnections()
      fleetServer.close()
    })
    await services.tenants.create(tenantNamed('app', { hostnames: [NAME] }), ACTOR)
    await services.tenants.publish('app', ACTOR)
    for (const gateway of gateways) await gateway.start()
    await services.changesSettled()
    const answer = `token.${services.acme?.thumbprint}`
    for (const gateway of gateways) t.equal(await gateway.challenge('token'), answer)

    const states = async () => services.certificates.states('app')
    while ((await states())[0]?.order?.state !== 'issued' || (await states())[0]?.source === null)
      await services.acme?.run()
    await services.changesSettled()
    const root = await pebble.root()
    for (const { tlsPort } of gateways) t.equal(await handshake(tlsPort, NAME, root), `DNS:${NAME}`)

    const before = await services.store.read.select().from(schema.acmeOrders)
    const said = pebble.lines.length
    const names = Array.from({ length: STRANGERS }, (_, index) => `h${index}.${NAME}`).values()
    const refused = new Set<string>()
    const stranger = async () => {
      for (const name of names) refused.add(await handshake(gateways[0].tlsPort, name))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, stranger))
    await services.acme?.run()
    t.notOk(
      [...refused].some((one) => one.startsWith('DNS:')),
      [...refused].join(),
    )
    t.strictSame(await services.store.read.select().from(schema.acmeOrders), before)
    t.equal(pebble.lines.length, said, 'the authority has heard of none of them')

    await gateways[0].stop()
    fleetServer.closeAllConnections()
    fleetServer.close()
    await gateways[0].start()
    t.equal(await handshake(gateways[0].tlsPort, NAME, root), `DNS:${NAME}`, 'from its disk')
    t.equal(await gateways[0].challenge('token'), answer)
  },
)
