/** Somebody's program, started for real, and asked what every guarded application has to answer. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { request } from 'undici'
import {
  carrying,
  claimsOf,
  NONCE,
  probeOf,
  type Issuer,
  type Lines,
} from '../shared/snippets/cases.ts'
import { newSigningKey } from './tokens.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export interface Program {
  readonly command: readonly string[]
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly port: number
}

export interface Booted {
  readonly origin: string
  output(): string
  stop(): Promise<void>
}

/** Waits until it takes connections; fails with what it said if it ends before. */
export async function boot(t: Teardown, program: Program): Promise<Booted> {
  const { command, folder, environment, port } = program
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      LANG: 'C.UTF-8',
      PORT: String(port),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(stop)
  while (!(await takesConnections(port))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${command.join(' ')} ended:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { origin: `http://127.0.0.1:${port}`, output: () => output, stop }
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

export interface Answer {
  readonly status: number
  readonly reply: string | readonly string[] | undefined
  readonly text: string
}

export async function ask(origin: string, path: string, lines: Lines = []): Promise<Answer> {
  const answer = await request(`${origin}${path}`, { headers: [...lines] })
  const text = await answer.body.text()
  return { status: answer.statusCode, reply: answer.headers['x-service-probe-reply'], text }
}

const stranger = newSigningKey('stranger')

/** What the smallest conformance asks; each line names what does not hold. */
export async function smokeProblems(origin: string, path: string, by: Issuer): Promise<string[]> {
  const problems: string[] = []
  const expect = (isSo: boolean, what: string, { status, text }: Answer) => {
    if (!isSo) problems.push(`${what}: ${status} ${text.slice(0, 200)}`)
  }
  const forged = { ...by, key: { ...stranger, kid: by.key.kid } }

  const unsigned = await ask(origin, path)
  expect(
    unsigned.status === 401 && /no_claims/.test(unsigned.text),
    'unsigned is refused',
    unsigned,
  )
  const missing = await ask(origin, '/there-is-no-such-page')
  expect(missing.status === 401, 'what is not there is refused as well', missing)
  const said = await ask(origin, path, ['x-service-user', 'usr_1', 'x-service-verified', 'true'])
  expect(said.status === 401, 'who only says so is refused', said)
  const false_ = await ask(origin, path, carrying(claimsOf(forged)))
  expect(false_.status === 401, 'forged is refused', false_)
  const signed = await ask(origin, path, carrying(claimsOf(by)))
  expect(signed.status < 400, 'signed is accepted', signed)
  const probe = await ask(origin, path, ['x-service-probe', probeOf(by)])
  expect(probe.status === 204 && probe.reply === NONCE, 'a probe is answered', probe)
  const untrue = await ask(origin, path, ['x-service-probe', probeOf(forged)])
  expect(untrue.status === 401 && !untrue.reply, 'a forged probe is not', untrue)
  return problems
}
