/**
 * How long a change and a revocation take from the commit until a worker serves it and until the
 * gateway has acknowledged it, with one tenant and with many; and how long a gateway takes to
 * start from its disk. `npm run bench:fleet -- [tenants] [rounds]`
 *
 * Hub, gateway and the worker's registry share this one process and the loopback, snapshots are
 * compiled for real. It does not measure the store's transaction or the network.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkSnapshot, createTenantCompiler } from '../gateway/tenants/compiled.ts'
import { createTenantRegistry } from '../gateway/tenants/registry.ts'
import { startFleetLink } from '../gateway/fleet/fleet-link.ts'
import { createPortPair } from '../test/support/port-pair.ts'
import { followRelay } from '../gateway/fleet/relay-follower.ts'
import { createUpstreamRuntime } from '../gateway/upstream/runtime.ts'
import { createUpstream } from '../gateway/upstream/upstream.ts'
import { systemClock } from '../shared/clock.ts'
import { createTestLog, FLEET_KEY, startControlPlane, until } from '../test/support/fleet.ts'

const tenantsMax = Number(process.argv[2] ?? 10_000)
const rounds = Number(process.argv[3] ?? 300)
const MODULI = Array.from({ length: 8 }, () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return publicKey.export({ format: 'jwk' }).n!
})

const closing: (() => unknown)[] = []
const scope = { teardown: (close: () => unknown) => void closing.unshift(close) }

for (const tenants of [1, tenantsMax]) {
  await measure(tenants)
  for (const close of closing.splice(0)) await close()
}

async function measure(tenants: number) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'))
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const control = await startControlPlane(scope)
  for (let count = 0; count < tenants; count += 1) control.source.put(`t${count}`, keysOf(count))
  control.hub.tenantChanged()

  const fullStartMs = performance.now()
  const gateway = startGateway(control.port, folder)
  await until(() => gateway.registry.size() === tenants, 300_000)
  const servedMs = performance.now() - fullStartMs
  await until(() => control.hub.gateways()[0]?.revision === tenants, 300_000)
  print(tenants, 'full synchronisation, served', servedMs)
  print(tenants, 'full synchronisation, written', performance.now() - fullStartMs)

  const served: number[] = []
  const acknowledged: number[] = []
  const revoked: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const tenantId = `t${round % tenants}`
    const startMs = performance.now()
    const revision = control.put(tenantId, { name: `Round ${round}` })
    const acknowledging = control.hub.settled(revision, 30_000)
    while (gateway.registry.byId(tenantId)?.tenant.revision !== revision) await turn()
    served.push(performance.now() - startMs)
    await acknowledging
    acknowledged.push(performance.now() - startMs)

    const revokedMs = performance.now()
    const notBefore = Math.floor(Date.now() / 1000) + round
    control.revoke(tenantId, { sids: { [`s${round}`]: notBefore } })
    while (!gateway.registry.byId(tenantId)?.revoked.sids.has(`s${round}`)) await turn()
    revoked.push(performance.now() - revokedMs)
  }
  print(tenants, 'change → served', served)
  print(tenants, 'change → acknowledged and on disk', acknowledged)
  print(tenants, 'revocation → served', revoked)
  await gateway.close()

  const coldStartMs = performance.now()
  const restarted = startGateway(control.port, folder)
  await restarted.ready
  print(tenants, 'cold start from disk', performance.now() - coldStartMs)
  console.log(
    `  memory ${Math.round(process.memoryUsage.rss() / 1024 / 1024)} MiB, all in one process`,
  )
  await restarted.close()
}

function startGateway(port: number, folder: string) {
  const { log } = createTestLog()
  const runtime = createUpstreamRuntime({ clock: systemClock })
  const timeouts = { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000 }
  const compiler = createTenantCompiler({
    openUpstream: ({ origin }) => createUpstream({ origin, runtime, timeouts }),
  })
  const registry = createTenantRegistry({
    clock: systemClock,
    compile: (snapshot) => compiler.compile(snapshot),
    onRetire: (old) => compiler.retire(old),
  })
  const link = startFleetLink({
    controlPlaneUrls: [`http://127.0.0.1:${port}`],
    fleetKey: FLEET_KEY,
    gatewayId: 'bench',
    version: '0',
    directory: folder,
    validate: checkSnapshot,
    clock: systemClock,
    log,
    random: Math.random,
  })
  const ports = createPortPair()
  const follower = followRelay({ port: ports.primary, registry, log })
  link.attachWorker(ports.worker)
  return {
    registry,
    ready: follower.ready,
    async close() {
      await link.close()
      ports.close()
      follower.close()
      await compiler.close()
      runtime.close()
    },
  }
}

function keysOf(count: number) {
  const n = MODULI[count % MODULI.length]!
  const key = { kid: `k${count}`, kty: 'RSA', alg: 'RS256', use: 'sig', n, e: 'AQAB' } as const
  return { keys: [key] }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function print(tenants: number, name: string, measured: number | number[]) {
  const head = `${tenants.toString().padStart(6)} tenants  ${name.padEnd(36)}`
  if (typeof measured === 'number') return console.log(`${head} ${measured.toFixed(0)} ms`)
  const sorted = measured.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(1)
  console.log(`${head} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms`)
}
