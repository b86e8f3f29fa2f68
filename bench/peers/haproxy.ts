/** HAProxy as a plain reverse proxy, and with the check that its manual gives for tokens. */
import { freePorts, start, writeText, type Need } from '../processes.ts'
import type { Behind, Peer } from './peer.ts'

const need: Need = { program: 'haproxy', install: 'apt install haproxy' }

export const haproxy: Peer = haproxyPeer('haproxy', () => '')

export const haproxyJwtVerify: Peer = haproxyPeer(
  'haproxy jwt_verify',
  ({ sessions }) => `
  http-request set-var(txn.token) req.cook(service_session)
  http-request set-var(txn.alg) var(txn.token),jwt_header_query('$.alg')
  http-request set-var(txn.exp) var(txn.token),jwt_payload_query('$.exp','int')
  http-request set-var(txn.now) date()
  http-request deny unless { var(txn.alg) -m str RS256 }
  http-request deny unless { var(txn.token),jwt_verify(txn.alg,"${sessions.publicKeyPath}") -m int 1 }
  http-request deny if { var(txn.exp),sub(txn.now) -m int lt 0 }`,
)

function haproxyPeer(name: string, rulesOf: (behind: Behind) => string): Peer {
  return {
    name,
    need,
    async start(behind) {
      const ports = await freePorts()
      const conf = writeText(`haproxy-${ports.port}.cfg`, confOf(ports, behind, rulesOf(behind)))
      return start('haproxy', ['-db', '-f', conf], ports)
    },
  }
}

/** It would ask for two descriptors per connection, more than some machines let it have. */
function confOf(
  { port, tlsPort }: { port: number; tlsPort: number },
  { originPort, sessions }: Behind,
  rules: string,
): string {
  return `global
  maxconn 16384
  no strict-limits
  nbthread 1
  ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 60s
  http-reuse always
frontend edge
  bind 127.0.0.1:${port} backlog 4096
  bind 127.0.0.1:${tlsPort} backlog 4096 ssl crt ${sessions.certificatePaths.both} alpn h2,http/1.1${rules}
  http-request set-header X-Forwarded-For %[src]
  default_backend origin
backend origin
  server a 127.0.0.1:${originPort}
`
}
