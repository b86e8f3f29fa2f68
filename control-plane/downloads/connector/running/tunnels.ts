/**
 * The tunnel that serves; and while the key is replaced a second one beside it, which takes over
 * once it has all that the first is connected to. So no request meets a moment without either.
 */
import { LIMITS } from '../../../../shared/limits.ts'
import type { IdentifiedKey } from '../state/state-folder.ts'
import type { GatewayAddress } from '../tunnel/dial.ts'
import type { LinkStatus, Tunnel } from '../tunnel/tunnel.ts'
import type { TunnelEvent } from '../tunnel/worker-link.ts'

interface Serving {
  readonly keyId: string
  readonly tunnel: Tunnel
}

interface TunnelsWorld {
  readonly open: (key: IdentifiedKey, onEvent: (event: TunnelEvent) => void) => Tunnel
  /** Of the one that serves. */
  readonly onEvent: (event: TunnelEvent) => void
  /** Only one is left, and it has the key that came last. */
  readonly onMoved: () => void
}

export class Tunnels {
  readonly #world: TunnelsWorld
  #gateways: readonly GatewayAddress[] = []
  #current: Serving
  #coming: Serving | undefined
  #leaving: Serving | undefined

  constructor(key: IdentifiedKey, world: TunnelsWorld) {
    this.#world = world
    this.#current = this.#open(key)
  }

  #open(key: IdentifiedKey): Serving {
    const tunnel = this.#world.open(key, (event) => this.#hear(serving, event))
    const serving: Serving = { keyId: key.key_id, tunnel }
    return serving
  }

  #hear(serving: Serving, event: TunnelEvent): void {
    if (serving === this.#current) this.#world.onEvent(event)
    if (event.type === 'connected' || event.type === 'lost') this.#takeOverIfReady()
  }

  follow(gateways: readonly GatewayAddress[]): void {
    this.#gateways = gateways
    for (const one of [this.#current, this.#coming]) one?.tunnel.follow(gateways)
  }

  status(): LinkStatus[] {
    return this.#current.tunnel.status()
  }

  get gateways(): string[] {
    return this.#current.tunnel.gateways
  }

  check(isWished?: (gateway: string, worker: number) => boolean): void {
    this.#current.tunnel.check(isWished)
  }

  moveTo(key: IdentifiedKey): void {
    if (this.#current.keyId === key.key_id || this.#coming?.keyId === key.key_id) return
    this.#coming?.tunnel.close()
    this.#coming = this.#open(key)
    this.#coming.tunnel.follow(this.#gateways)
  }

  /** No connection is of another key. */
  isOnlyOn(keyId: string): boolean {
    return this.#current.keyId === keyId && this.#leaving === undefined
  }

  #takeOverIfReady(): void {
    const [old, next] = [this.#current, this.#coming]
    if (next === undefined || this.#leaving !== undefined) return
    const reached = connectedOf(next)
    if (reached.size === 0 || [...connectedOf(old)].some((name) => !reached.has(name))) return
    this.#current = next
    this.#coming = undefined
    this.#leaving = old
    void old.tunnel.drain(LIMITS.connectorKeyDrainMsMax).then(() => {
      this.#leaving = undefined
      this.#world.onMoved()
      this.#takeOverIfReady()
    })
  }

  async drain(withinMs: number): Promise<void> {
    this.#coming?.tunnel.close()
    const both = [this.#current, this.#leaving]
    await Promise.all(both.map(async (one) => one?.tunnel.drain(withinMs)))
  }

  close(): void {
    for (const one of [this.#current, this.#coming, this.#leaving]) one?.tunnel.close()
  }
}

const connectedOf = ({ tunnel }: Serving): Set<string> =>
  new Set(
    tunnel
      .status()
      .flatMap(({ gateway, worker, isConnected }) => (isConnected ? [`${gateway} ${worker}`] : [])),
  )
