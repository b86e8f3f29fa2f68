/** The program `service-connector` in this process, in a home of its own, and a service to join. */
import { Readable, Writable } from 'node:stream'
import type { Test } from 'tap'
import type {
  ProgramSignal,
  ProgramWorld,
} from '../../control-plane/downloads/connector/commands/command.ts'
import { run } from '../../control-plane/downloads/connector/program.ts'
import { newTenant } from './api.ts'
import { temporaryFolder } from './control-plane.ts'
import { startPublicServer } from './public-server.ts'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** One that goes on until it is told to stop. */
export interface Running {
  readonly ended: Promise<Ended>
  signal(signal: ProgramSignal): void
  err(): string
  /** Settles once this stands in its log, so many times. */
  logged(text: string, times?: number): Promise<void>
}

export function connectorHere(t: Test, environment: Record<string, string>) {
  const home = temporaryFolder(t)

  function start(args: readonly string[], world: Partial<ProgramWorld> = {}): Running {
    const watchers = new Set<() => void>()
    const [out, err] = [collected(), collected(() => watchers.forEach((look) => look()))]
    let listen: ((signal: ProgramSignal) => void) | undefined
    const ended = run(args, {
      environment,
      stdin: Readable.from([]) as NodeJS.ReadStream,
      stdout: out.stream,
      stderr: err.stream,
      homeFolder: home,
      hostName: 'web-1',
      userId: process.getuid?.(),
      platform: 'linux',
      nodeFile: process.execPath,
      programFile: 'service-connector.mjs',
      nowMs: Date.now,
      upMs: () => performance.now(),
      random: () => 0.1,
      onSignal: (given) => (listen = given),
      ...world,
    }).then((code) => ({ code, out: out.text(), err: err.text() }))
    return {
      ended,
      signal: (signal) => listen?.(signal),
      err: err.text,
      logged: (text, times = 1) =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (err.text().split(text).length <= times) return
            watchers.delete(look)
            resolve()
          }
          watchers.add(look)
          look()
          void ended.then(() => reject(new Error(`${text} was never logged: ${err.text()}`)))
        }),
    }
  }

  return {
    home,
    start,
    call: (args: readonly string[], world: Partial<ProgramWorld> = {}): Promise<Ended> =>
      start(args, world).ended,
  }
}

/** A service on a socket, with a tenant in connector mode. */
export async function startJoinable(t: Test) {
  const server = await startPublicServer(t)
  await server.operator('POST', '/tenants', newTenant('acme', { mode: 'connector' }))
  await server.operator('POST', '/tenants/acme/publish')
  return {
    ...server,
    async token(body: object = {}): Promise<string> {
      const made = await server.operator('POST', '/tenants/acme/connector-tokens', body)
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return String(made.body['token'])
    },
    connectors: async () => (await server.operator('GET', '/tenants/acme/connectors')).items,
  }
}

function collected(onChunk: () => void = () => undefined) {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      onChunk()
      done()
    },
  })
  return { stream: stream as NodeJS.WriteStream, text: () => Buffer.concat(chunks).toString() }
}
