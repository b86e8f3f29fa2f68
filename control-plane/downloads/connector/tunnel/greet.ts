/** A dialled connection says whose it is; what comes behind is the gateway's. */
import type { KeyObject } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import {
  commonVersion,
  GatewayHelloSchema,
  signHello,
  type ConnectionKind,
  type GatewayHello,
} from '../../../../shared/connector/handshake.ts'
import { readLines } from '../../../../shared/connector/lines.ts'
import { readWord } from '../../../../shared/connector/messages.ts'
import { LIMITS } from '../../../../shared/limits.ts'

export interface ConnectorIdentity {
  readonly tenantId: string
  readonly connectorId: string
  readonly keyId: string
  readonly privateKey: KeyObject
  /** The version of this program. */
  readonly program: string
}

export function greet(
  socket: TLSSocket,
  kind: ConnectionKind,
  identity: ConnectorIdentity,
): Promise<{ readonly hello: GatewayHello; readonly left: Buffer }> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(
      () => fail('the gateway has said nothing'),
      LIMITS.connectorHandshakeMsMax,
    )
    const gone = () => fail('the gateway has closed the connection')
    const lines = readLines(socket, {
      bytesMax: LIMITS.connectorHandshakeBytesMax,
      onLine: answer,
      onTooLong: () => fail('the gateway does not keep to the protocol'),
    })
    socket.once('close', gone)

    function settle(): Buffer {
      clearTimeout(deadline)
      socket.off('close', gone)
      return lines.stop()
    }

    function fail(why: string): void {
      settle()
      socket.destroy()
      reject(new Error(why))
    }

    function answer(line: string): void {
      const hello = readWord(GatewayHelloSchema, line)
      if (hello === undefined) return fail('the gateway does not keep to the protocol')
      const version = commonVersion(hello.versions)
      if (version === undefined)
        return fail('the gateway speaks another version: update this connector')
      const { tenantId, connectorId, keyId, privateKey, program } = identity
      const ours = {
        tenant_id: tenantId,
        connector_id: connectorId,
        key_id: keyId,
        kind,
        version,
        program,
      }
      const left = settle()
      socket.write(`${JSON.stringify(signHello(hello, ours, socket, privateKey))}\n`)
      resolve({ hello, left })
    }
  })
}
