import { readFileSync } from 'node:fs'
import t from 'tap'
import { childrenOf, startLiveGateway } from '../support/live-gateway.ts'
import { startOrigin } from '../support/wire.ts'

t.test('a worker collects its garbage alone, and takes none of it for old', async (t) => {
  const origin = await startOrigin(t)
  const gateway = await startLiveGateway(t, { origin: origin.url, workers: 2 })
  const workers = childrenOf(gateway.program.child.pid!)
  t.equal(workers.length, 2)
  for (const pid of workers)
    t.match(readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0'), {
      1: '--no-parallel-scavenge',
      2: '--no-allocation-site-pretenuring',
    })
})
