/** Whether people make an account themselves, and with which address; asked again wherever it counts. */
import { domainOfAddress, readDomain } from '../../connections/email-domain.ts'
import { isSignUpOpen } from '../../policy/password.ts'
import type { Policies } from '../../policy/policies.ts'
import type { Queries } from '../../store/engine.ts'
import { connectionOfDomain } from '../../store/queries/connection-domains.ts'
import { findUserDirectory } from '../../store/queries/user-directories.ts'
import { CONSOLE_REALM } from '../../store/reserved.ts'
import { policiesIn } from '../../tenants/policies.ts'

/** undefined: they do not. Where a tenant's own database says who its people are, nobody else does. */
export async function signUpIn(
  queries: Queries,
  tenantId: string,
): Promise<Policies['password'] | undefined> {
  if (tenantId === CONSOLE_REALM) return undefined
  const policies = await policiesIn(queries, tenantId)
  if (!isSignUpOpen(policies)) return undefined
  const directory = await findUserDirectory(queries, tenantId)
  return directory === undefined ? policies.password : undefined
}

/** By its domain alone, which tells nothing of who has an account. */
export function isDomainAllowed(
  { sign_up_domains: allowed }: Pick<Policies['password'], 'sign_up_domains'>,
  email: string,
): boolean {
  const domain = domainOfAddress(email)
  if (allowed.length === 0) return domain !== undefined
  return allowed.some((one) => readDomain(one) === domain)
}

/** Its people come in by that connection, or while it rests not at all: their passwords would outlive the rest. */
export async function isDomainConnected(queries: Queries, tenantId: string, email: string) {
  const domain = domainOfAddress(email)
  return domain !== undefined && (await connectionOfDomain(queries, tenantId, domain)) !== undefined
}

export async function mayHaveAccount(
  queries: Queries,
  tenantId: string,
  { email, emailKey }: { readonly email: string; readonly emailKey: string },
): Promise<boolean> {
  const open = await signUpIn(queries, tenantId)
  if (open === undefined || !isDomainAllowed(open, email)) return false
  return !(await isDomainConnected(queries, tenantId, emailKey))
}
