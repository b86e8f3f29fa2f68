/**
 * Many connections that have asked once and then stay open without a word. Their client is a
 * process of its own; it takes several addresses of the loopback network, as many clients would.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Running } from '../processes.ts'
import type { Ask } from '../sessions.ts'

export interface IdleOrder {
  readonly port: number
  readonly connections: number
  readonly asks: readonly Ask[]
}

export interface IdleClients {
  /** Still open now. */
  count(): Promise<number>
  close(): Promise<void>
}

const PROGRAM = fileURLToPath(new URL('../programs/idle-clients.ts', import.meta.url))

/** Settles when all have had their answer. */
export async function openIdle(running: Running, order: Omit<IdleOrder, 'port'>) {
  const child = fork(PROGRAM, [], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const answer = () =>
    new Promise<number>((resolve, reject) => {
      child.once('message', (message) => resolve(Number(message)))
      child.once('exit', () => reject(new Error('the idle clients have ended')))
    })
  const opened = answer()
  child.send({ ...order, port: running.port } satisfies IdleOrder)
  await opened
  const clients: IdleClients = {
    count() {
      const counted = answer()
      child.send('count')
      return counted
    },
    async close() {
      child.disconnect()
      await gone
    },
  }
  return clients
}
