/** What waits, as figures that are read when somebody asks: additions to figures, and connectors for the next key. */
import { Gauge, type Registry } from 'prom-client'
import { SECOND_MS, type Clock } from '../shared/clock.ts'
import type { Authority } from './connectors/authority.ts'
import { oldestAddition } from './store/queries/service-figures.ts'
import type { Store } from './store/store.ts'

interface WaitingWorld {
  readonly store: Pick<Store, 'read'>
  readonly connectorAuthority: Pick<Authority, 'status'>
}

/** Answers what has to be read before the figures are. */
export function waitingMetrics(world: WaitingWorld, registry: Registry, clock: Clock) {
  const { store, connectorAuthority } = world
  const registers = [registry]
  const figures = new Gauge({
    name: 'control_plane_figures_lag_seconds',
    help: 'Age of the oldest minute of a tenant that is not in the figures of all yet; 0 without any.',
    registers,
  })
  const rotation = new Gauge({
    name: 'control_plane_connector_key_rotation',
    help: '1 while the next key that connectors trust is announced and does not sign yet.',
    registers,
  })
  const connectors = new Gauge({
    name: 'control_plane_connectors_without_next_key',
    help: 'Connectors that have not confirmed the next key; 0 while none is announced.',
    registers,
  })

  return async () => {
    const oldestMs = await oldestAddition(store.read)
    const lagMs = oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestMs)
    figures.set(lagMs / SECOND_MS)
    const { next, waiting } = await connectorAuthority.status(0)
    rotation.set(Number(next !== null))
    connectors.set(waiting)
  }
}
