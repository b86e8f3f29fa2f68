/** What every load generator counts. */
import { spawn } from 'node:child_process'

export interface LoadResult {
  readonly requests: number
  /** Answers that were none, or not 2xx. */
  readonly errors: number
  readonly seconds: number
  readonly p50Us: number
  readonly p99Us: number
}

/** What a generator printed. */
export async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let complaint = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (complaint += String(chunk)))
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}: ${output}${complaint}`)
  return output
}
