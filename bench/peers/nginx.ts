/** nginx as a plain reverse proxy, and with auth_request and a small service that remembers tokens. */
import { freePort } from '../../test/support/ports.ts'
import { folder, freePorts, start, together, writeText, type Need } from '../processes.ts'
import type { Sessions } from '../sessions.ts'
import { programPath, type Behind, type Peer } from './peer.ts'

interface Ports {
  readonly port: number
  readonly tlsPort: number
}

/** What one of them has beside what all have. */
interface Extras {
  readonly outside?: string
  readonly location?: string
  readonly connection?: string
}

const need: Need = { program: 'nginx', install: 'apt install nginx' }

export const nginx = nginxPeer('nginx', () => ({}))

/** It passes upgrades on, which costs it something with every request. */
export const nginxUpgrades = nginxPeer('nginx', () => ({
  outside: "map $http_upgrade $connection_upgrade { default upgrade; '' ''; }",
  location: 'proxy_set_header Upgrade $http_upgrade;',
  connection: '$connection_upgrade',
}))

/** A server and an upstream for each host, as each of our tenants has. */
export function nginxOfHosts(name: string, hosts: (sessions: Sessions) => readonly string[]): Peer {
  return nginxPeer(name, (ports, behind) => {
    const each = hosts(behind.sessions).map((host, index) => {
      const upstream = upstreamOf(`origin-${index}`, behind.originPort)
      return `${upstream} ${serverOf(`listen 127.0.0.1:${ports.port}; server_name ${host};`, `origin-${index}`)}`
    })
    return { outside: `server_names_hash_max_size 8192;\n${each.join('\n')}` }
  })
}

function nginxPeer(name: string, extrasOf: (ports: Ports, behind: Behind) => Extras): Peer {
  return {
    name,
    need,
    async start(behind) {
      const ports = await freePorts()
      const conf = confOf(ports, behind, extrasOf(ports, behind))
      return start('nginx', ['-c', writeText(`nginx-${ports.port}.conf`, conf)], ports)
    },
  }
}

export const nginxAuthRequest: Peer = {
  name: 'nginx auth_request',
  need,
  async start(behind) {
    const ports = await freePorts()
    const authPort = await freePort()
    const service = [
      programPath('auth-service.ts'),
      String(authPort),
      behind.sessions.publicKeyPath,
    ]
    const auth = await start(process.execPath, service, { port: authPort })
    const upstream = `upstream auth { server 127.0.0.1:${authPort}; keepalive 64; keepalive_requests 1000000000; }`
    const location = `auth_request /auth; } location = /auth { internal; proxy_pass http://auth;
        proxy_http_version 1.1; proxy_pass_request_body off; proxy_set_header Content-Length "";
        proxy_set_header Connection "";`
    const conf = writeText(
      'nginx-auth.conf',
      confOf(ports, behind, { outside: upstream, location }),
    )
    return together(await start('nginx', ['-c', conf], ports), auth)
  },
}

function confOf(
  ports: Ports,
  { originPort, sessions: { certificatePaths } }: Behind,
  { outside = '', location = '', connection = '""' }: Extras,
): string {
  return `daemon off; master_process off; pid ${writeText(`nginx-${ports.port}.pid`, '')};
error_log stderr crit;
events { worker_connections 16384; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 75s; tcp_nodelay on;
  client_body_buffer_size 64k; proxy_buffers 8 16k; proxy_temp_path ${folder}/nginx-${ports.port};
  ssl_certificate ${certificatePaths.cert}; ssl_certificate_key ${certificatePaths.key};
  ssl_protocols TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on; ssl_session_cache shared:tls:10m;
  ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384;
  ${upstreamOf('origin', originPort)}
  ${serverOf(`listen 127.0.0.1:${ports.port} backlog=4096; listen 127.0.0.1:${ports.tlsPort} ssl http2 backlog=4096;`, 'origin', location, connection)}
  ${outside}
}`
}

const upstreamOf = (name: string, port: number): string =>
  `upstream ${name} { server 127.0.0.1:${port}; keepalive 64; keepalive_requests 1000000000; }`

function serverOf(own: string, upstream: string, location = '', connection = '""'): string {
  return `server {
    ${own}
    location / {
      proxy_pass http://${upstream}; proxy_http_version 1.1;
      proxy_set_header Connection ${connection}; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
      ${location}
    }
  }`
}
