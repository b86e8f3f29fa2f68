/** Who is measured: a reverse proxy with one worker, and keep-alive on both sides. */
import { fileURLToPath } from 'node:url'
import type { Need, Running } from '../processes.ts'
import type { Sessions } from '../sessions.ts'

export interface Behind {
  readonly originPort: number
  readonly sessions: Sessions
}

export interface Peer {
  readonly name: string
  /** Without it this peer is skipped. */
  readonly need?: Need
  start(behind: Behind): Promise<Running>
}

/** For profiles: BENCH_NODE_FLAGS="--cpu-prof". */
export const NODE_FLAGS: readonly string[] = (process.env.BENCH_NODE_FLAGS ?? '')
  .split(' ')
  .filter(Boolean)

export const programPath = (name: string): string =>
  fileURLToPath(new URL(`../programs/${name}`, import.meta.url))
