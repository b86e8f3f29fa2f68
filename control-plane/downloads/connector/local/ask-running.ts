/** Asks the connector that runs on this machine how it is. */
import { request } from 'node:http'
import * as v from 'valibot'
import { LINK_STATES } from './health.ts'

const ANSWER_BYTES_MAX = 1024 * 1024
const ANSWER_MS_MAX = 3000

const count = v.number()
const GatewaySchema = v.object({
  gateway_id: v.string(),
  is_ready: v.boolean(),
  links: v.array(
    v.object({
      worker: count,
      state: v.picklist(LINK_STATES),
      problem: v.string(),
      connections: count,
      in_use: count,
      reconnects: count,
      round_trip_ms: v.nullable(count),
      checked_seconds_ago: v.nullable(count),
    }),
  ),
})

/** What the document of `/status` says; another version of the program may say more. */
const RunningSchema = v.object({
  tenant_id: v.string(),
  connector_id: v.string(),
  version: v.string(),
  origin: v.string(),
  process_id: count,
  up_seconds: count,
  is_ready: v.boolean(),
  is_degraded: v.boolean(),
  reason: v.nullable(v.string()),
  detail: v.string(),
  gateways: v.array(GatewaySchema),
  opened: v.record(v.string(), count),
  list: v.object({ sequence: count, confirmed_seconds_ago: v.nullable(count) }),
  control_plane_problem: v.string(),
})
export type RunningStatus = v.InferOutput<typeof RunningSchema>

/** A word says why there is none: nobody listens there, or somebody else does. */
export async function askRunning(port: number): Promise<RunningStatus | 'nobody' | 'stranger'> {
  const text = await get(port)
  if (text === undefined) return 'nobody'
  const read = v.safeParse(RunningSchema, jsonOf(text))
  return read.success ? read.output : 'stranger'
}

/** Undefined where nobody listens. No proxy has a part in it. */
function get(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const asked = request({ host: '127.0.0.1', port, path: '/status', agent: false, signal })
    asked.on('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' ? undefined : ''),
    )
    asked.once('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > ANSWER_BYTES_MAX) asked.destroy()
      })
      response.on('end', () => resolve(text))
      response.on('close', () => resolve(''))
    })
    asked.end()
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
