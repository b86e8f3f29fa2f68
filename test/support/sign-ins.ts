/** Sign-ins as the realm would record them, without a realm: for what is told of them later. */
import type { OwnFacts } from '../../control-plane/accounts/attempts.ts'
import type { SignInState } from '../../control-plane/policy/sign-in.ts'
import { countedAs } from '../../shared/client-address.ts'
import type { Services } from '../../control-plane/services/services.ts'

type World = Pick<Services, 'store' | 'attempts' | 'policies' | 'clock'>

export interface Tried {
  readonly ip?: string
  readonly userAgent?: string
  /** What was typed; without it the person is of a tenant's own database. */
  readonly login?: string
  readonly facts?: Partial<OwnFacts>
}

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** The right password, and nothing that speaks against it. */
export async function signIns(
  { store, attempts, policies, clock }: World,
  { tenantId, userId }: { tenantId: string; userId: string },
  count: number,
  { ip = '192.0.2.1', userAgent = FIREFOX, login, facts = {} }: Tried = {},
): Promise<SignInState[]> {
  const states: SignInState[] = []
  for (let made = 0; made < count; made++) {
    const known: OwnFacts = {
      at: Math.floor(clock.nowMs() / 1000),
      address: ip,
      password: 'right',
      passwordChangedAt: null,
      device: { isKnown: true, isNetworkKnown: true },
      factors: [],
      proof: 'none',
      isStepUp: false,
      sessions: 0,
      ...facts,
    }
    const loginHash = attempts.loginHash(tenantId, login === undefined ? { userId } : { login })
    const attempt = { tenantId, userId, loginHash, ip, countedAs: countedAs(ip), userAgent }
    const decided = await policies.of(tenantId)
    states.push(await store.change((change) => attempts.settle(change, attempt, known, decided)))
  }
  return states
}

/** With a wrong password. */
export const failSignIns = (
  world: World,
  who: { tenantId: string; userId: string },
  count: number,
  tried: Tried = {},
): Promise<SignInState[]> =>
  signIns(world, who, count, { ...tried, facts: { password: 'wrong', ...tried.facts } })
