/** What a control plane is given by whoever starts one. */
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import type { AcmeWorld } from '../acme/acme.ts'
import type { AcmeSettings } from '../acme/authorities.ts'
import type { ProofWorld } from '../hostnames/proof.ts'
import type { BreachList } from '../accounts/passwords/breach-list.ts'
import type { AiSettings } from '../analysis/provider.ts'
import type { ProviderWorld } from '../analysis/provider-client.ts'
import type { PasswordCost } from '../accounts/passwords/hasher.ts'
import type { Strength } from '../accounts/passwords/strength.ts'
import type { LiveKey } from '../keys/live-key.ts'
import type { MasterKeys } from '../keys/master-key.ts'
import type { RsaKey } from '../keys/rsa-keys.ts'
import type { SharedKeyUse } from '../fleet/admission.ts'
import type { MailTransport } from '../mail/mails.ts'
import type { Engine } from '../store/engine.ts'
import type { OwnFile } from '../tenants/certificates.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { ReceiverWorld } from '../webhooks/receiver-client.ts'

export interface ServicesWorld extends MasterKeys {
  readonly engine: Engine
  readonly fleetKey: LiveKey
  /** Whether gateways of other machines may still come with it. */
  readonly sharedFleetKey?: SharedKeyUse
  readonly baseUrl: string
  /** Where runtimes for devices lie; without one there are none. */
  readonly dataDir?: string
  readonly edgeUrlFor: (hostname: string) => string
  /** Balancers in front, as CIDRs: they say who the client is. */
  readonly trustedProxies?: readonly string[]
  readonly breaches?: BreachList | undefined
  readonly mailTransport: MailTransport
  /** CIDRs where a tenant's database may be although such addresses are refused. */
  readonly directoryAddresses?: readonly string[]
  /** How webhooks are reached. */
  readonly receivers?: ReceiverWorld
  /** Who writes guides; null: nobody. */
  readonly ai?: AiSettings | null
  readonly aiWorld?: ProviderWorld
  /** Who certificates are ordered from; null: nobody. */
  readonly acme?: AcmeSettings | null
  readonly acmeWorld?: AcmeWorld
  /** Browsers come to us without a proxy. */
  readonly hasOwnTls?: boolean
  /** Our own, for which a certificate is ordered, too. */
  readonly ownHostnames?: readonly string[]
  /** Or a file is shown for it. */
  readonly ownCertificateFile?: OwnFile | undefined
  /** Where it is looked whether a hostname is a tenant's, for tests. */
  readonly proofs?: Partial<ProofWorld>
  /** What a new password's hash and a new signing key cost; as much as they should, if nothing is said. */
  readonly passwordCost?: PasswordCost
  readonly generateKey?: () => Promise<RsaKey>
  /** Who estimates passwords, if several share one; whoever gives it ends it. */
  readonly strength?: Pick<Strength, 'of'>
  /** How long an answer waits for gateways to go by it, at most. */
  readonly enforceMsMax?: number
  /** How long what is done behind an answer waits; at random, if nothing is said. */
  readonly behindAnswerMs?: () => number
  readonly tracing?: Tracing
  readonly clock: Clock
  readonly log: Logger
}
