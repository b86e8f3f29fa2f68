/** One connection to a tenant's database, whatever its kind. Read-only from its first statement. */
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LIMITS } from '../../shared/limits.ts'
import type { Addresses } from './addresses.ts'
import type { Connect, DriverConnection } from './driver.ts'
import { DirectoryFault, within, type FaultKind } from './faults.ts'
import type { DirectoryTarget } from './settings.ts'

export interface DirectoryConnection extends Omit<DriverConnection, 'end'> {
  /** False once the other end has gone: it is not worth asking. */
  readonly isAlive: boolean
  close(): void
}

/** The drivers are loaded by whoever needs them first: most control planes never do. */
const DRIVERS: Readonly<Record<DirectoryTarget['kind'], () => Promise<Connect>>> = {
  postgres: async () => (await import('./postgres.ts')).connectPostgres,
  mysql: async () => (await import('./mysql.ts')).connectMysql,
}

/** For a database that takes leave more slowly than anybody should wait. */
const FAREWELL_MS = 500
/** Beyond what the database itself allows a statement: then it is not the statement that hangs. */
const ANSWER_MS = LIMITS.directoryStatementMsMax + 500

/** What another address of the same name may do better. */
const ELSEWHERE: ReadonlySet<FaultKind> = new Set(['unreachable', 'connect_timeout', 'lost'])

/** A server that is down has others beside it under its name: they share the time that there is. */
export async function openConnection(
  target: DirectoryTarget,
  addresses: Addresses,
): Promise<DirectoryConnection> {
  const connect = await DRIVERS[target.kind]()
  const endMs = performance.now() + LIMITS.directoryConnectMsMax
  const restMs = () => Math.max(1, endMs - performance.now())
  const found = addresses.find(target.host)
  const all = await within(restMs(), 'connect_timeout', found, () => {})
  for (const [at, address] of all.entries())
    try {
      return await openAt(connect, target, address, restMs() / (all.length - at))
    } catch (error) {
      const isElsewhere = error instanceof DirectoryFault && ELSEWHERE.has(error.kind)
      if (!isElsewhere || at === all.length - 1) throw error
    }
  throw new DirectoryFault('name_unknown')
}

async function openAt(
  connect: Connect,
  target: DirectoryTarget,
  address: string,
  limitMs: number,
): Promise<DirectoryConnection> {
  const socket = new Socket()
  const answers = createAnswerBounds()
  answers.contain(socket)
  try {
    const opening = connect(target, { socket, address, contain: answers.contain })
    const driver = await within(limitMs, 'connect_timeout', opening, () => void socket.destroy())
    return guarded(driver, socket, answers.renew)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/**
 * What a driver throws while it reads is thrown at nobody who could catch it, and would end this
 * process for all tenants: one answer that is not by the book is enough. It ends the connection.
 * So does an answer that is longer than any person's row: drivers keep all of it until its end.
 */
function createAnswerBounds() {
  let bytesLeft: number = LIMITS.directoryAnswerBytesMax
  return {
    /** The next question has an answer of its own. */
    renew() {
      bytesLeft = LIMITS.directoryAnswerBytesMax
    },
    contain(stream: Duplex) {
      const emit = stream.emit.bind(stream)
      stream.emit = (...args: Parameters<Duplex['emit']>) => {
        const [event, chunk] = args as [string, unknown]
        if (event === 'data' && Buffer.isBuffer(chunk)) bytesLeft -= chunk.length
        if (event === 'data' && bytesLeft < 0) {
          stream.destroy(new DirectoryFault('answer_too_large'))
          return true
        }
        try {
          return emit(...args)
        } catch {
          stream.destroy(new DirectoryFault('not_a_database'))
          return true
        }
      }
    },
  }
}

/** A database that has stopped answering is left alone: every question has its end here. */
function guarded(driver: DriverConnection, socket: Socket, renew: () => void): DirectoryConnection {
  const ask = <T>(question: () => Promise<T>) => {
    renew()
    return within(ANSWER_MS, 'query_slow', question(), () => void socket.destroy())
  }
  return {
    get isAlive() {
      return !socket.destroyed && socket.readable && socket.writable
    },
    isReadOnly: () => ask(() => driver.isReadOnly()),
    columns: () => ask(() => driver.columns()),
    find: (login) => ask(() => driver.find(login)),
    close() {
      if (!socket.destroyed) driver.end()
      setTimeout(() => void socket.destroy(), FAREWELL_MS).unref()
    },
  }
}
