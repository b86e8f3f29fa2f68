/** `--local-port`, as it is written. */
import { invalid } from '../arguments.ts'
import { LOCAL_PORT } from './listener.ts'

/** Undefined: none. */
export function readLocalPort(text: string | undefined): number | undefined {
  if (text === undefined) return LOCAL_PORT
  if (text === 'none' || text === '0') return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (port >= 1 && port <= 65_535) return port
  throw invalid(
    `--local-port must be a port from 1 to 65535, or none; the default is ${LOCAL_PORT}.`,
  )
}
