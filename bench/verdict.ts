/** What the gateway must hold, and whether it does. */
import { leastRatioOf, ratioOf, type Measured, type Results } from './measured.ts'

export interface Promised {
  readonly case: string
  readonly vs: string
  readonly figure?: 'cpuUs' | 'p99Us'
  /** At most so many times what the peer takes. */
  readonly limit: number
  readonly stretch?: number
}

type Pair = readonly [ours: Measured, theirs: Measured]

export const PROMISES: readonly Promised[] = [
  { case: 'GET 1 KB', vs: 'haproxy jwt_verify', limit: 0.6, stretch: 0.48 },
  { case: 'GET 1 KB', vs: 'nginx auth_request', limit: 0.6, stretch: 0.48 },
  { case: 'GET 1 KB', vs: 'nginx', limit: 1.4, stretch: 1.05 },
  { case: 'GET 1 KB', vs: 'caddy', limit: 0.4 },
  { case: 'GET 1 KB', vs: '@fastify/http-proxy', limit: 0.33 },
  { case: 'GET 1 KB', vs: 'http-proxy-3 README', limit: 0.25 },
  { case: 'GET 1 KB', vs: 'http-proxy-3 keep-alive', limit: 0.25 },
  { case: 'POST 1 KB', vs: 'nginx', limit: 1.35, stretch: 1.1 },
  { case: 'GET 64 KB', vs: 'haproxy', limit: 1.7, stretch: 1.4 },
  { case: 'GET 1 KB', vs: 'haproxy jwt_verify', figure: 'p99Us', limit: 1, stretch: 0.7 },
  {
    case: 'GET 1 KB at one rate',
    vs: 'haproxy jwt_verify',
    figure: 'p99Us',
    limit: 1,
    stretch: 0.7,
  },
  { case: 'TLS 1.3 keep-alive', vs: 'nginx', limit: 1.5, stretch: 1.1 },
  { case: 'HTTP/2', vs: 'caddy', limit: 0.6, stretch: 0.4 },
  { case: 'HTTP/2', vs: 'nginx', limit: 2.5, stretch: 1.8 },
  { case: 'two workers', vs: 'gateway 1 worker', limit: 1.05 },
  { case: '10,000 tenants', vs: 'gateway 1 tenant', limit: 1.03 },
  { case: '10,000 tenants 1,000 hosts', vs: 'gateway 1 tenant', limit: 1.03 },
]

/** Of the cases that were run. */
export function printVerdict(results: Results): void {
  const promises = PROMISES.filter((promised) => results.has(promised.case))
  if (promises.length === 0) return
  console.log(
    `\n${'CPU per request, or p99, at most'.padEnd(58)}limit  stretch  measured  of the least`,
  )
  for (const promised of promises) {
    const { limit, stretch, figure = 'cpuUs' } = promised
    const pair = pairOf(promised, results)
    const ratio = pair && ratioOf(...pair, figure)
    const least = pair && leastRatioOf(...pair, figure)
    const name = `${promised.case}${figure === 'p99Us' ? ', p99,' : ''} vs ${promised.vs}`
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
