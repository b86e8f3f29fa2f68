/** Starts the programs of a bench and ends them again. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/support/ports.ts'

export interface Running {
  readonly port: number
  /** Where it speaks TLS; 0 where it does not. */
  readonly tlsPort: number
  /** What the peer started itself is found from these. */
  readonly pids: readonly number[]
  /** On another machine in real life: its CPU is told apart. */
  readonly besidePids?: readonly number[]
  /** Of JavaScript, since its start; of those that can tell. */
  readonly allocatedBytes?: () => Promise<number>
  stop(): Promise<void>
}

/** Something that may not be there, and how to get it. */
export interface Need {
  readonly program?: string
  readonly packages?: readonly string[]
  readonly install: string
}

export interface Start {
  readonly port: number
  readonly tlsPort?: number
  readonly environment?: Record<string, string>
  /** What it prints goes through a pipe to a reader, as a container's log does; else nowhere. */
  readonly isLogRead?: boolean
  /** The reader, if it is not just there. */
  readonly logReader?: readonly string[]
  /** It says itself when it is ready, by a message; others are ready when they take connections. */
  readonly saysReady?: boolean
}

export const folder = mkdtempSync(join(tmpdir(), 'bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const ROOT = fileURLToPath(new URL('../', import.meta.url))

const isInstalled = (program: string): boolean => spawnSync('which', [program]).status === 0

function isResolved(name: string): boolean {
  try {
    return import.meta.resolve(name) !== ''
  } catch {
    return false
  }
}

export function isThere(need: Need | undefined): boolean {
  const { program, packages = [] } = need ?? {}
  return (program === undefined || isInstalled(program)) && packages.every(isResolved)
}

export function writeText(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Runs until `stop`. What it says is shown only if it does not start. */
export async function start(command: string, args: string[], how: Start): Promise<Running> {
  const said = join(folder, `said-${how.port}`)
  const log = how.isLogRead === true ? openReadPipe(how) : undefined
  const ipc = how.saysReady === true ? (['ipc'] as const) : []
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...how.environment },
    stdio: ['ignore', log?.writeEnd ?? 'ignore', openSync(said, 'w'), ...ipc],
  })
  if (log) {
    closeSync(log.writeEnd)
    child.once('exit', () => log.reader.kill())
  }
  const isReady =
    how.saysReady === true ? await hasSpoken(child) : await isListening(child, how.port)
  if (!isReady) {
    child.kill('SIGKILL')
    throw new Error(`${command} ${args.join(' ')} did not start:\n${readFileSync(said, 'utf8')}`)
  }
  return {
    port: how.port,
    tlsPort: how.tlsPort ?? 0,
    pids: [child.pid!],
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      const impatience = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await gone
      clearTimeout(impatience)
    },
  }
}

function openReadPipe({ port, logReader: [command, ...args] = ['cat'] }: Start) {
  const path = join(folder, `log-${port}`)
  spawnSync('mkfifo', [path])
  const writeEnd = openSync(path, 'r+') // reading as well, or it would wait for the reader
  const readEnd = openSync(path, 'r')
  const reader = spawn(command!, args, { stdio: [readEnd, 'ignore', 'inherit'] })
  closeSync(readEnd)
  return { writeEnd, reader }
}

/** Two programs that are one peer: both count. */
export function together(front: Running, behind: Running): Running {
  return {
    ...front,
    pids: [...front.pids, ...behind.pids],
    async stop() {
      await front.stop()
      await behind.stop()
    },
  }
}

/** One for requests in the clear, one for TLS. */
export async function freePorts(): Promise<{ port: number; tlsPort: number }> {
  return { port: await freePort(), tlsPort: await freePort() }
}

function hasSpoken(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once('message', () => resolve(true))
    child.once('exit', () => resolve(false))
  })
}

async function isListening(child: ChildProcess, port: number): Promise<boolean> {
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}
