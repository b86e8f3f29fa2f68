/** One connection to a tenant's database, whatever its kind. Read-only from its first statement. */
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LIMITS } from '../../shared/limits.ts'
import type { Addresses } from './addresses.ts'
import { DirectoryFault, within } from './faults.ts'
import type { DirectoryTarget } from './settings.ts'

/** In the order of the columns that were asked for. */
export type Row = readonly (string | null)[]

/** What a driver does. Its failures are faults, and the connection is of no use after one. */
export interface DriverConnection {
  /** Whether the database says itself that nothing can be written over this connection. */
  isReadOnly(): Promise<boolean>
  /** The names of all columns that the operator's query gives. */
  columns(): Promise<string[]>
  /** Everybody with this login; two at most. */
  find(login: string): Promise<Row[]>
  /** Takes leave of the database; the socket is not waited for. */
  end(): void
}

export interface DirectoryConnection extends Omit<DriverConnection, 'end'> {
  /** False once the other end has gone: it is not worth asking. */
  readonly isAlive: boolean
  close(): void
}

export interface Route {
  readonly socket: Socket
  /** Where it goes; `target.host` is the name that a certificate has to be for. */
  readonly address: string
}

export type Connect = (target: DirectoryTarget, route: Route) => Promise<DriverConnection>

/** The drivers are loaded by whoever needs them first: most control planes never do. */
const DRIVERS: Readonly<Record<DirectoryTarget['kind'], () => Promise<Connect>>> = {
  postgres: async () => (await import('./postgres.ts')).connectPostgres,
  mysql: async () => (await import('./mysql.ts')).connectMysql,
}

/** For a database that takes leave more slowly than anybody should wait. */
const FAREWELL_MS = 500
/** Beyond what the database itself allows a statement: then it is not the statement that hangs. */
const ANSWER_MS = LIMITS.directoryStatementMsMax + 500

export async function openConnection(
  target: DirectoryTarget,
  addresses: Addresses,
): Promise<DirectoryConnection> {
  const connect = await DRIVERS[target.kind]()
  const socket = new Socket()
  containFailures(socket)
  const opening = addresses.find(target.host).then((address) => {
    if (socket.destroyed) throw new DirectoryFault('connect_timeout') // nobody waits any more
    return connect(target, { socket, address })
  })
  try {
    const driver = await within(
      LIMITS.directoryConnectMsMax,
      'connect_timeout',
      opening,
      () => void socket.destroy(),
    )
    return guarded(driver, socket)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/**
 * What a driver throws while it reads is thrown at nobody who could catch it, and would end this
 * process for all tenants: one answer that is not by the book is enough. It ends the connection.
 */
export function containFailures(stream: Duplex) {
  const emit = stream.emit.bind(stream)
  stream.emit = (...args: Parameters<Duplex['emit']>) => {
    try {
      return emit(...args)
    } catch {
      stream.destroy(new DirectoryFault('not_a_database'))
      return true
    }
  }
}

/** A database that has stopped answering is left alone: every question has its end here. */
function guarded(driver: DriverConnection, socket: Socket): DirectoryConnection {
  const ask = <T>(question: Promise<T>) =>
    within(ANSWER_MS, 'query_slow', question, () => void socket.destroy())
  return {
    get isAlive() {
      return !socket.destroyed && socket.readable && socket.writable
    },
    isReadOnly: () => ask(driver.isReadOnly()),
    columns: () => ask(driver.columns()),
    find: (login) => ask(driver.find(login)),
    close() {
      if (!socket.destroyed) driver.end()
      setTimeout(() => void socket.destroy(), FAREWELL_MS).unref()
    },
  }
}
