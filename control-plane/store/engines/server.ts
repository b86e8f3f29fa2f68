/** A database server, opened; why it cannot be, in one line. */
import type { Clock } from '../../../shared/clock.ts'
import type { Engine } from '../engine.ts'

export interface Opened {
  readonly engine: Engine
  /** The server's, by which all control planes go that use it. */
  readonly clock: Clock
  /** Settles if somebody else has it alone now: what to say. */
  readonly lost: Promise<string>
}

/** For the person at the terminal: what is in the way, and what to do. */
export class DatabaseProblem extends Error {
  override readonly name = 'DatabaseProblem'
}

/** Loaded where it is needed: most have no server. */
export async function openServer(
  database: string,
  options: { readonly isAlone?: boolean } = {},
): Promise<Opened> {
  const { adviceOn, postgresAddress } = await import('./postgres-address.ts')
  const { openPostgres } = await import('./postgres.ts')
  const { holdDatabase } = await import('./postgres-holder.ts')
  const { askServer, followServerClock } = await import('./server-clock.ts')
  const address = postgresAddress(database)
  let engine: Engine | undefined
  let clock: Awaited<ReturnType<typeof followServerClock>> | undefined
  try {
    const { reader } = (engine = await openPostgres(address))
    const own = (clock = await followServerClock(() => askServer(reader)))
    const held = await holdDatabase(engine, options)
    const close = () => (own.close(), held.engine.close())
    return { ...held, clock, engine: { ...held.engine, close } }
  } catch (error) {
    clock?.close()
    await engine?.close()
    const advice = adviceOn(error, address) ?? (error as Error).message
    throw new DatabaseProblem(`control_plane.database could not be opened: ${advice}`)
  }
}
