/** wrk with one head, given whole. */
import { spawn } from 'node:child_process'
import { writeText } from './processes.ts'
import type { LoadResult } from './load.ts'

export interface WrkOptions {
  readonly port: number
  /** The same for every request, its empty line included. */
  readonly head: string
  readonly seconds: number
  readonly connections: number
}

export async function runWrk(options: WrkOptions): Promise<LoadResult> {
  const { port, head, seconds, connections } = options
  const script = writeText(
    'one-head.lua',
    `local head = ${JSON.stringify(head)}
request = function() return head end
done = function(summary, latency)
  io.write(string.format('RESULT {"requests":%d,"seconds":%f,"errors":%d,"p50Us":%d,"p99Us":%d}',
    summary.requests, summary.duration / 1e6,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end`,
  )
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script]
  const wrk = spawn('wrk', [...args, `http://127.0.0.1:${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  wrk.stdout.on('data', (chunk) => (output += String(chunk)))
  await new Promise((resolve) => wrk.once('close', resolve))
  const result = /RESULT (\{.*\})/.exec(output)?.[1]
  if (result === undefined) throw new Error(`wrk did not finish: ${output}`)
  return JSON.parse(result) as LoadResult
}
