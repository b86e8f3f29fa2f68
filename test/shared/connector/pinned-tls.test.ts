/** A gateway's own certificate counts, and nothing else: neither who has signed it nor what time it is. */
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import t, { type Test } from 'tap'
import { dial } from '../../../control-plane/downloads/connector/tunnel/dial.ts'
import { dialGateway } from '../../../gateway/connectors/dial-gateway.ts'
import { deriveCertificate } from '../../../shared/self-signed.ts'
import { CONNECTOR_ALPN } from '../../../shared/connector/handshake.ts'

const own = deriveCertificate('a fleet key that is only good for tests')
const other = deriveCertificate('another fleet key that is only good for tests')

/** The same, of another time. */
function during(from: string, until: string): string {
  const der = Buffer.from(own.certificate, 'base64url').toString('latin1')
  const changed = der.replace('20200101000000Z', from).replace('99991231235959Z', until)
  return Buffer.from(changed, 'latin1').toString('base64url')
}

const pemOf = (certificate: string) =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(certificate, 'base64url').toString('base64')}\n-----END CERTIFICATE-----\n`

async function gatewayWith(t: Test, certificate: string, key = own.privateKeyPem) {
  const hello = { nonce: 'n'.repeat(43), versions: [1], gateway_id: 'g', worker: 1, workers: 1 }
  const server = createServer({ cert: pemOf(certificate), key, ALPNProtocols: [CONNECTOR_ALPN] })
  server.on('secureConnection', (socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`${JSON.stringify(hello)}\n`)
  })
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function comesAbout(address: string, certificate: string) {
  const to = { gateway_id: 'g', address, certificate }
  const asConnector = await dial(to, { worker: 1, use: undefined }, { timeoutMs: 60_000 }).then(
    (socket) => void socket.destroy(),
    (error: Error) => error.message,
  )
  const asGateway = await new Promise((resolve) =>
    dialGateway(to, 1, (dialled) => {
      dialled?.socket.destroy()
      resolve(dialled?.hello.gateway_id)
    }),
  )
  return { asConnector, asGateway }
}

t.test('a certificate that seems to be over, or not to have begun', async (t) => {
  const expected = { asConnector: undefined, asGateway: 'g' }
  for (const [from, until] of [
    ['20200101000000Z', '99991231235959Z'],
    ['20100101000000Z', '20200101000000Z'],
    // as a machine sees it that believes to be in 1970
    ['21200101000000Z', '99991231235959Z'],
  ] as const) {
    const certificate = during(from, until)
    t.match(await comesAbout(await gatewayWith(t, certificate), certificate), expected, from)
  }
})

t.test('another certificate, also of the same name, the same time or the same key', async (t) => {
  const refused = { asConnector: /not gateway g: it has another certificate/, asGateway: undefined }
  const stranger = await gatewayWith(t, other.certificate, other.privateKeyPem)
  t.match(await comesAbout(stranger, own.certificate), refused)
  const resigned = await gatewayWith(t, during('20210101000000Z', '99991231235959Z'))
  t.match(await comesAbout(resigned, own.certificate), refused)
})
