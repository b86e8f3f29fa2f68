/** Services that order certificates from authorities of a test, for hostnames that all lead here. */
import { createServer } from 'node:http'
import { challengeAnswer } from '../../shared/acme-challenge.ts'
import type { AcmeWorld } from '../../control-plane/acme/acme.ts'
import type { AcmeSettings } from '../../control-plane/acme/authorities.ts'
import { schema } from '../../control-plane/store/schema.ts'
import { createTestLog } from './fleet.ts'
import { startServices, type MovableClock, type ServicesOptions } from './control-plane.ts'
import { listening } from './wire.ts'
import { clockOf } from './clocks.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

const { acmeOrders, tenantCertificates } = schema

/** Every name is this machine. */
export const addressesHere = { find: async () => ['127.0.0.1'] }

/** Time passes by itself, and faster when it is told to. */
export function hurriedClock(): MovableClock {
  let aheadMs = 0
  return { ...clockOf(() => Date.now() + aheadMs), advance: (ms) => void (aheadMs += ms) }
}

interface OrderingOptions extends ServicesOptions {
  readonly directories: readonly string[]
  readonly profile?: string
  readonly dns?: AcmeSettings['dns']
  readonly wildcards?: readonly string[]
  readonly world?: AcmeWorld
}

export async function startOrdering(t: Teardown, options: OrderingOptions) {
  const { directories, profile = null, dns = null, wildcards = [], world, ...others } = options
  const clock = options.clock ?? hurriedClock()
  const { log, lines } = createTestLog()
  let thumbprint = ''
  let isAnswering = true
  const asked: string[] = []
  const gateway = createServer((request, response) => {
    asked.push(`${request.headers.host?.replace(/:\d+$/, '')}`)
    const answer = challengeAnswer(request.url ?? '', thumbprint)
    if (!isAnswering || answer === undefined) return void response.writeHead(404).end('no')
    response.end(answer)
  })
  const httpPort = await listening(gateway)
  t.teardown(() => gateway.close())
  const acme: AcmeSettings = {
    authorities: directories.map((directory) => ({ directory })),
    email: 'ops@example.com',
    profile,
    dns,
    wildcards,
  }
  const acmeWorld = { httpPort, addresses: addressesHere, roundMs: 2000, ...world }
  const services = await startServices(t, { ...others, clock, log, acme, acmeWorld })
  thumbprint = services.acme?.thumbprint ?? ''
  return {
    services,
    clock: clock as MovableClock,
    lines,
    /** Hosts that were asked whether they lead here. */
    asked,
    /** Whether hostnames lead to us. */
    answers: (does: boolean) => void (isAnswering = does),
    run: async () => services.acme?.run(),
    orders: async () => services.store.read.select().from(acmeOrders).orderBy(acmeOrders.hostname),
    async certificate(hostname: string): Promise<string | undefined> {
      const rows = await services.store.read.select().from(tenantCertificates)
      return rows.find((row) => row.hostname === hostname)?.certificatePem
    },
  }
}
