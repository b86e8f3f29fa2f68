/** What every part of a realm goes by: the realm itself, and what it needs from the rest of the control plane. */
import type { Provider as OidcProvider } from 'oidc-provider'
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import type { AccountMail } from '../accounts/account-mail.ts'
import type { PasswordHasher } from '../accounts/passwords/hasher.ts'
import type { PasswordRules } from '../accounts/passwords/rules.ts'
import type { Attempts } from '../accounts/attempts.ts'
import type { BehindAnswer } from '../accounts/behind-answers.ts'
import type { Devices } from '../accounts/devices.ts'
import type { BackChannel } from '../connections/back-channel.ts'
import type { Connections } from '../connections/connections.ts'
import type { ConnectionProtocols } from '../connections/kinds.ts'
import type { SamlProtocol } from '../connections/saml/protocol.ts'
import type { TestTickets } from '../connections/test-tickets.ts'
import type { Devices as EnrolledDevices } from '../devices/devices.ts'
import type { DeviceProofs } from '../devices/proofs.ts'
import type { DeviceTypedCodes } from '../devices/typed-codes.ts'
import type { Enforcement } from '../events/enforcement.ts'
import type { Machines } from '../machines/machines.ts'
import type { Factors } from '../accounts/factors.ts'
import type { Revocations } from '../sessions/revocations.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Tickets } from '../accounts/tickets.ts'
import type { Users } from '../accounts/users.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { Vault } from '../keys/vault.ts'
import type { Policies } from '../policy/policies.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import type { Store } from '../store/store.ts'
import type { Tenants } from '../tenants/tenants.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { RealmRecords } from './records.ts'
import type { RealmClients } from './clients/realm-clients.ts'
import type { SignInMail } from './sign-in/sign-in-mail.ts'
import type { SignUpMail } from './sign-up/sign-up-mail.ts'
import type { PersonRate } from './sign-in/person-rate.ts'

export type RealmContext = Parameters<Parameters<OidcProvider['use']>[0]>[0]

export interface Realm {
  readonly tenant: Tenant
  readonly clientId: string
  readonly issuer: string
  readonly provider: OidcProvider
  readonly records: RealmRecords
  readonly personRate: PersonRate
  /** The application's own addresses, as people know them: `https://app.example.com/`. */
  readonly applicationUrls: readonly string[]
}

/** What counts for all realms together: it must not begin anew with each that is built. */
export interface RealmCounts {
  readonly tokenLimits: RateLimits
  readonly personRate: PersonRate
}

/** The services that it stands on; the real ones fit as they are. */
export interface RealmWorld {
  readonly tracing: Pick<Tracing, 'span' | 'note'>
  readonly store: Store
  readonly vault: Vault
  readonly tenants: Pick<Tenants, 'find' | 'clientSecrets' | 'redirectUris' | 'logo'>
  readonly keys: Pick<SigningKeys, 'signingSet'>
  readonly policies: { of(tenantId: string): Promise<Policies> }
  readonly users: Pick<
    Users,
    'get' | 'find' | 'byLogin' | 'authenticate' | 'choosePassword' | 'proveEmail' | 'patch'
  >
  readonly tickets: Tickets
  readonly accountMail: AccountMail
  readonly signInMail: SignInMail
  readonly signUpMail: SignUpMail
  readonly passwords: Pick<PasswordHasher, 'hash'>
  readonly passwordRules: PasswordRules
  readonly behindAnswer: BehindAnswer
  readonly attempts: Attempts
  readonly factors: Factors
  /** Browsers that have signed in to an account before. */
  readonly devices: Devices
  /** Machines with our agent. */
  readonly enrolledDevices: Pick<EnrolledDevices, 'claim' | 'ofPerson' | 'removeOwn'>
  readonly deviceProofs: Pick<DeviceProofs, 'begin' | 'find' | 'take' | 'burn'>
  readonly deviceTypedCodes: Pick<DeviceTypedCodes, 'take'>
  /** Services with a secret of their own. */
  readonly machines: Pick<Machines, 'keysOf' | 'shown' | 'proven' | 'isFirstUse' | 'tokenGiven'>
  /** Applications beside the tenant's own. */
  readonly realmClients: Pick<RealmClients, 'find' | 'isSecret'>
  /** Told of those who came with a wrong one. */
  readonly enforcement: Pick<Enforcement, 'receive'>
  /** The company's own identity providers. */
  readonly connections: Pick<
    Connections,
    'active' | 'withSecret' | 'noteTested' | 'keepOrganization'
  >
  readonly connectionProtocol: ConnectionProtocols
  readonly backChannel: Pick<BackChannel, 'take'>
  readonly samlProtocol: Pick<SamlProtocol, 'receive' | 'metadataOf'>
  readonly connectionTickets: Pick<TestTickets, 'actorOf'>
  readonly sessions: Pick<Sessions, 'record' | 'find' | 'aliveOf' | 'listAliveOf'>
  readonly revocations: Pick<Revocations, 'end' | 'endEach'>
  /** `https://id.example.com`: what a realm's addresses are made of, whatever a Host header says. */
  readonly baseUrl: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}
