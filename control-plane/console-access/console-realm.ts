/**
 * The realm `console`: where operators and administrators have their accounts. It is a realm like
 * any other, with its own rules, keys and sessions; but no tenant: nobody lists it, no gateway
 * serves it, and the API has no such tenant. It exists from the first start on.
 */
import { DEFAULT_POLICIES } from '../policy/policies.ts'
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { upsertPolicy } from '../store/queries/policies.ts'
import { findTenant, insertTenant, updateTenant } from '../store/queries/tenants.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Change } from '../store/store.ts'
import { newAnalyzerKey, newClientSecret } from '../tenants/secrets.ts'
import type { ConsoleAccessWorld } from './world.ts'

/** Whoever runs a fleet has more to lose than somebody who uses one application. */
const POLICIES = {
  password: { ...DEFAULT_POLICIES.password, min_length: 12, min_strength: 3 },
  mfa: { ...DEFAULT_POLICIES.mfa, mode: 'required' },
} as const

/** To be called at every start, before anybody is answered. */
export async function ensureConsoleRealm(world: ConsoleAccessWorld): Promise<void> {
  const { store, keys, baseUrl } = world
  const known = await findTenant(store.read, CONSOLE_REALM)
  if (known?.origin === baseUrl) return
  const candidate = await keys.generate()
  await store.change(async (change) => {
    const { queries } = change
    // another control plane, or an address of ours that has changed
    if ((await findTenant(queries, CONSOLE_REALM)) !== undefined)
      return updateTenant(queries, CONSOLE_REALM, { origin: baseUrl })
    await insertRealm(change, world)
    await keys.ensureCurrent(change, CONSOLE_REALM, candidate)
  })
}

async function insertRealm({ queries, nowMs }: Change, { vault, baseUrl }: ConsoleAccessWorld) {
  const clientSecret = newClientSecret(vault, CONSOLE_REALM)
  const analyzerKey = newAnalyzerKey(vault, CONSOLE_REALM)
  await insertTenant(queries, {
    tenantId: CONSOLE_REALM,
    name: 'Console',
    mode: 'sdk', // no edge: the console enforces by itself
    plan: 'premium',
    status: 'published',
    protection: 'on',
    licence: 'active',
    licenceBlocksSignin: false,
    origin: baseUrl,
    sealed: [],
    excluded: [],
    health: '/health/ready',
    maxSessionSeconds: LIMITS.consoleSessionMs / SECOND_MS,
    idleSeconds: LIMITS.consoleIdleMs / SECOND_MS,
    sessionBinding: 'off',
    clientSecretSealed: clientSecret.sealed,
    clientSecretHash: clientSecret.hash,
    analyzerKeySealed: analyzerKey.sealed,
    analyzerKeyHash: analyzerKey.hash,
    revision: 0, // of the fleet, which never hears of it
    createdAt: nowMs,
    updatedAt: nowMs,
    publishedAt: nowMs,
    protectionAt: nowMs,
  })
  for (const name of ['password', 'mfa'] as const)
    await upsertPolicy(queries, {
      tenantId: CONSOLE_REALM,
      name,
      settings: { ...POLICIES[name] },
      updatedAt: nowMs,
    })
}
