/** For which hostnames certificates are ordered. */
import { endsInNumber, isThisMachine } from '../../shared/hosts.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { isServed } from './snapshot.ts'

/** Where what somebody has uploaded counts more, nothing is ordered. */
export function orderedHostnames(
  tenant: Pick<Tenant, 'mode' | 'status' | 'hostnames'>,
  uploaded: ReadonlySet<string>,
): string[] {
  if (!isServed(tenant)) return []
  return tenant.hostnames.filter((hostname) => isOrderable(hostname) && !uploaded.has(hostname))
}

/** Of any other no authority can know whose it is. */
export const isOrderable = (hostname: string): boolean =>
  hostname.includes('.') && !isThisMachine(hostname) && !endsInNumber(hostname)
