/** Caddy as a plain reverse proxy. */
import { folder, freePorts, start, writeText } from '../processes.ts'
import type { Peer } from './peer.ts'

export const caddy: Peer = {
  name: 'caddy',
  need: { program: 'caddy', install: 'apt install caddy' },
  async start({ originPort, sessions: { certificatePaths } }) {
    const { port, tlsPort } = await freePorts()
    const conf = writeText(
      'Caddyfile',
      `{
  admin off
  auto_https off
  log {
    output discard
  }
  servers {
    protocols h1 h2
  }
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${originPort}
}
https://:${tlsPort} {
  bind 127.0.0.1
  tls ${certificatePaths.cert} ${certificatePaths.key}
  reverse_proxy 127.0.0.1:${originPort}
}
`,
    )
    const args = ['run', '--adapter', 'caddyfile', '--config', conf]
    // one thread for Go code, as the others have one worker; with more it takes more per request
    const environment = { GOMAXPROCS: '1', XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
    return start('caddy', args, { port, tlsPort, environment })
  },
}
