/** The command line tool as it is downloaded, run in folders and homes of its own. */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { analyzerHere, type CallHere, type Ended } from './analyzer-here.ts'
import { newTenant } from './api.ts'
import { temporaryFolder, type ServicesOptions } from './control-plane.ts'
import { nodesHere } from './installed-sdk.ts'
import { startPublicServer } from './public-server.ts'

export interface RunWish {
  readonly environment?: Record<string, string>
  readonly folder?: string
  /** Standard input; without it there is none. */
  readonly input?: string
  /** As a program of its own, by this Node; here in this process, unless it is said. */
  readonly node?: string
}

/** What a terminal has, and nothing else of this machine. */
export function plainEnvironment(home: string): Record<string, string> {
  return { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' }
}

const compiled = mkdtempSync(join(tmpdir(), 'compiled-'))
process.once('exit', () => rmSync(compiled, { recursive: true, force: true }))
const COMPILED_ONCE = { NODE_COMPILE_CACHE: compiled }

/** One service and one download for a whole file of tests; each of them has a tenant of its own. */
export async function startAnalyzer(t: Test, options: ServicesOptions = {}) {
  const server = await startPublicServer(t, options)
  const { baseUrl, operator } = server
  const answer = await fetch(`${baseUrl}/api/v1/cli/service-analyzer.mjs`)
  const downloads = temporaryFolder(t)
  const program = join(downloads, 'service-analyzer.mjs')
  const runHere = await analyzerHere(baseUrl)
  writeFileSync(program, await answer.text(), { mode: 0o755 })
  let count = 0

  async function tenant(t: Test, settings: Record<string, unknown> = {}) {
    const tenantId = `acme-${++count}`
    const created = await operator('POST', '/tenants', newTenant(tenantId, settings))
    const key = String(created.body['analyzer_key'])
    await operator('POST', `/tenants/${tenantId}/publish`)
    const home = temporaryFolder(t)
    /** Not the home folder: nobody means that. */
    const project = temporaryFolder(t)

    async function run(args: readonly string[], wish: RunWish = {}): Promise<Ended> {
      const { environment = { SERVICE_ANALYZER_KEY: key }, folder = project, input, node } = wish
      const env = { ...plainEnvironment(home), ...environment }
      const call = { environment: env, folder, home, input: input ?? '', program }
      const ended = await (node === undefined ? runHere(args, call) : asProgram(node, args, call))
      t.notOk((ended.out + ended.err).includes(key), 'the key is never printed')
      return ended
    }

    /** The one document that `--json` prints, whatever happens. */
    async function document(args: readonly string[], wish: RunWish = {}) {
      const ended = await run([...args, '--json'], wish)
      const read = JSON.parse(ended.out) as Record<string, unknown>
      t.equal(read['exit_code'], ended.code)
      return { ...ended, read }
    }

    return { ...server, tenantId, key, home, project, program, run, document }
  }

  return { ...server, program, answer, nodes: nodesHere(), tenant }
}

function asProgram(
  node: string,
  args: readonly string[],
  { program, environment, folder, input }: CallHere,
): Promise<Ended> {
  const env = { ...COMPILED_ONCE, ...environment }
  const options = { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) => {
    const child = execFile(node, [program, ...args], options, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
    child.stdin?.on('error', () => {}) // who needs no input does not read it
    child.stdin?.end(input)
  })
}

export interface Session {
  /** Resolves when all of it has been shown. */
  shown(text: string | RegExp): Promise<void>
  /** As far as it has come. */
  screen(): string
  type(keys: string): void
  /** Of the keyboard: nothing more comes. */
  hangUp(): void
  readonly ended: Promise<{ readonly code: number; readonly screen: string }>
}

/** A command line at a pseudo terminal of so many columns (`script` of util-linux). */
export function atTerminal(
  t: Test,
  line: string,
  wish: { columns: number; environment: Record<string, string>; folder: string },
): Session {
  const { columns, environment, folder } = wish
  const child = spawn('script', ['-qefc', `stty cols ${columns} rows 24; ${line}`, '/dev/null'], {
    env: { ...COMPILED_ONCE, TERM: 'xterm', ...environment, SHELL: '/bin/sh' },
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let screen = ''
  const watchers = new Set<() => void>()
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString()
    for (const look of watchers) look()
  })
  return {
    screen: () => screen,
    type: (keys) => void child.stdin.write(keys),
    hangUp: () => child.stdin.end(),
    shown: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const isShown = typeof text === 'string' ? screen.includes(text) : text.test(screen)
          if (isShown) resolve()
        }
        watchers.add(look)
        look()
        child.once('close', () => reject(new Error(`${String(text)} was never shown: ${screen}`)))
      }),
    ended: new Promise((resolve) =>
      child.once('close', (code) => resolve({ code: code ?? -1, screen })),
    ),
  }
}
