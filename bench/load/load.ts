/** What every load generator counts. */
import { fork, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'

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

/** A generator of our own: told by a message what to do, it answers with what it has counted. */
export function askProgram(path: string, order: object): Promise<LoadResult> {
  const child = fork(path, [], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  setPriority(child.pid!, constants.priority.PRIORITY_BELOW_NORMAL)
  child.send(order)
  return new Promise((resolve, reject) => {
    child.once('message', (result) => resolve(result as LoadResult))
    child.once('exit', () => reject(new Error(`${path} has ended without a result`)))
  })
}

export function summaryOf(timesUs: number[], errors: number, seconds: number): LoadResult {
  const sorted = timesUs.sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN
  return { requests: sorted.length, errors, seconds, p50Us: at(0.5), p99Us: at(0.99) }
}
