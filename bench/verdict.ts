/** What the gateway must hold, and whether it does. */
import { leastRatioOf, median, ratioOf, type Measured, type Results } from './measured.ts'

export interface Promised {
  readonly case: string
  readonly vs: string
  readonly figure?: 'cpuUs' | 'p99Us'
  /** At most so many times what the peer takes. */
  readonly limit: number
  readonly stretch?: number
  /** Between these two it grows as well: the limit is on how much more we do. */
  readonly growth?: readonly [many: string, one: string]
}

const THOUSAND_HOSTS = '10,000 tenants 1,000 hosts'

/** Of an application behind a connector, in µs. */
const CONNECTOR_US_MAX = 25
const CONNECTOR_P50_US_MAX = 300
/** What a line of the access log may cost its request, whoever reads it. */
const LOG_LINE_US_MAX = 1

type Pair = readonly [ours: Measured, theirs: Measured]

export const PROMISES: readonly Promised[] = [
  { case: 'GET 1 KB', vs: 'nginx', limit: 1.2, stretch: 1.05 },
  { case: 'GET 1 KB', vs: 'haproxy jwt_verify', limit: 0.5, stretch: 0.45 },
  { case: 'GET 1 KB', vs: 'nginx auth_request', limit: 0.6, stretch: 0.48 },
  { case: 'GET 1 KB with rules', vs: 'gateway', limit: 1.03 },
  { case: 'POST 1 KB', vs: 'nginx', limit: 1.2, stretch: 1.05 },
  { case: 'GET 64 KB', vs: 'haproxy', limit: 1.05, stretch: 0.95 },
  { case: 'GET 1 KB', vs: 'haproxy jwt_verify', figure: 'p99Us', limit: 1, stretch: 0.7 },
  { case: 'GET 1 KB at one rate', vs: 'nginx', figure: 'p99Us', limit: 1.1, stretch: 1 },
  { case: 'TLS 1.3 keep-alive', vs: 'nginx', limit: 1.15, stretch: 1.05 },
  { case: 'HTTP/2', vs: 'nginx', limit: 1.5, stretch: 1.1 },
  { case: 'HTTP/2', vs: 'haproxy', limit: 2.4, stretch: 1.8 },
  { case: 'HTTP/2', vs: 'caddy', limit: 0.3 },
  { case: '10 % cache misses', vs: 'haproxy jwt_verify', limit: 0.6 },
  { case: '10 % cache misses', vs: 'haproxy jwt_verify', figure: 'p99Us', limit: 1.2 },
  // of connections to a second of CPU: seven tenths of what nginx makes, and nine
  { case: 'new TLS connections', vs: 'nginx', limit: 1 / 0.7, stretch: 1 / 0.9 },
  { case: 'connector GET 1 KB', vs: 'gateway', limit: 1.35, stretch: 1.15 },
  { case: 'two workers', vs: 'gateway 1 worker', limit: 1.05 },
  { case: '10,000 tenants', vs: 'gateway 64 tenants', limit: 1.03 },
  {
    case: THOUSAND_HOSTS,
    vs: 'gateway 1 tenant',
    limit: 1.1,
    growth: ['nginx 1,000 hosts', 'nginx'],
  },
]

/** Of the cases that were run. */
export function printVerdict(results: Results): void {
  printRatios(results)
  const [byConnector] = results.get('connector GET 1 KB')?.values() ?? []
  if (byConnector !== undefined && byConnector.besideUs.length > 0)
    printUs('connector, CPU per request', median(byConnector.besideUs), CONNECTOR_US_MAX)
  const [ours, theirs] = results.get('connector one at a time')?.values() ?? []
  if (ours !== undefined && theirs !== undefined) {
    const added = median(ours.p50Us.map((value, round) => value - (theirs.p50Us[round] ?? NaN)))
    printUs('connector, added to the p50 of one at a time', added, CONNECTOR_P50_US_MAX)
  }
  printLog([...(results.get('access log')?.values() ?? [])])
}

/** The last has none. */
function printLog(peers: readonly Measured[]): void {
  const without = peers.at(-1)
  for (const { peer, cpuUs } of peers.slice(0, -1)) {
    const added = median(cpuUs.map((value, round) => value - (without!.cpuUs[round] ?? NaN)))
    printUs(`access log of ${peer}, CPU per request`, added, LOG_LINE_US_MAX)
  }
}

function printUs(name: string, us: number, limit: number): void {
  const figures = `${`${limit} µs`.padStart(9)}${`${us.toFixed(1)} µs`.padStart(17)}`
  console.log(`${name.padEnd(54)}${figures}  ${wordFor(us, limit, undefined)}`)
}

function printRatios(results: Results): void {
  const promises = PROMISES.filter((promised) => results.has(promised.case))
  if (promises.length === 0) return
  console.log(
    `\n${'CPU per request, or p99, at most'.padEnd(58)}limit  stretch  measured  of the least`,
  )
  for (const promised of promises) {
    const { limit, stretch, figure = 'cpuUs' } = promised
    const pair = pairOf(promised, results)
    const grown = growthOf(promised, results)
    const ratio = grown ?? (pair && ratioOf(...pair, figure))
    const least = grown ?? (pair && leastRatioOf(...pair, figure))
    const name = `${promised.case}${figure === 'p99Us' ? ', p99,' : ''} vs ${promised.growth ? 'growth of nginx' : promised.vs}`
    console.log(
      name.padEnd(56) +
        `${limit.toFixed(2)}×`.padStart(7) +
        (stretch === undefined ? '' : `${stretch.toFixed(2)}×`).padStart(9) +
        (ratio === undefined ? '–' : `${ratio.toFixed(3)}×`).padStart(10) +
        (least === undefined ? '–' : `${least.toFixed(3)}×`).padStart(14) +
        `  ${wordFor(ratio, limit, stretch)}`,
    )
  }
}

/** How much more we grow than another does; undefined where that is not the question. */
function growthOf(promised: Promised, results: Results): number | undefined {
  const pair = pairOf(promised, results)
  const [many, one] = (promised.growth ?? []).map((peer) => results.get(promised.case)?.get(peer))
  if (pair === undefined || many === undefined || one === undefined) return undefined
  return ratioOf(...pair) / ratioOf(many, one)
}

function pairOf({ case: name, vs }: Promised, results: Results): Pair | undefined {
  const measured = results.get(name)
  const [ours] = measured?.values() ?? []
  const theirs = measured?.get(vs)
  return ours?.peer.startsWith('gateway') && theirs ? [ours, theirs] : undefined
}

/** `over` as well where nothing came of it. */
function wordFor(ratio: number | undefined, limit: number, stretch: number | undefined): string {
  if (ratio === undefined) return 'not measured'
  if (!(ratio <= limit)) return 'OVER'
  return stretch !== undefined && ratio <= stretch ? 'ok, stretch too' : 'ok'
}
