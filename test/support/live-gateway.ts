/** The real gateway program, with a control plane in memory and somebody who is signed in. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { deriveKey, writeSeen } from '../../shared/enforcement/seen.ts'
import type { TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { startControlPlane, temporaryFolder, until } from './fleet.ts'
import { freePort } from './ports.ts'
import { Program, SECRETS } from './programs.ts'
import { newSigningKey, signRs256 } from './tokens.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

export interface LiveGatewayOptions {
  readonly origin: string
  readonly workers?: number
  /** More lines of the section `gateway`, indented by two. */
  readonly config?: string
  readonly tenant?: Partial<TenantSnapshot>
  /** False: the control plane has nothing to say yet. */
  readonly isPublished?: boolean
}

export const LIVE_HOST = 'app.localhost'
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
const SECRET = 'a client secret of a test tenant'

export async function startLiveGateway(t: Teardown, options: LiveGatewayOptions) {
  const control = await startControlPlane(t, { fleetKey: createLiveKey(SECRETS.SERVICE_FLEET_KEY) })
  const folder = temporaryFolder(t)
  const [port, statusPort] = [await freePort(), await freePort()]
  const key = newSigningKey('k1')
  const { n = '', e = '' } = key.publicKey.export({ format: 'jwk' })
  const tenant: Partial<TenantSnapshot> = {
    edge_urls: { [LIVE_HOST]: `http://${LIVE_HOST}:${port}` },
    origin: options.origin,
    client_secret: SECRET,
    keys: [{ kid: key.kid, kty: 'RSA', alg: 'RS256', use: 'sig', n, e }],
    ...options.tenant,
  }
  if (options.isPublished !== false) control.put('app', tenant)
  const file = join(folder, 'config.yaml')
  const configure = (config = '') =>
    writeFileSync(
      file,
      `data_dir: ${folder}/data
gateway:
  listen: 127.0.0.1:${port}
  status_listen: 127.0.0.1:${statusPort}
  id: live
  workers: ${options.workers ?? 1}
  control_plane: http://127.0.0.1:${control.port}
${config}
`,
    )
  configure(options.config)
  const program = new Program('gateway/main.ts', ['--config', file], SECRETS)
  t.teardown(() => program.stop('SIGKILL'))
  await program.ready
  if (options.isPublished !== false) await control.settled(1)

  const lines = () => program.output.split('\n').filter((line) => line.startsWith('{'))
  return {
    port,
    statusPort,
    control,
    program,
    tenant,
    configure,
    /** The same program once more, with the same folder; the one before has ended. */
    async startAgain(): Promise<Program> {
      const next = new Program('gateway/main.ts', ['--config', file], SECRETS)
      t.teardown(() => next.stop('SIGKILL'))
      await next.ready
      return next
    },
    /** A head of somebody who is signed in, for as many requests as are wanted. */
    head(target = '/', more = '', issuedAgoSeconds = 0): string {
      const nowSeconds = Math.floor(Date.now() / 1000)
      const iat = nowSeconds - issuedAgoSeconds
      const claims = {
        iss: 'http://localhost:8080/auth/realms/app',
        aud: 'app-user',
        sub: 'ada',
        sid: 'sid-1',
        iat,
        exp: nowSeconds + 3600,
        auth_time: iat,
        amr: ['pwd'],
        acr: '1',
      }
      const token = signRs256(key, { alg: 'RS256', kid: key.kid, typ: 'JWT' }, claims)
      const seen = { seconds: nowSeconds, fingerprint: fingerprintOf(USER_AGENT, '127.0.0.1') }
      const cookie = `service_session=${token}; service_seen=${writeSeen(seen, 'sid-1', deriveKey(SECRET, 'seen'))}`
      return `GET ${target} HTTP/1.1\r\nHost: ${LIVE_HOST}\r\nUser-Agent: ${USER_AGENT}\r\nCookie: ${cookie}\r\n${more}\r\n`
    },
    status: (path: string) => fetch(`http://127.0.0.1:${statusPort}${path}`),
    async metrics(): Promise<Map<string, number>> {
      const text = await (await fetch(`http://127.0.0.1:${statusPort}/metrics`)).text()
      const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      return new Map(
        samples.map((line) => {
          const space = line.lastIndexOf(' ')
          return [line.slice(0, space), Number(line.slice(space + 1))]
        }),
      )
    },
    /** Every line that the gateway has logged, parsed. */
    logged: () => lines().map((line) => JSON.parse(line) as Record<string, unknown>),
    /** Waits until so many lines hold a text. */
    heard: (text: string, times = 1) =>
      until(() => program.output.split(text).length > times, 60_000),
  }
}

/** The workers of a gateway, as the kernel knows them. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        const stat = readFileSync(`/proc/${candidate}/stat`, 'latin1').replace(/^.*\) /s, '')
        return Number(stat.split(' ')[1]) === pid && !stat.startsWith('Z')
      } catch {
        return false
      }
    })
}
