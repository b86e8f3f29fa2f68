/** A name server that is silent for ten seconds, or knows no address: for its own tenant, and others. */
import { createUpstreamRuntime } from '../../gateway/upstream/runtime.ts'
import { RawClient, startOrigin, startWire } from '../../test/support/wire.ts'
import type { Scope } from './scope.ts'
import { healthText, measureHealthy } from './healthy.ts'

const SLOW_MS = 10_000
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const ASKERS = 200

export async function measureNames(scope: Scope) {
  const origin = await startOrigin(scope)
  const local = [{ address: '127.0.0.1', family: 4 as const }]
  const runtime = createUpstreamRuntime({
    resolve: async (name) => {
      if (name === 'nowhere.test') throw new Error('no such name')
      if (name === 'slow.test') await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
      return local
    },
  })
  scope.teardown(() => runtime.close())
  const start = (name: string) =>
    startWire(scope, `http://${name}:${origin.port}`, { upstreamOptions: { runtime } })
  const [slow, nowhere, quick] = [
    await start('slow.test'),
    await start('nowhere.test'),
    await start('quick.test'),
  ]
  const ask = async (port: number) => {
    const client = new RawClient(port)
    const startMs = performance.now()
    client.send(GET)
    const answer = await client.answer()
    client.close()
    return { status: answer?.status ?? 0, tookMs: performance.now() - startMs }
  }
  await measureHealthy(quick.port, GET, 2) // warm
  const without = await measureHealthy(quick.port, GET, 4)
  const stuck = Promise.all(Array.from({ length: ASKERS }, () => ask(slow.port)))
  const beside = await measureHealthy(quick.port, GET, 4)
  const answers = await stuck
  const unknown = await ask(nowhere.port)
  const last = Math.max(...answers.map(({ tookMs }) => tookMs))
  const statuses = [...new Set(answers.map(({ status }) => status))].join()
  console.log(
    `  ${ASKERS} requests to a name that takes ${SLOW_MS / 1000} s: ${statuses}, the last after ${(last / 1000).toFixed(1)} s (5 s to connect)`,
  )
  console.log(
    `  a name without an address: ${unknown.status} after ${unknown.tookMs.toFixed(1)} ms`,
  )
  console.log(`  other tenants without:  ${healthText(without)}`)
  console.log(`  other tenants meanwhile: ${healthText(beside)}`)
}
