/** A database server, opened; why it cannot be, in one line. */
import type { Engine } from '../engine.ts'

export interface Opened {
  readonly engine: Engine
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
  const address = postgresAddress(database)
  let engine: Engine | undefined
  try {
    engine = await openPostgres(address)
    return await holdDatabase(engine, options)
  } catch (error) {
    await engine?.close()
    const advice = adviceOn(error, address) ?? (error as Error).message
    throw new DatabaseProblem(`control_plane.database could not be opened: ${advice}`)
  }
}
