/** The control plane on a real database in a temporary folder, with a clock that can be moved. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino, type Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import type { AcmeWorld } from '../../control-plane/acme/acme.ts'
import type { AcmeSettings } from '../../control-plane/acme/authorities.ts'
import type { Tracing } from '../../control-plane/tracing/tracing.ts'
import type { OwnFile } from '../../control-plane/tenants/certificates.ts'
import type { ProofWorld } from '../../control-plane/hostnames/proof.ts'
import type { AiSettings } from '../../control-plane/analysis/provider.ts'
import type { ProviderWorld } from '../../control-plane/analysis/provider-client.ts'
import type { Engine } from '../../control-plane/store/engine.ts'
import type { MailTransport } from '../../control-plane/mail/mails.ts'
import { createStrength, type Strength } from '../../control-plane/accounts/passwords/strength.ts'
import type { MasterKeys } from '../../control-plane/keys/master-key.ts'
import type { RsaKey } from '../../control-plane/keys/rsa-keys.ts'
import { createServices } from '../../control-plane/services/services.ts'
import type { ServicesWorld } from '../../control-plane/services/world.ts'
import type { NewTenant } from '../../control-plane/tenants/tenants.ts'
import type { ReceiverWorld } from '../../control-plane/webhooks/receiver-client.ts'
import { existsDatabase, newDatabase, openDatabase } from './databases.ts'
import { tenantKey } from './keys-of-the-run.ts'
import { afterRoom } from './room.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'
import { clockOf } from './clocks.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export const FLEET_KEY = 'fleet-key-of-the-tests'
export const ACTOR = { name: 'operator', requestId: 'test' }

export interface MovableClock extends Clock {
  advance(ms: number): void
}

export function movableClock(startMs = Date.parse('2026-01-01T00:00:00.500Z')): MovableClock {
  let nowMs = startMs
  return { ...clockOf(() => nowMs), advance: (ms) => void (nowMs += ms) }
}

export function temporaryFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'control-plane-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface ServicesOptions extends Partial<MasterKeys> {
  readonly file?: string
  /** Of a database that others use, too. */
  readonly engine?: Engine
  readonly clock?: Clock
  readonly baseUrl?: string
  readonly edgeUrlFor?: (hostname: string) => string
  readonly trustedProxies?: readonly string[]
  /** Where mails end; nowhere, if nobody looks. */
  readonly mailTransport?: MailTransport
  /** Where the databases of tenants may be; all of ours are on this machine. */
  readonly directoryAddresses?: readonly string[]
  /** How webhooks are reached; every name is one of a public address, where nobody listens. */
  readonly receivers?: ReceiverWorld
  /** Who writes guides; nobody, if nothing is said. */
  readonly ai?: AiSettings
  readonly aiWorld?: ProviderWorld
  /** Who certificates are ordered from; nobody, if nothing is said. */
  readonly acme?: AcmeSettings
  readonly acmeWorld?: AcmeWorld
  readonly ownHostnames?: readonly string[]
  readonly ownCertificateFile?: OwnFile
  /** Where hostnames are looked for proofs; nobody is asked, if nothing is said. */
  readonly proofs?: Partial<ProofWorld>
  readonly log?: Logger
  readonly tracing?: Tracing
  readonly enforceMsMax?: number
  /** Where runtimes for devices lie; nowhere, if nothing is said. */
  readonly dataDir?: string
}

/** The least that argon2 takes: what is hashed here is no secret. */
const CHEAP = { memoryKib: 8, passes: 1, lanes: 1 } as const

const signingKeys: Promise<RsaKey>[] = []
/** How many of them a database has, by its file. */
const keysOf = new Map<string, { count: number }>()

/** Whatever a file has that was filled elsewhere, or copied, is among those before. */
const FIRST_OF_COPIES = 1000

type Secrets = Pick<ServicesWorld, 'passwordCost' | 'generateKey' | 'strength'>

let shared: Strength | undefined

/** How long an estimate takes is no subject of any file that shares it. */
export const WITHOUT_HASTE = { timeoutMs: 300_000, waitMsMax: 300_000 }

