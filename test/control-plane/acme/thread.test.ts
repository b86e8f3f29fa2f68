/** From a published tenant to a handshake, with a real authority. */
import { connect } from 'node:tls'
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { systemClock } from '../../../shared/clock.ts'
import { createTestLog } from '../../support/fleet.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'
import { NO_PEBBLE, startPebble } from '../../support/pebble.ts'
import { startSecureEdge } from '../../support/secure-edge.ts'

const NAME = 'app.example.test'

void t.test('a published tenant gets a certificate', { skip: NO_PEBBLE }, async (t) => {
  const edge = await startSecureEdge(t, 'http://127.0.0.1:9', { change: { certificates: [] } })
  const pebble = await startPebble(t, { httpPort: edge.port })
  const { log, lines } = createTestLog()
  const services = await startServices(t, {
    clock: systemClock,
    log,
    edgeUrlFor: (hostname) => `https://${hostname}`,
    acme: {
      authorities: [{ directory: pebble.directory }],
      email: 'ops@example.com',
      profile: null,
    },
    acmeWorld: {
      ca: pebble.ca,
      httpPort: edge.port,
      addresses: { find: async () => ['127.0.0.1'] },
    },
  })
  const tell = async () => {
    const { revision: _own, ...told } = (await services.fleetSource.snapshot('app'))?.snapshot ?? {}
    if ('name' in told) edge.put(told)
  }
  const hostnames = [NAME, 'app.localhost']
  await services.tenants.create(tenantNamed('app', { hostnames }), ACTOR)
  await services.acme?.run()
  t.strictSame(await orders(), [], 'a draft is nobody’s yet')
  await services.tenants.publish('app', ACTOR)
  await tell()
  while ((await services.certificates.states('app'))[0]?.source !== 'ordered')
    await services.acme?.run()
  await tell()
  const root = await pebble.root()
  const socket = connect({ port: edge.tlsPort, host: '127.0.0.1', servername: NAME, ca: root })
  t.teardown(() => socket.destroy())
  await new Promise((resolve, reject) =>
    socket.once('secureConnect', resolve).once('error', reject),
  )
  t.ok(socket.authorized)
  t.equal(socket.getPeerCertificate().subjectaltname, `DNS:${NAME}`)
  t.match(await orders(), [{ hostname: NAME, step: 'issued', failures: 0, privateKeySealed: null }])
  t.strictSame(
    lines.filter(({ level }) => level >= 40),
    [],
  )

  async function orders() {
    return services.store.read.select().from(schema.acmeOrders)
  }
})
