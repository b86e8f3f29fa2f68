/** nginx as a plain reverse proxy, and with auth_request and a small service that remembers tokens. */
import { freePort } from '../../test/support/ports.ts'
import { folder, freePorts, start, together, writeText, type Need } from '../processes.ts'
import { programPath, type Behind, type Peer } from './peer.ts'

const need: Need = { program: 'nginx', install: 'apt install nginx' }

export const nginx: Peer = {
  name: 'nginx',
  need,
  async start(behind) {
    const ports = await freePorts()
    const conf = writeText('nginx.conf', confOf(ports, behind, '', ''))
    return start('nginx', ['-c', conf], ports)
  },
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
    const conf = writeText('nginx-auth.conf', confOf(ports, behind, upstream, location))
    return together(await start('nginx', ['-c', conf], ports), auth)
  },
}

function confOf(
  { port, tlsPort }: { port: number; tlsPort: number },
  { originPort, sessions: { certificatePaths } }: Behind,
  upstream: string,
  location: string,
): string {
  return `daemon off; master_process off; pid ${writeText(`nginx-${port}.pid`, '')};
error_log stderr crit;
events { worker_connections 16384; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 75s; tcp_nodelay on;
  client_body_buffer_size 64k; proxy_buffers 8 16k; proxy_temp_path ${folder}/nginx-${port};
  ssl_certificate ${certificatePaths.cert}; ssl_certificate_key ${certificatePaths.key};
  ssl_protocols TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on; ssl_session_cache shared:tls:10m;
  ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 64; keepalive_requests 1000000000; }
  ${upstream}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    listen 127.0.0.1:${tlsPort} ssl http2 backlog=4096;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
      ${location}
    }
  }
}`
}
