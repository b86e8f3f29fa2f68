/** HTTP/1.1 by wrk, in the clear and over TLS: keep-alive connections, the given requests in turn. */
import { HOST, SECURE_HOST, USER_AGENT, type Ask } from '../sessions.ts'
import { writeText, type Need, type Running } from '../processes.ts'
import { outputOf, type LoadResult } from './load.ts'

export const WRK_NEED: Need = { program: 'wrk', install: 'apt install wrk' }

export interface WrkLoad {
  readonly method?: 'GET' | 'POST'
  readonly path?: string
  readonly bodyBytes?: number
  readonly answerBytes?: number
  readonly isSecure?: boolean
  readonly connections?: number
  /** Each request comes on a connection of its own. */
  readonly isClosed?: boolean
  /** Each connection waits so long before its next request: the same rate for every peer. */
  readonly pauseMs?: readonly [min: number, max: number]
}

export interface WrkRun extends WrkLoad {
  readonly asks: readonly Ask[]
  readonly seconds: number
  /** Every tenth request carries one of these, each only once. */
  readonly freshCookies?: readonly string[]
}

const COOKIE_PLACE = '{cookie}'

/** What a page's script sends. Not a navigation: a refusal is then a 401, which wrk counts, and no redirect. */
function requestOf(load: WrkLoad, host: string, cookie: string): string {
  const { method = 'GET', path = '/', bodyBytes = 0 } = load
  return [
    `${method} ${path} HTTP/1.1`,
    `Host: ${load.isSecure === true ? SECURE_HOST : host}`,
    `User-Agent: ${USER_AGENT}`,
    'Accept: */*',
    'Accept-Language: en-US,en;q=0.5',
    'Accept-Encoding: gzip, deflate, br',
    'Sec-Fetch-Mode: cors',
    ...(load.isClosed === true ? ['Connection: close'] : []),
    `Cookie: ${load.isSecure === true ? cookie.replace(' service_seen=', ' __Host-service_seen=') : cookie}`,
    ...(bodyBytes > 0 ? ['Content-Type: text/plain', `Content-Length: ${bodyBytes}`] : []),
    '',
    'b'.repeat(bodyBytes),
  ].join('\r\n')
}

function scriptOf(run: WrkRun): string {
  const requests = run.asks.map(({ host, cookie }) => requestOf(run, host, cookie))
  const [before, after] = requestOf(run, HOST, COOKIE_PLACE).split(COOKIE_PLACE)
  const [pauseMin, pauseMax] = run.pauseMs ?? []
  const fresh = run.freshCookies && writeText('fresh-cookies', run.freshCookies.join('\n'))
  return `
local requests = {
${requests.map((request) => JSON.stringify(request)).join(',\n')}
}
local at, turn, fresh = 0, 0, {}
freshTaken = 0
local before, after = ${JSON.stringify(before)}, ${JSON.stringify(after)}
local theThread
function setup(thread) theThread = thread end
function init(args)
  ${fresh === undefined ? '' : `for line in io.lines(${JSON.stringify(fresh)}) do fresh[#fresh + 1] = line end`}
end
function request()
  turn = turn + 1
  if ${fresh === undefined ? 'false' : 'turn % 10 == 0'} then
    freshTaken = freshTaken + 1
    if fresh[freshTaken] then return before .. fresh[freshTaken] .. after end
  end
  at = at % #requests + 1
  return requests[at]
end
${pauseMin === undefined ? '' : `function delay() return math.random(${pauseMin}, ${pauseMax}) end`}
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('RESULT {"requests":%d,"seconds":%f,"errors":%d,"p50Us":%d,"p99Us":%d,"freshTaken":%d,"bytes":%d}',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99), theThread:get('freshTaken'), summary.bytes))
end`
}

export interface WrkResult extends LoadResult {
  readonly freshTaken: number
}

export async function runWrk(running: Running, run: WrkRun): Promise<WrkResult> {
  const script = writeText('load.lua', scriptOf(run))
  const url =
    run.isSecure === true
      ? `https://${SECURE_HOST}:${running.tlsPort}`
      : `http://127.0.0.1:${running.port}`
  const connections = `-c${run.connections ?? 32}`
  const output = await outputOf('wrk', ['-t1', connections, `-d${run.seconds}s`, '-s', script, url])
  const text = /RESULT (\{.*\})/.exec(output)?.[1]
  if (text === undefined) throw new Error(`wrk did not finish: ${output}`)
  const result = JSON.parse(text) as WrkResult & { bytes: number }
  const missing = result.freshTaken - (run.freshCookies?.length ?? Infinity)
  if (missing > 0) throw new Error(`${missing} requests found no fresh token: sign more of them`)
  if (result.bytes < result.requests * (run.answerBytes ?? 1024))
    throw new Error(`answers of the application are longer: is ${url} a proxy in front of it?`)
  return result
}
