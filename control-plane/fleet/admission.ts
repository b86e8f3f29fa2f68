/**
 * Who may come in as which gateway. Each gateway has a key of its own. The key of this machine,
 * `SERVICE_FLEET_KEY`, is for gateways that run beside the control plane and for none that has a
 * key of its own: it comes from another machine only where the settings say so, for a while.
 */
import type { Logger } from 'pino'
import { isLoopback } from '../../shared/networks.ts'
import type { LiveKey } from '../keys/live-key.ts'

export interface GatewayKeyRegistry {
  find(key: string): Promise<{ readonly keyId: string; readonly gatewayId: string } | undefined>
  hasOwn(gatewayId: string): Promise<boolean>
  /** False: it has been revoked meanwhile. */
  use(keyId: string): Promise<boolean>
  /** It has come in with the key of this machine. */
  areHereKeyless(gatewayIds: readonly string[]): Promise<void>
  /** Gateways that have been connected with a key that still counts, or lately without their own. */
  seen(): Promise<readonly string[]>
}

export const NO_GATEWAY_KEYS: GatewayKeyRegistry = {
  find: () => Promise.resolve(undefined),
  hasOwn: () => Promise.resolve(false),
  use: () => Promise.resolve(false),
  areHereKeyless: () => Promise.resolve(),
  seen: () => Promise.resolve([]),
}

/** `nowhere`: something on this machine hands connections of others on, and says nothing of it. */
export type SharedKeyUse = 'local' | 'anywhere' | 'nowhere'

export type Credential =
  | { readonly kind: 'own'; readonly keyId: string; readonly gatewayId: string }
  /** Which of them, while one replaces the other. */
  | { readonly kind: 'shared'; readonly number: number }

interface AdmissionOptions {
  readonly fleetKey: LiveKey
  readonly sharedKey: SharedKeyUse
  readonly keys: GatewayKeyRegistry
  readonly log: Logger
}

export type Admission = ReturnType<typeof createAdmission>

export function createAdmission({ fleetKey, sharedKey, keys, log }: AdmissionOptions) {
  return {
    /** undefined: it opens nothing. `isForwarded`: a proxy stands between, whose address it is. */
    async authenticate(
      key: string,
      { address, isForwarded }: { readonly address: string; readonly isForwarded: boolean },
    ): Promise<Credential | undefined> {
      const number = fleetKey.find(key)
      if (number === undefined) {
        const own = await keys.find(key)
        return own && { kind: 'own', keyId: own.keyId, gatewayId: own.gatewayId }
      }
      const isLocal = isLoopback(address) && !isForwarded
      if (isLocal && sharedKey !== 'nowhere') return { kind: 'shared', number }
      const advice = 'make a key for it: Fleet in the console, or POST /api/v1/operator/gateways'
      if (sharedKey === 'nowhere')
        log.error({ address, advice }, 'the fleet key of this machine opens nothing here: refused')
      else if (sharedKey === 'local')
        log.error(
          { address, advice },
          'the fleet key of this machine came from another one: refused',
        )
      else log.warn({ address, advice }, 'a gateway of another machine uses the shared fleet key')
      return sharedKey === 'anywhere' ? { kind: 'shared', number } : undefined
    },

    /** Why the gateway may not be who it says; undefined: it is. */
    async refusalOf(credential: Credential, gatewayId: string): Promise<string | undefined> {
      if (credential.kind === 'shared') {
        if (!fleetKey.isLive(credential.number)) return 'this key has been replaced'
        if (await keys.hasOwn(gatewayId))
          return `gateway "${gatewayId}" has a key of its own: set SERVICE_FLEET_KEY to it`
        await keys.areHereKeyless([gatewayId])
        return undefined
      }
      if (credential.gatewayId !== gatewayId)
        return `this key belongs to gateway "${credential.gatewayId}": set gateway.id to that, or make a key for "${gatewayId}"`
      return (await keys.use(credential.keyId)) ? undefined : 'this key has been revoked'
    },
  }
}
