/** Who is measured: each a reverse proxy in one process, with keep-alive on both sides. */
import { freePort, isInstalled, start, writeText } from './processes.ts'
import type { Running } from './processes.ts'

export interface Peer {
  readonly name: string
  /** A program that must be installed; '' for our own. */
  readonly needs: string
  start(originPort: number): Promise<Running>
}

const node = process.execPath
const script = (name: string): string => new URL(name, import.meta.url).pathname

export const PEERS: readonly Peer[] = [
  {
    name: 'edge',
    needs: '',
    async start(originPort) {
      const port = await freePort()
      const flags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)
      return start(node, [...flags, script('edge.ts'), String(port), String(originPort)], port)
    },
  },
  {
    name: 'nginx',
    needs: 'nginx',
    async start(originPort) {
      const port = await freePort()
      const conf = writeText(
        'nginx.conf',
        `daemon off; master_process off; pid ${writeText('nginx.pid', '')}; error_log stderr crit;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 75s; tcp_nodelay on;
  client_body_buffer_size 64k; proxy_buffers 8 16k; proxy_temp_path /tmp/bench-nginx;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}`,
      )
      return start('nginx', ['-c', conf], port)
    },
  },
  {
    name: 'haproxy',
    needs: 'haproxy',
    async start(originPort) {
      const port = await freePort()
      const conf = writeText(
        'haproxy.cfg',
        `global
  maxconn 8192
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend edge
  bind 127.0.0.1:${port} backlog 4096
  http-request set-header X-Forwarded-For %[src]
  default_backend origin
backend origin
  server a 127.0.0.1:${originPort}
`,
      )
      return start('haproxy', ['-db', '-f', conf], port)
    },
  },
  {
    name: 'caddy',
    needs: 'caddy',
    async start(originPort) {
      const port = await freePort()
      const conf = writeText(
        'Caddyfile',
        `{
  admin off
  auto_https off
  persist_config off
  log { level ERROR }
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${originPort}
}
`,
      )
      return start('caddy', ['run', '--adapter', 'caddyfile', '--config', conf], port)
    },
  },
  {
    name: 'http-proxy-3',
    needs: '',
    async start(originPort) {
      const port = await freePort()
      return start(node, [script('http-proxy-3.ts'), String(port), String(originPort)], port)
    },
  },
]

export const isAvailable = (peer: Peer): boolean => peer.needs === '' || isInstalled(peer.needs)
