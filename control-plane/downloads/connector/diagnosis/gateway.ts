/** Whether a gateway takes connectors from here, and is who it is said to be. */
import {
  alpnFor,
  CONNECTOR_ALPN,
  CONNECTOR_VERSIONS,
  GatewayHelloSchema,
} from '../../../../shared/connector/handshake.ts'
import { readLines } from '../../../../shared/connector/lines.ts'
import { readWord } from '../../../../shared/connector/messages.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Proxies } from '../../resident/proxies.ts'
import type { GatewayAddress } from '../tunnel/dial.ts'
import { failed, found, type Fault, type Finding } from './finding.ts'
import { reach } from './reach.ts'
import { speakTls, type Spoken } from './tls.ts'

/** Nothing is signed: a connection of ours beside those of the connector that runs would be one of them. */
export async function lookAtGateway(
  to: GatewayAddress,
  proxies: Proxies,
  signal: AbortSignal,
): Promise<Finding> {
  const { gateway_id: gatewayId, address, certificate } = to
  const about = { subject: 'gateway', name: `${gatewayId} at ${address}` } as const
  const [, host = '', port = ''] = /^\[?([^\]]*)\]?:(\d+)$/.exec(address) ?? []
  const reached = await reach({ host, port: Number(port), isSecure: true }, proxies, signal)
  if ('cause' in reached) return failed(about, reached)
  const ALPNProtocols = alpnFor({ worker: 1, use: undefined })
  const spoken = await speakTls(reached.socket, address, { host, ALPNProtocols }, signal)
  if ('cause' in spoken) return failed(about, spoken)
  const fault =
    certificateFault(to, spoken, Buffer.from(certificate, 'base64url')) ??
    (await helloFault(to, spoken, signal))
  spoken.socket.destroy()
  if (fault !== undefined) return failed(about, fault)
  const { proxy } = reached
  return found(about, `It takes connectors${proxy ? `, through the proxy ${proxy.host}` : ''}.`)
}

function certificateFault(
  { gateway_id: gatewayId, address }: GatewayAddress,
  { raw, issuer, socket }: Spoken,
  expected: Buffer,
): Fault | undefined {
  if (!raw.equals(expected))
    return {
      cause: 'interception',
      detail: `What answers at ${address} is not ${gatewayId}: it has another certificate, issued by ${issuer}.`,
      advice: `Something on the way opens TLS connections, or another server answers. Have the proxy or firewall let ${address} through unopened. Your own CA does not help here: only the gateway's own certificate counts.`,
    }
  if (socket.alpnProtocol === CONNECTOR_ALPN) return undefined
  return {
    cause: 'tls',
    detail: `${address} does not take connectors.`,
    advice: 'Ask the operator whether this gateway is set up for connectors.',
  }
}

function helloFault(
  { gateway_id: gatewayId, address }: GatewayAddress,
  { socket }: Spoken,
  signal: AbortSignal,
): Promise<Fault | undefined> {
  return new Promise((resolve) => {
    const silent = (): Fault => ({
      cause: 'answer',
      detail: `${address} says nothing after TLS.`,
      advice: 'Something on the way may hold back what it sends; if not, ask the operator.',
    })
    const fail = () => resolve(silent())
    signal.addEventListener('abort', fail, { once: true })
    socket.once('close', fail)
    readLines(socket, {
      bytesMax: LIMITS.connectorHandshakeBytesMax,
      onTooLong: fail,
      onLine(line) {
        const hello = readWord(GatewayHelloSchema, line)
        if (hello === undefined) return fail()
        if (CONNECTOR_VERSIONS.some((version) => hello.versions.includes(version)))
          return resolve(undefined)
        resolve({
          cause: 'answer',
          detail: `${gatewayId} speaks other versions of the protocol (${hello.versions.join(', ')}).`,
          advice: 'Install the newest version of this program.',
        })
      },
    })
  })
}
