/** Requests for sealed paths, as the tenant's events tell of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet } from './programs.ts'

interface Told {
  readonly outcome: string
  readonly path: string
}

/** The paths of all of them, once this one is among them. */
export async function sealedPathsTold(fleet: Fleet, tenantId: string, path: string) {
  for (;;) {
    const { body } = await fleet.operator('GET', `/tenants/${tenantId}/enforcement-events`)
    const all = (body['items'] as unknown as Told[]).filter(({ outcome }) => outcome === 'sealed')
    const paths = all.map((one) => one.path)
    if (paths.includes(path)) return paths
    await sleep(50)
  }
}
