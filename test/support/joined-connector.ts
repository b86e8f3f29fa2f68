/** A connector that has joined, with its state on the disk, beside a control plane that says little. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createStateFolder } from '../../control-plane/downloads/connector/state/state-folder.ts'
import type { GatewayAddress } from '../../control-plane/downloads/connector/tunnel/dial.ts'
import { GATEWAY_LIST_TYPE } from '../../shared/connector/requests.ts'
import { connectorHere } from './connector-program.ts'
import { newConnectorKeys, TENANT } from './dialled-in.ts'

export const CONNECTOR = 'con_1'

interface Wish {
  readonly originCa?: string
  readonly origin?: string
  readonly baseUrl?: string
  readonly gateways?: readonly GatewayAddress[]
  readonly environment?: Record<string, string>
}

export async function joinedHere(t: Test, wish: Wish = {}) {
  const { origin = 'http://127.0.0.1:1', baseUrl = 'http://127.0.0.1:1', gateways = [] } = wish
  const keys = newConnectorKeys()
  const authority = generateKeyPairSync('ed25519')
  const program = connectorHere(t, { XDG_STATE_HOME: '', ...wish.environment })
  const folder = join(program.home, 'state')
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encoded({ alg: 'EdDSA', typ: GATEWAY_LIST_TYPE })}.${encoded({
    tenant_id: TENANT,
    connector_id: CONNECTOR,
    gateways,
    sequence: 7,
  })}`
  const signature = sign(null, Buffer.from(signed), authority.privateKey).toString('base64url')
  const document = `${signed}.${signature}`
  const state = createStateFolder(folder, { userId: process.getuid?.() })
  const der = keys.privateKey.export({ format: 'der', type: 'pkcs8' })
  await state.write({
    version: 1,
    base_url: baseUrl,
    origin,
    ...(wish.originCa !== undefined && { origin_ca: wish.originCa }),
    tenant_id: TENANT,
    connector_id: CONNECTOR,
    name: 'web-1',
    authority: authority.publicKey.export({ format: 'jwk' }).x!,
    key: {
      private_key: der.toString('base64url'),
      made_at: new Date().toISOString(),
      key_id: 'k1',
    },
  })
  await state.writeList(document)
  return {
    ...program,
    folder,
    keys,
    document,
    privateKey: der.toString('base64url'),
    call: (...args: string[]) => program.call([...args, '--state', folder]),
    start: (...args: string[]) => program.start([...args, '--state', folder]),
  }
}

/** An HTTP server on loopback that answers as it is told. */
export async function answering(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly port: number }> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port }
}

/** What a control plane answers to a connector that it knows, or does not. */
export function controlPlaneWith(document: () => string, isKnown = () => true) {
  return ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
    const isRefused = url.endsWith('/state') && !isKnown()
    const body = isRefused
      ? { error: 'connector_refused', detail: 'This connector is not known.' }
      : url.endsWith('/state')
        ? { document: document(), poll_seconds: 60 }
        : { challenge: 'from.challenge.answer' }
    response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
}
