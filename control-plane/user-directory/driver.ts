/** What the drivers of both kinds of database have in common. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
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

export interface Route {
  readonly socket: Socket
  /** Where it goes; `target.host` is the name that a certificate has to be for. */
  readonly address: string
  /** For what is wrapped around the socket: its data is what a driver reads then. */
  readonly contain: (stream: Duplex) => void
}

export type Connect = (target: DirectoryTarget, route: Route) => Promise<DriverConnection>
