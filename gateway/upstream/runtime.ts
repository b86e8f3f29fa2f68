/** What all upstreams of one process share: the sweep, the read buffer, the name lookups. */
import { systemClock, type SteadyClock } from '../../shared/clock.ts'
import { Deadlines } from '../wire/deadlines.ts'
import { SpareBuffer } from '../wire/client-writer.ts'
import { createNames, type Resolve } from './names.ts'

/** An answer of 64 KiB and its head are one read and one write. */
const READ_BUFFER_BYTES = 128 * 1024

export type UpstreamRuntime = ReturnType<typeof createUpstreamRuntime>

export function createUpstreamRuntime(world: {
  readonly clock?: SteadyClock
  readonly resolve?: Resolve
  readonly sweepMs?: number
}) {
  const clock = world.clock ?? systemClock
  const deadlines = new Deadlines(clock, world.sweepMs)
  const names = createNames({ clock, ...(world.resolve && { resolve: world.resolve }) })
  return {
    clock,
    deadlines,
    /**
     * Every upstream socket reads into these bytes: libuv fills them and we empty them within one
     * callback, so ten thousand connections cost no more buffer than one.
     */
    readBuffer: Buffer.allocUnsafeSlow(READ_BUFFER_BYTES),
    /** As large as what one read brings: large uploads are written from it, without garbage. */
    spare: new SpareBuffer(READ_BUFFER_BYTES),
    lookup: names.lookup,
    close() {
      deadlines.close()
      names.close()
    },
  }
}
