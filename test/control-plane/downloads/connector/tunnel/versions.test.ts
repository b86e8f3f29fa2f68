/** A connector and a gateway of neighbouring versions speak what both know; of others one says so. */
import { createServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { dial } from '../../../../../control-plane/downloads/connector/tunnel/dial.ts'
import { greet } from '../../../../../control-plane/downloads/connector/tunnel/greet.ts'
import { deriveCertificate } from '../../../../../shared/self-signed.ts'
import {
  commonVersion,
  CONNECTOR_ALPN,
  CONNECTOR_VERSIONS,
  signHello,
} from '../../../../../shared/connector/handshake.ts'
import { newConnectorKeys, openDoor, TENANT } from '../../../../support/dialled-in.ts'
import { knock } from '../../../../support/knocking.ts'

const keys = newConnectorKeys()
const identity = {
  tenantId: TENANT,
  connectorId: 'con_1',
  keyId: 'k1',
  privateKey: keys.privateKey,
  program: '0.0.0',
}

/** A gateway that speaks these versions, and what the connector answers it. */
async function gatewayOf(t: Test, versions: readonly number[]) {
  const own = deriveCertificate('a fleet key that is only good for tests')
  const answers: string[] = []
  const server = createServer(
    {
      key: own.privateKeyPem,
      cert: own.certificatePem,
      ALPNProtocols: [CONNECTOR_ALPN],
      minVersion: 'TLSv1.3',
    },
    (socket) => {
      socket.on('error', () => socket.destroy())
      socket.on('data', (chunk: Buffer) => answers.push(chunk.toString()))
      const hello = { nonce: 'n'.repeat(43), versions, gateway_id: 'g', worker: 1, workers: 1 }
      // What a later version says besides is passed over.
      socket.write(`${JSON.stringify({ ...hello, later: { a: 1 } })}\n`)
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const to = { gateway_id: 'g', address: `127.0.0.1:${port}`, certificate: own.certificate }
  const socket = await dial(to, { worker: 1, use: undefined }, { timeoutMs: 60_000 })
  t.teardown(() => socket.destroy())
  return { socket, answers }
}

t.test('the newest that both know', async (t) => {
  t.equal(commonVersion([1], [2, 1]), 1, 'a gateway that is older')
  t.equal(commonVersion([2, 1], [1]), 1, 'a connector that is older')
  t.equal(commonVersion([3, 2], [2, 1]), 2)
  t.equal(commonVersion([3, 2], [1]), undefined, 'two apart')
})

t.test('a gateway that is newer, and one that has forgotten ours', async (t) => {
  const [ours] = CONNECTOR_VERSIONS
  const next = await gatewayOf(t, [ours + 1, ours])
  await greet(next.socket, 'control', identity)
  while (next.answers.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(JSON.parse(next.answers.join('')), { version: ours, kind: 'control' })
  const later = await gatewayOf(t, [ours + 2, ours + 1])
  await t.rejects(greet(later.socket, 'control', identity), {
    message: 'the gateway speaks another version: update this connector',
  })
  t.strictSame(later.answers, [], 'it is told nothing')
})

t.test('a connector that insists on another version is told so', async (t) => {
  const door = await openDoor(t)
  door.allow({ con_1: keys })
  const stranger = await knock(t, door)
  const claim = {
    tenant_id: TENANT,
    connector_id: 'con_1',
    key_id: 'k1',
    kind: 'control' as const,
    version: CONNECTOR_VERSIONS[0] + 1,
    program: '0.0.0',
  }
  const said = new Promise<string>((resolve) =>
    stranger.socket.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  )
  const signed = signHello(stranger.hello, claim, stranger.socket, keys.privateKey)
  stranger.socket.write(`${JSON.stringify(signed)}\n`)
  t.strictSame(JSON.parse(await said), { say: 'refused', reason: 'version' })
})
