/**
 * The few connections of one tenant. Who finds none waits, but not for long and not in any number:
 * a database that hangs costs its own tenant's sign-ins and nobody else's.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { DirectoryConnection } from './connection.ts'
import { DirectoryFault } from './faults.ts'

export type Pool = ReturnType<typeof createPool>

interface Waiter {
  readonly proceed: () => void
  readonly timer: NodeJS.Timeout
}

export function createPool(open: () => Promise<DirectoryConnection>) {
  const idle: { readonly connection: DirectoryConnection; readonly timer: NodeJS.Timeout }[] = []
  const waiting = new Set<Waiter>()
  let used = 0
  let isClosed = false

  async function takeTurn(): Promise<void> {
    if (used < LIMITS.directoryConnectionsPerTenantMax) {
      used++
      return
    }
    if (waiting.size >= LIMITS.directoryWaitingPerTenantMax)
      throw new DirectoryFault('waited_too_long')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      waiting.delete(waiter)
      reject(new DirectoryFault('waited_too_long'))
    }, LIMITS.directoryWaitMsMax)
    const waiter: Waiter = { proceed: resolve, timer }
    waiting.add(waiter)
    return promise
  }

  function passTurn() {
    const [next] = waiting
    if (next === undefined) {
      used--
      return
    }
    waiting.delete(next)
    clearTimeout(next.timer)
    next.proceed() // the turn is handed over, `used` stays
  }

  function takeIdle(): DirectoryConnection | undefined {
    for (let one = idle.pop(); one !== undefined; one = idle.pop()) {
      clearTimeout(one.timer)
      if (one.connection.isAlive) return one.connection
      one.connection.close()
    }
    return undefined
  }

  function keep(connection: DirectoryConnection) {
    if (isClosed || !connection.isAlive) return connection.close()
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(entry), 1)
      connection.close()
    }, LIMITS.directoryIdleMsMax)
    timer.unref()
    const entry = { connection, timer }
    idle.push(entry)
  }

  async function run<T>(
    connection: DirectoryConnection,
    work: (connection: DirectoryConnection) => Promise<T>,
  ): Promise<T> {
    try {
      const result = await work(connection)
      keep(connection)
      return result
    } catch (error) {
      connection.close() // nobody knows what state it is in
      throw error
    }
  }

  return {
    async use<T>(work: (connection: DirectoryConnection) => Promise<T>): Promise<T> {
      await takeTurn()
      try {
        const known = takeIdle()
        if (known === undefined) return await run(await open(), work)
        try {
          return await run(known, work)
        } catch (error) {
          const isLost = error instanceof DirectoryFault && error.kind === 'lost'
          if (!isLost) throw error
          return await run(await open(), work) // it ended while it was idle; we only read
        }
      } finally {
        passTurn()
      }
    },
    /** What is under way is finished; afterwards no connection is left. */
    close() {
      isClosed = true
      for (const { connection, timer } of idle.splice(0)) {
        clearTimeout(timer)
        connection.close()
      }
    },
  }
}
