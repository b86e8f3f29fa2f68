/** This very Node once more, for a moment: without the key, and without what its settings would load. */
import { spawn } from 'node:child_process'
import { LIMITS } from '../../../../shared/limits.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface ChildWish {
  readonly args: readonly string[]
  readonly folder: string
  readonly environment: Environment
  readonly input?: string
}

interface ChildEnded {
  /** null: it was stopped, or never began. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export function runNode({ args, folder, environment, input = '' }: ChildWish): Promise<ChildEnded> {
  const { SERVICE_ANALYZER_KEY: _key, NODE_OPTIONS: _options, ...kept } = environment
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...args], {
      cwd: folder,
      env: kept,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: LIMITS.dryRunMsMax,
      killSignal: 'SIGKILL',
      windowsHide: true,
    })
    const said = { out: '', err: '' }
    const collect = (name: 'out' | 'err') => (chunk: Buffer) => {
      if (said[name].length < LIMITS.dryRunSaysCharactersMax) said[name] += chunk.toString()
    }
    child.stdout.on('data', collect('out'))
    child.stderr.on('data', collect('err'))
    child.stdin.on('error', () => undefined) // who has seen enough reads no more
    child.stdin.end(input)
    child.once('error', () => resolve({ code: null, ...said }))
    child.once('close', (code) => resolve({ code, ...said }))
  })
}
