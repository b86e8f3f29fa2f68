/**
 * HTTP/2 over TLS by h2load. One h2load sends one Cookie header, so there are many of them at once,
 * each a few browsers of one person; the next round takes the next persons.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder, type Need, type Running } from '../processes.ts'
import { SECURE_HOST, USER_AGENT, type Ask } from '../sessions.ts'
import { outputOf, type LoadResult } from './load.ts'

export const H2LOAD_NEED: Need = { program: 'h2load', install: 'apt install nghttp2-client' }

const GENERATORS = 16
const CONNECTIONS_EACH = 2
const STREAMS_EACH = 4

export interface H2Run {
  readonly asks: readonly Ask[]
  /** Which of the asks: rounds take turns. */
  readonly round: number
  readonly seconds: number
}

export async function runH2load(running: Running, run: H2Run): Promise<LoadResult> {
  const { asks, round } = run
  const turns = Array.from({ length: GENERATORS }, (_item, index) => {
    const { cookie } = asks[(round * GENERATORS + index) % asks.length]!
    return runOne(running.tlsPort, cookie, run.seconds, join(folder, `h2load-${index}`))
  })
  const each = await Promise.all(turns)
  const latencies = each.flatMap((one) => one.latenciesUs).sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? NaN
  const sum = (of: (one: OneResult) => number) => each.reduce((total, one) => total + of(one), 0)
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    seconds: run.seconds,
    p50Us: at(0.5),
    p99Us: at(0.99),
  }
}

interface OneResult {
  readonly requests: number
  readonly errors: number
  readonly latenciesUs: readonly number[]
}

async function runOne(
  port: number,
  cookie: string,
  seconds: number,
  log: string,
): Promise<OneResult> {
  const headers = [
    `user-agent: ${USER_AGENT}`,
    'accept: */*',
    'accept-language: en-US,en;q=0.5',
    'accept-encoding: gzip, deflate, br',
    'sec-fetch-mode: cors',
    `cookie: ${cookie.replace(' service_seen=', ' __Host-service_seen=')}`,
  ]
  const output = await outputOf('h2load', [
    ...[`-c${CONNECTIONS_EACH}`, `-m${STREAMS_EACH}`, '-t1', `-D${seconds}`, '--npn-list=h2'],
    ...headers.flatMap((header) => ['-H', header]),
    `--connect-to=127.0.0.1:${port}`,
    `--log-file=${log}`,
    `https://${SECURE_HOST}:${port}/`,
  ])
  const done = Number(/requests: .* (\d+) done/.exec(output)?.[1])
  const good = Number(/status codes: (\d+) 2xx/.exec(output)?.[1])
  if (!(done > 0)) throw new Error(`h2load did not finish: ${output}`)
  const rows = readFileSync(log, 'latin1').split('\n').filter(Boolean)
  return {
    requests: done,
    errors: done - good,
    latenciesUs: rows.map((row) => Number(row.slice(row.lastIndexOf('\t')))),
  }
}
