/** A tunnel in a process of its own, so that its memory is seen. */
import { createPrivateKey } from 'node:crypto'
import { applicationAddress } from '../../control-plane/downloads/connector/tunnel/splice.ts'
import { Tunnel } from '../../control-plane/downloads/connector/tunnel/tunnel.ts'
import type { GatewayAddress } from '../../control-plane/downloads/connector/tunnel/dial.ts'

export interface AloneOrder {
  readonly gateway: GatewayAddress
  readonly privateKeyPem: string
  readonly origin: string
}

process.once('message', ({ gateway, privateKeyPem, origin }: AloneOrder) => {
  const tunnel = new Tunnel({
    identity: {
      tenantId: 'app',
      connectorId: 'con_1',
      keyId: 'k1',
      privateKey: createPrivateKey(privateKeyPem),
      program: '0.0.0',
    },
    application: applicationAddress(origin),
    dialling: { timeoutMs: 60_000 },
    random: Math.random,
    nowMs: Date.now,
    applicationMs: 60_000,
    onEvent: ({ type }) => process.send?.(type),
  })
  tunnel.follow([gateway])
})
process.once('disconnect', () => process.exit())
