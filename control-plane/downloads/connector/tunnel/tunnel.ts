/** Every worker of every gateway that this connector is told of. */
import type { GatewayAddress } from './dial.ts'
import type { LinkCheck } from './link-checks.ts'
import { WorkerLink, type TunnelWorld } from './worker-link.ts'

export interface LinkStatus {
  readonly gateway: string
  readonly worker: number
  readonly isConnected: boolean
  readonly connections: number
  readonly inUse: number
  readonly problem: string
  readonly check: LinkCheck
  /** How often it was connected anew. */
  readonly reconnects: number
}

interface Linked {
  readonly to: GatewayAddress
  readonly links: WorkerLink[]
}

export class Tunnel {
  readonly #world: TunnelWorld
  readonly #gateways = new Map<string, Linked>()

  constructor(world: TunnelWorld) {
    this.#world = world
  }

  /** Those that are new are dialled, those that are no longer named are left. */
  follow(gateways: readonly GatewayAddress[]): void {
    const named = new Set(gateways.map(keyOf))
    for (const [key, { links }] of this.#gateways) {
      if (named.has(key)) continue
      this.#gateways.delete(key)
      for (const link of links) link.close()
    }
    for (const to of gateways) {
      const key = keyOf(to)
      if (this.#gateways.has(key)) continue
      const linked: Linked = { to, links: [] }
      this.#gateways.set(key, linked)
      this.#reach(linked, 1)
    }
  }

  /** A gateway says with each connection how many workers it has. */
  #reach(linked: Linked, workers: number): void {
    while (linked.links.length > workers) linked.links.pop()!.close()
    while (linked.links.length < workers)
      linked.links.push(
        new WorkerLink(linked.to, linked.links.length + 1, this.#world, (now) =>
          this.#reach(linked, now),
        ),
      )
  }

  *#links(): Generator<WorkerLink> {
    for (const { links } of this.#gateways.values()) yield* links
  }

  *#named(): Generator<[GatewayAddress, WorkerLink]> {
    for (const { to, links } of this.#gateways.values()) for (const link of links) yield [to, link]
  }

  /** Those that it was told of last. */
  get gateways(): string[] {
    return [...new Set([...this.#gateways.values()].map(({ to }) => to.gateway_id))]
  }

  status(): LinkStatus[] {
    return [...this.#gateways.values()].flatMap(({ to, links }) =>
      links.map((link) => ({
        gateway: to.gateway_id,
        worker: link.worker,
        isConnected: link.isWelcome,
        connections: link.connections,
        inUse: link.inUse,
        problem: link.lastProblem,
        check: link.lastCheck,
        reconnects: Math.max(0, link.welcomes - 1),
      })),
    )
  }

  /** Of every link that is connected, or of those that are wished. */
  check(isWished: (gateway: string, worker: number) => boolean = () => true): void {
    for (const [{ gateway_id: gateway }, link] of this.#named())
      if (link.isWelcome && isWished(gateway, link.worker)) link.check()
  }

  async drain(withinMs: number): Promise<void> {
    await Promise.all([...this.#links()].map((link) => link.drain(withinMs)))
  }

  close(): void {
    for (const link of this.#links()) link.close()
    this.#gateways.clear()
  }
}

const keyOf = ({ gateway_id, address, certificate }: GatewayAddress) =>
  `${gateway_id} ${address} ${certificate}`
