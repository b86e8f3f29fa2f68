/** A control plane over TLS and a gateway beside it, for a connector that has to get to both. */
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Test } from 'tap'
import { openKey, publicKeyOf } from '../../control-plane/downloads/connector/state/own-keys.ts'
import type { Joined } from '../../control-plane/downloads/connector/state/state-folder.ts'
import { connectorHere, startJoinable } from './connector-program.ts'
import { openDoor, type Door } from './dialled-in.ts'
import { createTestAuthority } from './test-certificates.ts'
import { listening } from './wire.ts'

export async function startSecureService(t: Test) {
  const service = await startJoinable(t)
  const authority = createTestAuthority(t)
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, authority.caPem])
  t.teardown(() => setDefaultCACertificates(before))
  const { certificate_pem: cert, private_key_pem: key } = authority.issue('id.localhost')
  const secure = createSecureServer({ key, cert }, (request, response) => {
    const onward = httpRequest(`${service.baseUrl}${request.url}`, {
      method: request.method,
      headers: request.headers,
    })
    onward.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  const port = await listening(secure)
  t.teardown(() => {
    secure.closeAllConnections()
    secure.close()
  })
  const door = await openDoor(t)
  await service.services.gatewayDoors.connected('gateway-1', {
    address: door.address,
    certificate: door.certificate,
  })
  // A name for which a proxy is asked.
  const baseUrl = `https://id.localhost:${port}`
  const here = connectorHere(t, {})
  return { service, door, baseUrl, ...here, state: join(here.home, 'state') }
}

/** Its gateway knows a connector that has joined, as from a snapshot. */
export function introduce(door: Door, state: string): void {
  const joined = JSON.parse(readFileSync(join(state, 'connector.json'), 'utf8')) as Joined
  const { connector_id: connectorId, key } = joined
  const pair = { privateKey: openKey(key), publicKey: publicKeyOf(key), keyId: key.key_id }
  door.allow({ [connectorId]: pair })
}
