/**
 * How long after its start a gateway with very many certificates makes its first handshake, and what
 * it holds in memory: with nothing on its disk, from its disk, and from its disk without a control
 * plane. Once with a hundred hostnames a tenant, which are held whole, and once with one each,
 * which a gateway fetches when they are asked for. `npm run bench:certificates -- [certificates]`
 *
 * All have the same bytes under hostnames of their own: what is kept, sent and loaded of each is
 * the same as if they differed. All of it runs on this machine over the loopback.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import { PURPOSES } from '../control-plane/keys/sealed-columns.ts'
import { certificateFor } from '../test/support/certificate.ts'
import { freePort } from '../test/support/ports.ts'
import type { Fleet } from '../test/support/programs.ts'
import { copyTenant, idOf, shareOfWaits, startedOnce } from './copied-tenants.ts'
import { cpuTime, familyOf, residentBytes } from './cpu.ts'

const [certificates = 100_000] = process.argv.slice(2).map(Number)
/** Of handshakes behind the first one. */
const ASKED = 500
let clients = 0
const YEAR_MS = 365 * 24 * 3_600_000

const hostOf = (tenant: number, at: number) => `h${at}.${idOf(tenant)}.example`

for (const each of [100, 1]) await measure(certificates / each, each)

async function measure(tenants: number, each: number) {
  const closing: (() => Promise<void>)[] = []
  const tlsPort = await freePort()
  const fleet = await startedOnce(closing, `  tls_listen: 127.0.0.1:${tlsPort}`)
  fill(join(fleet.folder, 'data/service.db'), tenants, each)
  console.log(`\n${tenants} tenants with ${each} certificates each`)

  await fleet.startControlPlane()
  await starts('nothing on its disk', fleet, () => handshake(tlsPort, hostOf(tenants - 1, 0)))
  await fleet.settled()
  told('all is there', { memory: memoryOf(fleet) })
  const waits: number[] = []
  for (let at = 0; at < ASKED; at++)
    waits.push(await handshake(tlsPort, hostOf((at * 7) % tenants, at % each)))
  told(`${ASKED} other hostnames`, { waits, memory: memoryOf(fleet) })
  await fleet.gateways[0]!.stop()
  await starts('from its disk', fleet, () => handshake(tlsPort, hostOf(0, 0)))
  await fleet.settled()
  told('behind it', { memory: memoryOf(fleet) })
  await Promise.all([fleet.gateways[0]!.stop(), fleet.controlPlane.stop()])
  await starts('from its disk, no control plane', fleet, () => handshake(tlsPort, hostOf(0, 0)))
  for (const close of closing) await close()
}

/** Of one tenant many, each with secrets of its own. */
function fill(file: string, tenants: number, each: number) {
  const { cert, key } = certificateFor('bench.example')
  copyTenant(file, tenants, ({ database, vault }) => {
    const addHostname = database.prepare('INSERT INTO tenant_hostnames VALUES (?, ?, ?)')
    const addCertificate = database.prepare(
      `INSERT INTO tenant_certificates
         (hostname, tenant_id, certificate_pem, private_key_sealed, not_after, updated_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    const nowMs = Date.now()
    for (let tenant = 0; tenant < tenants; tenant++)
      for (let at = 0; at < each; at++) {
        const row = { tenantId: idOf(tenant), hostname: hostOf(tenant, at) }
        const sealed = vault.seal(key, PURPOSES.certificate(row))
        addHostname.run(row.hostname, row.tenantId, at)
        addCertificate.run(row.hostname, row.tenantId, cert, sealed, nowMs + YEAR_MS, nowMs)
      }
  })
}

/** Until the first handshake: of a gateway that does not listen yet, or has no such host, again. */
async function starts(what: string, fleet: Fleet, shake: () => Promise<number>) {
  const startMs = performance.now()
  const listening = fleet.startGateway(0)
  let first: number | undefined
  while (first === undefined) {
    first = await shake().catch(() => undefined)
    if (first === undefined) await pause(10)
  }
  const ms = performance.now() - startMs
  await listening
  const { userUs, kernelUs } = cpuTime(familyOf(fleet.gateways[0]?.child.pid ?? 0))
  told(what, { ms, cpuMs: (userUs + kernelUs) / 1000, memory: memoryOf(fleet) })
}

/** Milliseconds. Each of another client: a gateway fetches so many tenants for one of them. */
function handshake(port: number, servername: string): Promise<number> {
  const startMs = performance.now()
  const client = clients++
  const localAddress = `127.${1 + (client >> 8)}.${client & 255}.1`
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...{ host: '127.0.0.1', port, localAddress, servername, rejectUnauthorized: false },
    })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      resolve(performance.now() - startMs)
      socket.destroy()
    })
  })
}

function memoryOf(fleet: Fleet): number[] {
  return familyOf(fleet.gateways[0]?.child.pid ?? 0).map((pid) => residentBytes([pid]))
}

interface Told {
  readonly ms?: number
  readonly cpuMs?: number
  /** Of the primary, and of each worker. */
  readonly memory?: readonly number[]
  readonly waits?: readonly number[]
}

function told(what: string, { ms, cpuMs, memory, waits }: Told) {
  const figures = [
    ms === undefined ? '' : `first handshake after ${(ms / 1000).toFixed(2)} s`,
    cpuMs === undefined ? '' : `${cpuMs.toFixed(0)} ms of CPU`,
    waits === undefined ? '' : shareOfWaits(waits),
    memory === undefined
      ? ''
      : `${memory.map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(' + ')} MiB`,
  ]
  console.log(`${what.padEnd(36)}${figures.filter((figure) => figure !== '').join(', ')}`)
}
