/** `npm start` as a newcomer runs it, but for the ports. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from './ports.ts'
import { spawnCommand } from './programs.ts'

export async function ownConfig(database = 'sqlite') {
  // not the test's own folder, which is taken away while the programs still write
  const folder = mkdtempSync(join(tmpdir(), 'first-run-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const ports = {
    public: await freePort(),
    fleet: await freePort(),
    edge: await freePort(),
    demo: await freePort(),
    connectors: await freePort(),
  }
  const file = join(folder, 'config.yaml')
  writeFileSync(
    file,
    `base_url: http://localhost:${ports.public}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${ports.public}", fleet_listen: "127.0.0.1:${ports.fleet}", database: "${database}" }
gateway: { listen: "127.0.0.1:${ports.edge}", control_plane: "http://127.0.0.1:${ports.fleet}" }
demo: { listen: "127.0.0.1:${ports.demo}", connector_listen: "127.0.0.1:${ports.connectors}" }
`,
  )
  return { folder, ports, file, edge: `http://demo.localhost:${ports.edge}` }
}

export function npmStart(t: Test, file: string, ...args: string[]) {
  const npm = spawnCommand('npm', ['start', '--', '--config', file, ...args])
  const { child } = npm
  let output = ''
  const heard = Promise.withResolvers<void>()
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
    if (output.includes('Ctrl-C stops everything')) heard.resolve()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  void ended.then(() => heard.reject(new Error(`it ended:\n${output}`)))
  heard.promise.catch(() => {})
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) npm.signalGroup('SIGKILL')
    await ended
  })
  return {
    isUp: heard.promise,
    ended,
    output: () => output,
    password: () => /password\s+(\S+)/.exec(output)?.[1] ?? '',
    /** Ctrl-C reaches everything in the foreground. */
    interrupt: () => npm.signalGroup('SIGINT'),
    endNpmAlone: () => child.kill('SIGTERM'),
  }
}
