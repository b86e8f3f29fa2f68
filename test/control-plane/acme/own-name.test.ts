/** The whole control plane with a certificate for its own name, from a real authority. */
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { startControlPlane } from '../../../control-plane/control-plane.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'
import { systemClock } from '../../../shared/clock.ts'
import { addressesHere } from '../../support/acme.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { FLEET_KEY, temporaryFolder } from '../../support/control-plane.ts'
import {
  askUdp,
  questionBytes,
  readMessage,
  startNameServer,
  TYPE,
} from '../../support/name-server.ts'
import { NO_PEBBLE, startPebble } from '../../support/pebble.ts'
import { freePort } from '../../support/ports.ts'

const NAME = 'auth.example.test'
const ZONE = { name: 'acme.example.com', servers: ['ns1.example.com'] }
const ANY = { host: '127.0.0.1', port: 0 }

async function start(t: Test) {
  const port = await freePort()
  const ports: number[] = []
  const names = await startNameServer(t, { name: ZONE.name, ports: () => ports })
  const pebble = await startPebble(t, { httpPort: port, dnsPort: names.port })
  const controlPlane = await startControlPlane(
    {
      baseUrl: `https://${NAME}`,
      dataDir: temporaryFolder(t),
      listen: { host: '127.0.0.1', port },
      tlsListen: ANY,
      dnsListen: ANY,
      fleetListen: ANY,
      database: 'sqlite',
      operatorKey: createLiveKey(OPERATOR_KEY),
      fleetKey: createLiveKey(FLEET_KEY),
      masterKey: Buffer.alloc(32, 1),
      breachListFile: null,
      mailFrom: 'no-reply@localhost',
      smtpUrl: null,
      edgeUrlFor: (hostname) => `https://${hostname}`,
      acme: {
        authorities: [{ directory: pebble.directory }],
        email: null,
        profile: null,
        dns: ZONE,
        wildcards: ['apps.example.test'],
      },
    },
    {
      log: pino({ level: 'silent' }),
      clock: systemClock,
      acmeWorld: {
        ca: pebble.ca,
        httpPort: port,
        addresses: addressesHere,
        resolver: names.resolver,
        roundMs: 500,
      },
    },
  )
  t.teardown(() => controlPlane.close())
  const dnsPort = controlPlane.dnsAddress?.port ?? 0
  ports.push(dnsPort)
  const api = async (method: string, path: string) => {
    const headers = { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${port}/api/v1/operator${path}`
    const answer = await fetch(url, { method, headers })
    return (await answer.json()) as {
      items: {
        hostname: string
        source: string | null
        dns_records: { name: string; target: string }[]
      }[]
    }
  }
  return { controlPlane, pebble, names, dnsPort, api }
}

/** Names in the certificate that is shown and trusted; else why there is none. */
function shown(port: number, ca: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername: NAME, ca })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().subjectaltname ?? 'none')
      socket.destroy()
    })
  })
}

void t.test(
  'base_url is served with a certificate that was ordered for it, and its zone is answered',
  { skip: NO_PEBBLE },
  async (t) => {
    const { controlPlane, pebble, names, dnsPort, api } = await start(t)
    const soa = await askUdp(dnsPort, questionBytes(ZONE.name, TYPE.SOA))
    t.equal(soa && readMessage(soa).answers.length, 1)
    const { items } = await api('GET', '/console/certificates')
    t.same(
      items.map(({ hostname }) => hostname),
      [NAME, '*.apps.example.test'],
    )
    // what the page says is added, before the first attempt or after it
    for (const { name, target } of items[1]?.dns_records ?? []) names.aliases.set(name, target)
    const root = await pebble.root()
    const tlsPort = controlPlane.tlsAddress?.port ?? 0
    let name = ''
    for (let count = 0; count < 600 && name !== `DNS:${NAME}`; count++) {
      name = await shown(tlsPort, root)
      await pause(100)
    }
    t.equal(name, `DNS:${NAME}`)
    const [own] = (await api('GET', '/console/certificates')).items
    t.equal(own?.source, 'ordered')
  },
)
