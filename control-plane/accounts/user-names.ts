/** What people are called, for lists that know them by their ids. */
import { namesOfUsers } from '../store/queries/user-names.ts'
import type { Store } from '../store/store.ts'

export function createUserNames({ store }: { readonly store: Pick<Store, 'read'> }) {
  return {
    /** Nobody of another tenant, whatever ids are asked for. */
    ofTenant: (tenantId: string, userIds: readonly (string | null)[]) =>
      namesOfUsers(store.read, tenantId, userIds),
    /** For operators. */
    ofAll: (userIds: readonly (string | null)[]) => namesOfUsers(store.read, undefined, userIds),
  }
}
