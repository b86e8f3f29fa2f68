import { readFileSync } from 'node:fs'
import t from 'tap'
import { childrenOf, startLiveGateway } from '../support/live-gateway.ts'
import { startOrigin } from '../support/wire.ts'

t.test(
  'a worker collects its garbage alone, takes none of it for old, and looks for old seldom',
  async (t) => {
    const origin = await startOrigin(t)
    const gateway = await startLiveGateway(t, { origin: origin.url, workers: 2 })
    const workers = childrenOf(gateway.program.child.pid!)
    t.equal(workers.length, 2)
    for (const pid of workers)
      t.match(readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0'), {
        1: '--no-parallel-scavenge',
        2: '--no-allocation-site-pretenuring',
        3: '--heap-growing-percent=40',
        4: '--external-memory-accounted-in-global-limit',
        5: '--min-semi-space-size=16',
        6: '--max-semi-space-size=16',
      })
  },
)
