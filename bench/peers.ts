/** Who is measured: each a reverse proxy with one worker, and keep-alive on both sides. */
import { freePort, isInstalled, start, writeText } from './processes.ts'
import type { Running } from './processes.ts'
import type { Sessions } from './sessions.ts'

export interface Behind {
  readonly originPort: number
  readonly sessions: Sessions
}

export interface Peer {
  readonly name: string
  /** A program that must be installed; '' for our own. */
  readonly needs: string
  start(behind: Behind): Promise<Running>
}

const node = process.execPath
/** For profiles: BENCH_NODE_FLAGS="--cpu-prof". */
const nodeFlags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)
const script = (name: string): string => new URL(name, import.meta.url).pathname

export const PEERS: readonly Peer[] = [
  {
    name: 'gateway',
    needs: '',
    async start({ originPort, sessions }) {
      const port = await freePort()
      const snapshot = sessions.snapshotFor(`http://127.0.0.1:${originPort}`)
      const path = writeText('snapshot.json', JSON.stringify(snapshot))
      return start(node, [...nodeFlags, script('gateway.ts'), String(port), path], port)
    },
  },
  {
    name: 'edge',
    needs: '',
    async start({ originPort }) {
      const port = await freePort()
      return start(node, [...nodeFlags, script('edge.ts'), String(port), String(originPort)], port)
    },
  },
  {
    name: 'nginx',
    needs: 'nginx',
    async start({ originPort }) {
      const port = await freePort()
      const conf = writeText('nginx.conf', nginxConf(port, originPort, '', ''))
      return start('nginx', ['-c', conf], port)
    },
  },
  {
    name: 'nginx auth_request',
    needs: 'nginx',
    async start({ originPort, sessions }) {
      const [port, authPort] = [await freePort(), await freePort()]
      const args = [script('auth-service.ts'), String(authPort), sessions.publicKeyPath]
      const auth = await start(node, args, authPort)
      const upstream = `upstream auth { server 127.0.0.1:${authPort}; keepalive 64; }`
      const location = `auth_request /auth; } location = /auth { internal; proxy_pass http://auth;
        proxy_http_version 1.1; proxy_pass_request_body off; proxy_set_header Content-Length "";
        proxy_set_header Connection "";`
      const conf = writeText('nginx-auth.conf', nginxConf(port, originPort, upstream, location))
      return together(await start('nginx', ['-c', conf], port), auth)
    },
  },
  {
    name: 'haproxy',
    needs: 'haproxy',
    async start({ originPort }) {
      const port = await freePort()
      const conf = writeText('haproxy.cfg', haproxyConf(port, originPort, ''))
      return start('haproxy', ['-db', '-f', conf], port)
    },
  },
  {
    name: 'haproxy jwt_verify',
    needs: 'haproxy',
    async start({ originPort, sessions }) {
      const port = await freePort()
      const rules = `
  http-request set-var(txn.token) req.cook(service_session)
  http-request set-var(txn.alg) var(txn.token),jwt_header_query('$.alg')
  http-request set-var(txn.exp) var(txn.token),jwt_payload_query('$.exp','int')
  http-request set-var(txn.now) date()
  http-request deny unless { var(txn.alg) -m str RS256 }
  http-request deny unless { var(txn.token),jwt_verify(txn.alg,"${sessions.publicKeyPath}") -m int 1 }
  http-request deny if { var(txn.exp),sub(txn.now) -m int lt 0 }`
      const conf = writeText('haproxy-jwt.cfg', haproxyConf(port, originPort, rules))
      return start('haproxy', ['-db', '-f', conf], port)
    },
  },
  {
    name: 'caddy',
    needs: 'caddy',
    async start({ originPort }) {
      const port = await freePort()
      const conf = writeText(
        'Caddyfile',
        `{
  admin off
  auto_https off
  log {
    output discard
  }
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
    async start({ originPort }) {
      const port = await freePort()
      return start(node, [script('http-proxy-3.ts'), String(port), String(originPort)], port)
    },
  },
]

export const isAvailable = (peer: Peer): boolean => peer.needs === '' || isInstalled(peer.needs)

function nginxConf(port: number, originPort: number, upstream: string, location: string): string {
  return `daemon off; master_process off; pid ${writeText(`nginx-${port}.pid`, '')};
error_log stderr crit;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 75s; tcp_nodelay on;
  client_body_buffer_size 64k; proxy_buffers 8 16k; proxy_temp_path /tmp/bench-nginx;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 64; keepalive_requests 1000000000; }
  ${upstream}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
      ${location}
    }
  }
}`
}

function haproxyConf(port: number, originPort: number, rules: string): string {
  return `global
  maxconn 8192
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend edge
  bind 127.0.0.1:${port} backlog 4096${rules}
  http-request set-header X-Forwarded-For %[src]
  default_backend origin
backend origin
  server a 127.0.0.1:${originPort}
`
}

/** Two programs that are one peer: both count. */
function together(front: Running, behind: Running): Running {
  return {
    port: front.port,
    pids: [...front.pids, ...behind.pids],
    async stop() {
      await front.stop()
      await behind.stop()
    },
  }
}
