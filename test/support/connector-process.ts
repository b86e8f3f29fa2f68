/** The connector as it is downloaded, as processes of their own, by any Node that is here. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConnectorDownloads } from '../../control-plane/downloads/connector/program-download.ts'

export interface ConnectorProcess {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  /** All that it has written so far, to either stream. */
  output(): string
  /** Settles once this has been logged so many times. */
  logged(text: string, times?: number): Promise<void>
}

export async function downloadConnector(folder: string, baseUrl: string): Promise<string> {
  const { bytes } = await createConnectorDownloads(baseUrl).program()
  const program = join(folder, 'service-connector.mjs')
  writeFileSync(program, bytes, { mode: 0o755 })
  return program
}

/** With nothing of this machine's environment. */
export function startConnectorProcess(
  t: { after(work: () => unknown): void },
  command: readonly [node: string, program: string, ...args: string[]],
  home: string,
  environment: Record<string, string> = {},
): ConnectorProcess {
  const [node, ...args] = command
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, ...environment }
  const child = spawn(node, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      for (const look of watchers) look()
    })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
  })
  return {
    child,
    exited,
    output: () => output,
    logged: (text, times = 1) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (output.split(text).length <= times) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
        void exited.then(() => reject(new Error(`${text} was never logged:\n${output}`)))
      }),
  }
}

/** What others on the machine can see of a process: its arguments; and its owner its environment. */
export const visibleOf = ({ pid }: ChildProcess): string =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8')
