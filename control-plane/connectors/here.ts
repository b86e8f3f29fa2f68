/** The connectors at one gateway: by their tenants, by whom they are asked for, and by their ids. */
import type { ConnectorHere } from '../../shared/fleet/connector-presence.ts'

const NONE: ReadonlyMap<string, ConnectorHere> = new Map()

export class Here {
  readonly #byTenant = new Map<string, Map<string, ConnectorHere>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(tenantId: string, connectorId: string): ConnectorHere | undefined {
    return this.#byTenant.get(tenantId)?.get(connectorId)
  }

  set(one: ConnectorHere): void {
    const { tenantId, connectorId } = one
    const own = this.#byTenant.getOrInsertComputed(tenantId, () => new Map())
    const before = own.size
    own.set(connectorId, one)
    this.#size += own.size - before
  }

  /** False: it was not here. */
  delete(tenantId: string, connectorId: string): boolean {
    const own = this.#byTenant.get(tenantId)
    if (own?.delete(connectorId) !== true) return false
    this.#size--
    if (own.size === 0) this.#byTenant.delete(tenantId)
    return true
  }

  /** These are all of this tenant. */
  replace(tenantId: string, all: readonly ConnectorHere[]): void {
    for (const { connectorId } of [...this.of(tenantId)]) this.delete(tenantId, connectorId)
    for (const one of all) this.set(one)
  }

  of(tenantId: string): Iterable<ConnectorHere> {
    return (this.#byTenant.get(tenantId) ?? NONE).values()
  }

  tenants(): Iterable<string> {
    return this.#byTenant.keys()
  }

  *all(): Generator<ConnectorHere> {
    for (const own of this.#byTenant.values()) yield* own.values()
  }
}
