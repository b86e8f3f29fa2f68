/** wrk with keep-alive connections, the same 64 rotating sessions for every peer. */
import { spawn } from 'node:child_process'
import { writeText } from './processes.ts'
import { HOST, USER_AGENT } from './sessions.ts'

export interface LoadCase {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly bodyBytes: number
}

export const CASES: readonly LoadCase[] = [
  { name: 'GET 1 KB', method: 'GET', path: '/', bodyBytes: 0 },
  { name: 'POST 1 KB', method: 'POST', path: '/', bodyBytes: 1024 },
  { name: 'GET 64 KB', method: 'GET', path: '/64k', bodyBytes: 0 },
]

export interface LoadResult {
  readonly requests: number
  readonly errors: number
  readonly seconds: number
  readonly p50Us: number
  readonly p99Us: number
}

/** What a browser sends, with a session token of 740 bytes. */
function scriptOf(load: LoadCase, cookies: readonly string[]): string {
  return `
local cookies = { ${cookies.map((cookie) => `"${cookie}"`).join(', ')} }
local requests = {}
local at = 0
init = function(args)
  local body = ${load.bodyBytes > 0 ? `string.rep("b", ${load.bodyBytes})` : 'nil'}
  for i, cookie in ipairs(cookies) do
    requests[i] = wrk.format("${load.method}", "${load.path}", {
      ["Host"] = "${HOST}",
      ["User-Agent"] = "${USER_AGENT}",
      ["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      ["Accept-Language"] = "en-US,en;q=0.5",
      ["Accept-Encoding"] = "gzip, deflate, br",
      ["Sec-Fetch-Mode"] = "navigate",
      ["Cookie"] = cookie,
    }, body)
  end
end
request = function()
  at = at % #requests + 1
  return requests[at]
end
done = function(summary, latency, requests)
  io.write(string.format('RESULT {"requests":%d,"seconds":%f,"errors":%d,"p50Us":%d,"p99Us":%d}',
    summary.requests, summary.duration / 1e6,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end`
}

export async function runLoad(
  load: LoadCase,
  cookies: readonly string[],
  port: number,
  seconds: number,
  connections: number,
): Promise<LoadResult> {
  const script = writeText('load.lua', scriptOf(load, cookies))
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    script,
    `http://127.0.0.1:${port}`,
  ]
  const wrk = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  wrk.stdout.on('data', (chunk) => (output += String(chunk)))
  await new Promise((resolve) => wrk.once('close', resolve))
  const result = /RESULT (\{.*\})/.exec(output)?.[1]
  if (result === undefined) throw new Error(`wrk did not finish: ${output}`)
  return JSON.parse(result) as LoadResult
}
