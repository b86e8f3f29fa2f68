/** The real programs as real processes, each test with its own folder, ports and secrets. */
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { Browser } from './browser.ts'
import { freePort } from './ports.ts'

export const SECRETS = {
  SERVICE_OPERATOR_KEY: 'operator-key-for-tests-0123456789',
  SERVICE_FLEET_KEY: 'fleet-key-for-tests-0123456789-abc',
  SERVICE_MASTER_KEY: 'master-key-for-tests-0123456789-abcdef',
} as const

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What a tap test offers here. */
interface TestScope {
  after(work: () => Promise<void>): void
}

export class Program {
  readonly child: ChildProcess
  readonly ready: Promise<unknown>
  readonly exited: Promise<number | null>
  output = ''

  /** `root`: where the program is, if not here. */
  constructor(
    file: string,
    args: readonly string[],
    environment: Record<string, string> = {},
    root = ROOT,
  ) {
    this.child = fork(join(root, file), args, {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [],
    })
    const collect = (chunk: Buffer) => void (this.output += chunk.toString())
    this.child.stdout?.on('data', collect)
    this.child.stderr?.on('data', collect)
    const exited = new Promise<number | null>((resolve) => this.child.once('close', resolve))
    this.exited = exited
    this.ready = new Promise((resolve, reject) => {
      this.child.once('message', resolve)
      void exited.then((code) => reject(new Error(`${file} ended with ${code}:\n${this.output}`)))
    })
    this.ready.catch(() => {}) // whoever awaits it hears of it
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal)
    return this.exited
  }
}

export interface FleetOptions {
  readonly gateways?: number
  readonly workers?: number
  readonly gatewayConfig?: string | ((gateway: number) => string)
  readonly database?: string
}

export async function startFleet(t: TestScope, options: FleetOptions = {}) {
  // not the test's own folder, which is taken away while the programs still write
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'))
  const [listen, fleetListen] = [await freePort(), await freePort()]
  const gatewayPorts: number[] = []
  for (let count = 0; count < (options.gateways ?? 1); count++) gatewayPorts.push(await freePort())
  const baseUrl = `http://localhost:${listen}`
  const logs: (() => string)[] = []
  const programs = new Set<Program>()

  const { gatewayConfig = '' } = options
  const moreOf = (gateway: number) =>
    typeof gatewayConfig === 'string' ? gatewayConfig : gatewayConfig(gateway)
  const configOf = (gateway: number) => {
    const file = join(folder, `config-${gateway}.yaml`)
    writeFileSync(
      file,
      `base_url: ${baseUrl}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${listen}", fleet_listen: "127.0.0.1:${fleetListen}", database: "${options.database ?? 'sqlite'}" }
edge_url: http://{hostname}:${gatewayPorts[0]}
gateway:
  listen: 127.0.0.1:${gatewayPorts[gateway]}
  id: gateway-${gateway}
  workers: ${options.workers ?? 1}
  control_plane: http://127.0.0.1:${fleetListen}
${moreOf(gateway)}
`,
    )
    return file
  }

  async function run(file: string, gateway = 0) {
    const program = new Program(file, ['--config', configOf(gateway)], SECRETS)
    programs.add(program)
    logs.push(() => program.output)
    await program.ready
    return program
  }

  const fleet = {
    folder,
    baseUrl,
    gatewayPorts,
    controlPlane: undefined as unknown as Program,
    gateways: [] as Program[],
    logs: () => logs.map((log) => log()).join(''),
    async startControlPlane() {
      fleet.controlPlane = await run('control-plane/main.ts')
    },
    async startGateway(index: number) {
      fleet.gateways[index] = await run('gateway/main.ts', index)
    },
    /** A call of the operator API. */
    async operator(method: string, path: string, body?: unknown) {
      return fleet.api(SECRETS.SERVICE_OPERATOR_KEY, method, `/operator${path}`, body)
    },
    async api(key: string, method: string, path: string, body?: unknown) {
      const answer = await request(`${baseUrl}/api/v1${path}`, {
        method: method as 'GET',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      })
      const text = await answer.body.text()
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: (text === '' ? {} : JSON.parse(text)) as Record<string, never>,
      }
    },
    /** Settles when every running gateway serves the newest revision. */
    async settled() {
      for (;;) {
        const { body } = await fleet.operator('GET', '/gateways')
        const items = body['items'] as unknown as { connected: boolean; lag: number }[]
        const connected = items.filter((gateway) => gateway.connected)
        if (connected.length >= gatewayPorts.length && connected.every(({ lag }) => lag === 0))
          return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    edge: (hostname: string, gateway = 0) => `http://${hostname}:${gatewayPorts[gateway]}`,
    browser() {
      const browser = new Browser()
      t.after(() => browser.close())
      return browser
    },
  }
  t.after(async () => {
    await Promise.all([...programs].map((program) => program.stop('SIGKILL')))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  await Promise.all([
    fleet.startControlPlane(),
    ...gatewayPorts.map((_, index) => fleet.startGateway(index)),
  ])
  return fleet
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>

/** `npm start` and the like, in a process group of its own, as a terminal would run it. */
export function spawnCommand(command: string, args: readonly string[]) {
  const child = spawn(command, args, { cwd: ROOT, detached: true })
  return { child, signalGroup: (signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal) }
}
