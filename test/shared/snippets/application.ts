/** A snippet, put on disk as it stands and run, with the control plane that it asks for keys. */
import { execFileSync, spawn } from 'node:child_process'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { calculateJwkThumbprint } from 'jose'
import { request } from 'undici'
import type { FrameworkSnippet } from '../../../shared/integration/snippets/snippet.ts'
import { startApi } from '../../support/api.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { freePort } from '../../support/ports.ts'
import { newSigningKey, type SigningKey } from '../../support/tokens.ts'
import type { Issuer, Lines } from './cases.ts'

export interface Host {
  /** Why this machine cannot run it, or false. */
  readonly missing: string | false
  /** The rest of the project that the snippet is pasted into. */
  readonly files?: Readonly<Record<string, string>>
  /** Once, before the first start. */
  readonly build?: readonly string[]
  readonly start: readonly string[] | ((port: number) => readonly string[])
}

interface Teardown {
  teardown(work: () => unknown): void
}

/** The tenant acme with its keys, where a snippet fetches them. */
export async function startControlPlane(t: Teardown) {
  const { services, app, operator, tenant } = await startApi(t)
  await tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  let fetches = 0
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.endsWith('/public-key') === true) fetches += 1
    const accept = incoming.headers.accept ?? ''
    void (async () => {
      const answer = await app.request(
        incoming.url ?? '',
        { headers: { accept } },
        { address: '127.0.0.1' },
      )
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
      outgoing.end(Buffer.from(await answer.arrayBuffer()))
    })()
  })

  async function key(index: number): Promise<SigningKey> {
    const { jwks } = await services.keys.signingSet('acme')
    const jwk = jwks[index]
    if (jwk === undefined) throw new Error(`there is no key ${index}`)
    const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
    return { kid: jwk.kid, privateKey, publicKey: createPublicKey(privateKey) }
  }

  return {
    base: await listen(t, server),
    key: await key(0),
    fetches: () => fetches,
    async rotate(): Promise<SigningKey> {
      await operator('POST', '/tenants/acme/keys/rotate', { phase: 'prepare' })
      return key(1)
    },
  }
}

/** Named as the service names its keys. */
export async function keyOfTheService(): Promise<SigningKey> {
  const key = newSigningKey('')
  return { ...key, kid: await calculateJwkThumbprint(key.publicKey.export({ format: 'jwk' })) }
}

/** Answers what is no HTTP, and hangs up. */
export async function startBrokenControlPlane(t: Teardown) {
  const server = createTcpServer((socket) => socket.on('error', () => {}).end('what?\r\n\r\n'))
  return { base: await listen(t, server), key: await keyOfTheService() }
}

async function listen(t: Teardown, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function pemOf({ publicKey }: SigningKey): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString()
}

/** Written and, where the language wants it, compiled once; can be started several times. */
export function installApplication(
  t: Teardown,
  { edge }: FrameworkSnippet,
  host: Host,
  keys: readonly SigningKey[],
) {
  const folder = temporaryFolder(t)
  const files = {
    ...host.files,
    [edge.file]: edge.code,
    ...(keys.length > 0 && { 'service_public.pem': keys.map(pemOf).join('') }),
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const [builder, ...steps] = host.build ?? []
  const environment = { PATH: '/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' }
  if (builder !== undefined)
    execFileSync(builder, steps, { cwd: folder, env: environment, stdio: 'pipe' })

  /** `base`: of the service; null: nothing is set, as where somebody has only just pasted it. */
  return async (t: Teardown, base: string | null) => {
    const port = await freePort()
    const [program = '', ...args] = typeof host.start === 'function' ? host.start(port) : host.start
    const child = spawn(program, args, {
      cwd: folder,
      env: {
        ...environment,
        PORT: String(port),
        ...(base !== null && { SERVICE_BASE_URL: base, SERVICE_TENANT_ID: 'acme' }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    t.teardown(async () => {
      child.kill()
      await ended
    })

    async function ask(lines: Lines) {
      const answer = await request(`http://127.0.0.1:${port}/`, { headers: [...lines] })
      const text = await answer.body.text()
      return { status: answer.statusCode, reply: answer.headers['x-service-probe-reply'], text }
    }

    while (!(await takesConnections(port))) {
      if (child.exitCode !== null) throw new Error(`${program} ended:\n${output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return { ask, output: () => output }
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

export function issuerOf(base: string, key: SigningKey): Issuer {
  return { base, key, pem: pemOf(key), nowSeconds: Math.floor(Date.now() / 1000) }
}