/** Its dictionaries take as long to read as thirty services to start: the files of a room share it. */
function strengthOfRoom(): Strength | undefined {
  if (shared === undefined && afterRoom(async () => shared?.close()))
    shared = rememberingScores(createStrength(WITHOUT_HASTE))
  return shared
}

/** The people of the tests choose the same passwords in each of them. */
function rememberingScores(strength: Strength): Strength {
  const scores = new Map<string, number>()
  return {
    ...strength,
    async of(plain, words, askedFor) {
      const question = JSON.stringify([plain, words])
      const score = scores.get(question) ?? (await strength.of(plain, words, askedFor))
      scores.set(question, score)
      return score
    },
  }
}

/** For services whose secrets are none. One has no key twice, but the next in this process the same. */
export function cheapSecrets(file?: string): Secrets {
  const first = file !== undefined && existsDatabase(file) ? FIRST_OF_COPIES : 0
  const own = keysOf.get(file ?? '') ?? { count: first }
  if (file !== undefined) keysOf.set(file, own)
  const generateKey = () => {
    const index = own.count++
    return (signingKeys[index] ??= tenantKey(index))
  }
  const strength = strengthOfRoom()
  return { passwordCost: CHEAP, generateKey, ...(strength && { strength }) }
}

/** 192.0.2.0/24 is for documentation: no packet goes there, since it is refused on the socket. */
const NOBODY: ReceiverWorld = {
  allowPrivate: ['192.0.2.0/24'],
  egressProxy: null,
  resolve: () => Promise.resolve(['192.0.2.1']),
  timeoutMs: 1,
}

export async function startServices(t: Teardown, options: ServicesOptions = {}) {
  const secrets = cheapSecrets(options.file)
  const open = async () =>
    openDatabase(options.file ?? (await newDatabase(join(temporaryFolder(t), 'service.db'))))
  const services = await createServices({
    engine: options.engine ?? (await open()),
    masterKey: options.masterKey ?? randomBytes(32),
    previousMasterKey: options.previousMasterKey,
    nextMasterKey: options.nextMasterKey,
    fleetKey: createLiveKey(FLEET_KEY),
    baseUrl: options.baseUrl ?? 'http://localhost:8080',
    edgeUrlFor: options.edgeUrlFor ?? ((hostname) => `http://${hostname}:8000`),
    trustedProxies: options.trustedProxies ?? [],
    mailTransport: options.mailTransport ?? { send: async () => {}, close: () => undefined },
    directoryAddresses: options.directoryAddresses ?? ['127.0.0.0/8'],
    receivers: options.receivers ?? NOBODY,
    ai: options.ai ?? null,
    ...(options.dataDir !== undefined && { dataDir: options.dataDir }),
    ...(options.enforceMsMax !== undefined && { enforceMsMax: options.enforceMsMax }),
    acme: options.acme ?? null,
    ownHostnames: options.ownHostnames ?? [],
    ownCertificateFile: options.ownCertificateFile,
    ...(options.acmeWorld && { acmeWorld: options.acmeWorld }),
    proofs: options.proofs ?? { resolveTxt: async () => [], timeoutMs: 1 },
    ...(options.aiWorld && { aiWorld: options.aiWorld }),
    ...secrets,
    clock: options.clock ?? movableClock(),
    log: options.log ?? pino({ level: 'silent' }),
    ...(options.tracing && { tracing: options.tracing }),
  })
  t.teardown(() => services.close())
  return services
}

export function tenantNamed(tenantId: string, changes: Partial<NewTenant> = {}): NewTenant {
  return {
    tenantId,
    name: tenantId,
    mode: 'gateway',
    plan: 'free',
    hostnames: [`${tenantId}.localhost`],
    origin: 'http://127.0.0.1:9000',
    sealed: [],
    excluded: [],
    health: '/health',
    maxSessionSeconds: 28_800,
    idleSeconds: 900,
    sessionBinding: 'off',
    ...changes,
  }
}
