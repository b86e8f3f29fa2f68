/** Starts the programs of a bench and ends them again. */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Running {
  readonly port: number
  /** What the peer started itself is found from these. */
  readonly pids: readonly number[]
  stop(): Promise<void>
}

export const isInstalled = (program: string): boolean => spawnSync('which', [program]).status === 0

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export const folder = mkdtempSync(join(tmpdir(), 'bench-'))

export function writeText(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Runs until `stop`; ready when the port takes connections. */
export async function start(command: string, args: string[], port: number): Promise<Running> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  await untilListening(child, port)
  return {
    port,
    pids: [child.pid!],
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await gone
    },
  }
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (child.exitCode !== null) break
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () =>
        resolve(false),
      )
      socket.on('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${child.spawnfile} does not listen on ${port}`)
}
