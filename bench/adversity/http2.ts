/** One address that speaks HTTP/2 to hold as much as it can, beside everybody else of its tenant. */
import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { childrenOf, LIVE_HOST, startLiveGateway } from '../../test/support/live-gateway.ts'
import { freePort } from '../../test/support/ports.ts'
import { createTestAuthority } from '../../test/support/test-certificates.ts'
import type { Scope } from './scope.ts'
import { healthText, measureHealthy, median } from './healthy.ts'
import type { Healthy } from './healthy.ts'
import { residentOf } from './stalls.ts'

const KINDS = {
  'zero-windows': 'whose windows are zero',
  'used-up-windows': 'who read nothing beyond the first window',
  'slow-uploads': 'whose uploads trickle',
  'hang-ups': 'who close without GOAWAY',
} as const
type Kind = keyof typeof KINDS

/** 14 connections of 100 streams: more than a tenant has upstream connections. */
const CONNECTIONS = 14
const P99_RATIO_MAX = 1.5
const MEMORY_RATIO_MAX = 10
const MIB = 1 << 20
const SETTLE_MS = 3000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const mib = (bytes: number) => `${(bytes / MIB).toFixed(2)} MiB`

interface HostileClients {
  open: number
  begun: number
  failed: number
  sentBytes: number
}

function startHostile(port: number, kind: Kind, fields: readonly (readonly [string, string])[]) {
  const file = fileURLToPath(new URL('http2-clients.ts', import.meta.url))
  const child = fork(file, [`${port}`, kind, `${CONNECTIONS}`, JSON.stringify(fields)])
  let state: HostileClients = { open: 0, begun: 0, failed: 0, sentBytes: 0 }
  child.on('message', (message) => (state = message as HostileClients))
  return {
    state: () => state,
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.disconnect()
      await gone
    },
  }
}

/** What the kernel has of a port whose clients have ended and that nobody has closed since. */
function closeWaitOf(port: number): number {
  const local = `:${port.toString(16).padStart(4, '0').toUpperCase()} `
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((table) => readFileSync(table, 'latin1').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, from = '', , state]) => `${from} `.endsWith(local) && state === CLOSE_WAIT).length
}
const CLOSE_WAIT = '08'

const rangeText = (values: readonly number[]): string =>
  `p99 of the rounds ${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)} ms`

const verdict = (value: number, max: number): string =>
  `at most ${max}${value > max ? ', which is OVER' : ''}`

/** The least over a moment: between two collections of garbage. */
async function heldBytes(pid: number): Promise<number> {
  let least = Infinity
  for (let at = 0; at < 20; at++) {
    least = Math.min(least, residentOf(pid))
    await sleep(50)
  }
  return least
}

async function startOrigin(scope: Scope): Promise<string> {
  const child = fork(fileURLToPath(new URL('http2-origin.ts', import.meta.url)))
  scope.teardown(() => child.disconnect())
  const port = await new Promise((resolve) => child.once('message', resolve))
  return `http://127.0.0.1:${String(port)}`
}

