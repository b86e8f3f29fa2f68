/** What everybody else notices: a steady rate of ordinary requests, measured in its own process. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Healthy {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly answered: number
  readonly failed: number
}

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const text = (ms: number) => `${ms.toFixed(2)} ms`

export function measureHealthy(port: number, head: string, seconds: number): Promise<Healthy> {
  const args = [port, 500, seconds, JSON.stringify(head)].map(String)
  const child = fork(pathOf('steady-clients.ts'), args)
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Healthy))
    child.once('exit', (code) => reject(new Error(`the clients ended with ${code}`)))
  })
}

export interface SlowClients {
  /** Settles when all of them are connected. */
  readonly connected: Promise<void>
  held(): { readonly open: number; readonly begun: number; readonly cut: number }
  stop(): Promise<void>
}

export function startSlowClients(port: number, count: number, postHead: string): SlowClients {
  const child = fork(pathOf('slow-clients.ts'), [`${port}`, `${count}`, JSON.stringify(postHead)])
  let held = { open: 0, begun: 0, cut: 0 }
  const { promise: connected, resolve } = Promise.withResolvers<void>()
  child.on('message', (message) => {
    held = message as typeof held
    if (held.open >= count) resolve()
  })
  return {
    connected,
    held: () => held,
    async stop() {
      const gone = new Promise((settle) => child.once('exit', settle))
      child.disconnect()
      await gone
    },
  }
}

/** The median of each figure. */
export function median(rounds: readonly Healthy[]): Healthy {
  const middle = (pick: (round: Healthy) => number) =>
    rounds.map(pick).sort((a, b) => a - b)[rounds.length >> 1] ?? NaN
  return {
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    answered: rounds.reduce((sum, { answered }) => sum + answered, 0),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
  }
}

export const healthText = ({ p50Ms, p99Ms, answered, failed }: Healthy): string =>
  `p50 ${text(p50Ms)}, p99 ${text(p99Ms)} (${answered} answered, ${failed} failed)`
