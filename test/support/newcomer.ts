/**
 * Somebody with an application of their own and a terminal: a folder under version control, a home,
 * real shells and real npm. Nothing of theirs comes from this repository.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { request } from 'undici'
import { startNpmRegistry } from './npm-registry.ts'
import { freePort } from './ports.ts'

interface TestScope {
  after(work: () => Promise<void>): void
}

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export type Newcomer = Awaited<ReturnType<typeof startNewcomer>>

export async function startNewcomer(t: TestScope, files: Readonly<Record<string, string>>) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'newcomer-')))
  const folder = join(home, 'shop')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const registry = await startNpmRegistry(t)
  const port = await freePort()
  const environment: Record<string, string> = {
    PATH: [
      join(home, '.local/bin'),
      dirname(process.execPath),
      '/usr/local/bin:/usr/bin:/bin',
    ].join(':'),
    HOME: home,
    LANG: 'C.UTF-8',
    npm_config_registry: registry.url,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    GIT_AUTHOR_NAME: 'Newcomer',
    GIT_AUTHOR_EMAIL: 'newcomer@example.test',
    GIT_COMMITTER_NAME: 'Newcomer',
    GIT_COMMITTER_EMAIL: 'newcomer@example.test',
  }
  let running: { stop(): Promise<void>; output(): string } | undefined

  const run = (program: string, args: readonly string[], more: Record<string, string> = {}) =>
    new Promise<Ended>((resolve) => {
      const options = { cwd: folder, env: { ...environment, ...more }, maxBuffer: 64 * 1024 * 1024 }
      const child = execFile(program, args, options, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      )
      child.stdin?.end()
    })

  t.after(async () => {
    await running?.stop()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })

  return {
    home,
    folder,
    environment,
    port,
    origin: `http://127.0.0.1:${port}`,
    run,
    /** A line as it is typed into `dash`. */
    shell: (line: string) => run('dash', ['-c', line]),
    async git(...args: string[]): Promise<string> {
      const { code, out, err } = await run('git', args)
      if (code !== 0) throw new Error(`git ${args.join(' ')}: ${err}`)
      return out
    },
    /** `npm start`, or started anew; settles when it answers. */
    async start(more: Record<string, string> = {}): Promise<void> {
      await running?.stop()
      const child = spawn(process.execPath, ['server.js'], {
        cwd: folder,
        env: { ...environment, PORT: String(port), ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => void (output += chunk.toString()))
      const exited = once(child, 'exit')
      running = {
        output: () => output,
        async stop() {
          child.kill('SIGKILL')
          await exited
        },
      }
      await new Promise<void>((resolve, reject) => {
        void exited.then(() => reject(new Error(`the application ended:\n${output}`)), reject)
        child.stdout.on('data', () => output.includes('listening') && resolve())
      })
    },
    output: () => running?.output() ?? '',
    /** Around the edge. */
    async ask(path: string, headers: Record<string, string> = {}) {
      const answer = await request(`http://127.0.0.1:${port}${path}`, { headers })
      return { status: answer.statusCode, text: await answer.body.text() }
    },
  }
}

/** Asks until it is so: what is waited for is acknowledged, and how long it takes is not told. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries === TRIES_MAX) throw new Error(`it never came to be: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Far more than any of it takes. */
const TRIES_MAX = 1000