export const http2Case =
  (kinds: readonly Kind[], rounds: () => number, seconds: () => number) =>
  async (scope: Scope): Promise<void> => {
    const authority = createTestAuthority(scope)
    const origin = await startOrigin(scope)
    const tenant = {
      certificates: [authority.issue(LIVE_HOST)],
      excluded: ['/large', '/upload', '/page'],
    }
    const start = async (tlsPort: number) =>
      startLiveGateway(scope, { origin, config: `  tls_listen: 127.0.0.1:${tlsPort}`, tenant })
    const [tlsPort, otherTlsPort] = [await freePort(), await freePort()]
    const gateway = await start(tlsPort)
    await start(otherTlsPort)
    const [pid = 0] = childrenOf(gateway.program.child.pid!)
    const head = gateway.head('/')
    const cookie = /^Cookie: (.*)$/m.exec(head)![1]!.trim()
    const fieldsOf = (kind: Kind) =>
      [
        [':method', kind === 'slow-uploads' ? 'POST' : 'GET'],
        [':scheme', 'https'],
        [':authority', LIVE_HOST],
        [':path', PATHS[kind]],
        ['cookie', cookie],
        ['user-agent', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'],
        ...(kind === 'slow-uploads' ? [['content-length', '1000000'] as const] : []),
      ] as const

    async function beside(kind: Kind) {
      const before = await heldBytes(pid)
      const hostile = startHostile(tlsPort, kind, fieldsOf(kind))
      await sleep(SETTLE_MS)
      const healthy = await measureHealthy(gateway.port, head, seconds())
      const held = (await heldBytes(pid)) - before
      const metrics = await gateway.metrics()
      const closeWait = closeWaitOf(tlsPort)
      const { sentBytes, begun, open, failed } = hostile.state()
      await hostile.stop()
      await sleep(SETTLE_MS)
      const gauge = (name: string) => metrics.get(`gateway_${name}{worker="1"}`) ?? NaN
      const connections = gauge('connections')
      return { healthy, held, sentBytes, begun, open, failed, connections, closeWait }
    }

    /** The same clients at another gateway: what they take of the machine, and no gateway could help. */
    async function besideAnother(kind: Kind) {
      const hostile = startHostile(otherTlsPort, kind, fieldsOf(kind))
      await sleep(SETTLE_MS)
      const healthy = await measureHealthy(gateway.port, head, seconds())
      await hostile.stop()
      return healthy
    }

    await measureHealthy(gateway.port, head, 3) // warm
    for (const kind of kinds) await beside(kind)
    for (const kind of kinds) {
      const found: {
        without: Healthy
        another: Healthy
        with: Awaited<ReturnType<typeof beside>>
      }[] = []
      for (let round = 0; round < rounds(); round++)
        found.push({
          without: await measureHealthy(gateway.port, head, seconds()),
          another: await besideAnother(kind),
          with: await beside(kind),
        })
      const without = median(found.map((round) => round.without))
      const healthy = median(found.map((round) => round.with.healthy))
      const worst = found
        .map((round) => round.with)
        .reduce((one, two) => (one.held / one.sentBytes > two.held / two.sentBytes ? one : two))
      const { held, sentBytes, begun, failed, connections } = worst
      const ratio = healthy.p99Ms / without.p99Ms
      const times = Math.max(0, held / sentBytes)
      const closeWait = Math.max(...found.map((round) => round.with.closeWait))
      console.log(`  clients ${KINDS[kind]}: ${begun} connections begun, ${failed} refused`)
      const rangeOf = (pick: (round: (typeof found)[number]) => Healthy) =>
        rangeText(found.map((round) => pick(round).p99Ms))
      console.log(
        `    others without: ${healthText(without)}, ${rangeOf((round) => round.without)}`,
      )
      const another = median(found.map((round) => round.another))
      console.log(
        `    others while they are at another gateway: ${healthText(another)}, ${rangeOf((round) => round.another)}`,
      )
      const range = rangeOf((round) => round.with.healthy)
      console.log(`    others beside:  ${healthText(healthy)}, ${range}`)
      console.log(
        `    p99 ratio ${ratio.toFixed(2)} (${verdict(ratio, P99_RATIO_MAX)}), ${(healthy.p99Ms / another.p99Ms).toFixed(2)} of another gateway's; ` +
          `${connections} connections at the gateway, ${closeWait} in CLOSE-WAIT; ` +
          `held ${mib(held)} for ${mib(sentBytes)} sent: ${times.toFixed(1)} times (${verdict(times, MEMORY_RATIO_MAX)})`,
      )
    }
  }

const PATHS: Readonly<Record<Kind, string>> = {
  'zero-windows': '/large',
  'used-up-windows': '/large',
  'slow-uploads': '/upload',
  'hang-ups': '/page',
}
