/** Thousands of tenants lie compiled in each worker: what one of them weighs. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createTenantCompiler } from '../../../gateway/tenants/compiled.ts'
import { createUpstreamRuntime } from '../../../gateway/upstream/runtime.ts'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import type { TenantSnapshot } from '../../../shared/fleet/snapshot.ts'
import { snapshotOf } from '../../support/fleet-source.ts'

const TENANTS = 1_000
const BYTES_MAX = 6 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

t.test('a tenant that is compiled, and asked for nothing, weighs some kilobytes', async (t) => {
  const runtime = createUpstreamRuntime({})
  const timeouts = { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000 }
  const compiler = createTenantCompiler({
    openUpstream: ({ origin }) => createUpstream({ origin, runtime, timeouts }),
  })
  // each as it comes from the primary, with nothing in common with the others
  const compileAll = (prefix: string) =>
    Array.from({ length: TENANTS }, (_, at) => {
      const text = JSON.stringify(snapshotOf(`${prefix}-${at}`))
      return compiler.compile(JSON.parse(text) as TenantSnapshot)
    })
  const warm = compileAll('warm')
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const compiled = compileAll('app')
  collectGarbage()
  const each = (process.memoryUsage().heapUsed - before) / TENANTS
  t.ok(each < BYTES_MAX, `${each.toFixed(0)} bytes each`)
  t.equal(warm.length, compiled.length)
  await compiler.close()
  runtime.close()
})
