/** What everything stands on: the store, what is sealed in it, and the tenants with their keys. */
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createPolicyReplay } from '../accounts/policy-replay.ts'
import { openAccountKey } from '../acme/account-key.ts'
import { createAcme } from '../acme/acme.ts'
import { recordsOf } from '../acme/ways.ts'
import { createAuditTrail } from '../accounts/audit-trail.ts'
import { createRechecks } from '../hostnames/rechecks.ts'
import { createHostnames } from '../hostnames/hostnames.ts'
import { createProofs } from '../hostnames/proof.ts'
import { openVault } from '../keys/master-key.ts'
import { createResealing } from '../keys/resealing.ts'
import { createSigningKeys } from '../keys/signing-keys.ts'
import { resolveWithin } from '../outbound/checked-connect.ts'
import { createMachines } from '../machines/machines.ts'
import { createReceiverAddresses } from '../outbound/public-address.ts'
import { createRevocations } from '../sessions/revocations.ts'
import { createSessions } from '../sessions/sessions.ts'
import { openStore } from '../store/store.ts'
import { createAccessReview } from '../tenants/access-review.ts'
import { createAccessRules } from '../tenants/access-rules.ts'
import { createCertificates } from '../tenants/certificates.ts'
import { createGroups } from '../tenants/groups.ts'
import { createPersonAttributes } from '../tenants/person-attributes.ts'
import { isOrderable } from '../tenants/ordered-hostnames.ts'
import { createPolicies } from '../tenants/policies.ts'
import { createProtectionStatements } from '../tenants/protection-statements.ts'
import { createTenants } from '../tenants/tenants.ts'
import type { Jobs } from './jobs.ts'
import { createLeases } from './leases.ts'
import type { ServicesWorld } from './world.ts'

export type TenantServices = Awaited<ReturnType<typeof openTenants>>

const HOSTNAMES_EVERY_MS = 10 * SECOND_MS

export async function openTenants(world: ServicesWorld, jobs: Jobs) {
  const { engine, baseUrl, edgeUrlFor, clock, tracing } = world
  const store = await openStore(engine, clock, tracing)
  const vault = await openVault(store, world)
  const leases = createLeases({ store, clock, ...(tracing && { tracing }) })
  if (world.previousMasterKey !== undefined)
    jobs.follows(
      leases.alone('resealing', createResealing({ store, vault, log: world.log })),
      'sealing with the new master key is not finished, trying again later',
    )
  const keys = createSigningKeys({ store, vault, clock, generate: world.generateKey })
  const tenants = createTenants({ store, vault, keys, clock, edgeUrlFor })
  jobs.tidies('licences', (limit) => tenants.advanceLicences(limit))
  jobs.tidies('removedTenants', (limit) => tenants.sweepLeftBehind(limit))
  jobs.tidies('secretOverlaps', (limit) => tenants.endSecretOverlaps(limit))
  const { allowPrivate = [], egressProxy = null, resolve } = world.receivers ?? {}
  const account = world.acme ? await openAccountKey(store, vault) : undefined
  const zone = world.acme?.dns ?? undefined
  const wildcards = (world.acme?.wildcards ?? []).map((name) => `*.${name}`)
  const ownNames = [...(world.ownHostnames ?? []), ...wildcards]
  const certificates = createCertificates({
    store,
    vault,
    isOrdering: account !== undefined,
    ownNames,
    ownFile: world.ownCertificateFile,
    dnsRecords: (owner, hostname) =>
      zone && account && isOrderable(hostname)
        ? recordsOf(zone, account.thumbprint, owner, hostname)
        : [],
  })
  const acme =
    world.acme &&
    account &&
    createAcme({
      addresses: createReceiverAddresses({
        allowPrivate,
        resolve: resolve ?? resolveWithin(LIMITS.acmePreflightMsMax),
      }),
      ...world.acmeWorld,
      settings: world.acme,
      ownNames,
      account,
      alone: (work) => leases.alone('acme', work),
      store,
      vault,
      certificates,
      clock,
      log: world.log,
      tracing,
    })
  if (acme) jobs.tidied('acme', acme)
  const proofs = createProofs({ allowPrivate, egressProxy, resolve, ...world.proofs })
  const { look, record } = proofs
  const hostnames = createHostnames({ store, tenants, look, clock, log: world.log })
  jobs.tidied('hostnames', hostnames)
  const lookAlone = leases.alone('hostnames', hostnames.lookAtDue)
  jobs.follows(
    async (isClosed) => {
      if (await hostnames.isDue()) await lookAlone(isClosed)
    },
    'hostnames could not be checked, trying again later',
    HOSTNAMES_EVERY_MS,
  )
  const rechecks = createRechecks({ store, tenants, record, clock, log: world.log })
  const recheckAlone = leases.alone('hostnameRechecks', rechecks.lookAtDue)
  jobs.follows(
    async (isClosed) => {
      if (await rechecks.isDue()) await recheckAlone(isClosed)
    },
    'hostnames could not be looked at again, trying again later',
    HOSTNAMES_EVERY_MS,
  )
  const policies = createPolicies({ store, clock })
  const machines = jobs.tidied('machines', createMachines({ store, clock }))
  jobs.tidies('serviceIdentities', (limit) => machines.renewIdentities(limit))
  jobs.tidies('serviceAssertions', (limit) => machines.pruneAssertions(limit))
  jobs.tidies('serviceSecretEnds', (limit) => machines.noteEnded(limit))
  const accessRules = createAccessRules({ store })
  const accessReview = jobs.tidied(
    'accessReview',
    createAccessReview({ store, accessRules, clock }),
  )
  jobs.tidies('pastAttributes', (limit) => accessReview.pruneAttributes(limit))
  const revocations = jobs.tidied('revocations', createRevocations({ store }))
  const failure = 'ending all sessions of a tenant is not finished, trying again later'
  jobs.follows(jobs.timed('endings', revocations.finishEndings), failure)
  return {
    store,
    leases,
    vault,
    keys,
    tenants,
    policies,
    accessRules,
    accessReview,
    groups: createGroups({ store }),
    personAttributes: createPersonAttributes({ store }),
    machines,
    certificates,
    acme,
    hostnames,
    rechecks,
    proofs,
    protectionStatements: createProtectionStatements({ tenants, keys, clock, baseUrl }),
    replayPolicy: createPolicyReplay({ store, policies, clock }),
    sessions: jobs.tidied('sessions', createSessions({ store, clock })),
    revocations,
    auditTrail: jobs.tidied('auditTrail', createAuditTrail({ store })),
  }
}
