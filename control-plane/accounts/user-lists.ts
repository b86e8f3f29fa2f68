/** Users as lists: paged by an index, filtered, and found by any part of what they are called. */
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  TIME_OF,
  usersListed,
  usersOfAll,
  type UserFilter,
  type UserOrder,
} from '../store/queries/user-lists.ts'
import type { UserRow } from '../store/queries/users.ts'
import type { Store } from '../store/store.ts'
import { fold } from './login-keys.ts'

export type { UserFilter, UserOrder }

type User = Readonly<UserRow>

export function createUserLists(store: Pick<Store, 'read'>) {
  return {
    async list(
      tenantId: string,
      page: PageRequest,
      filter: UserFilter = {},
      order: UserOrder = 'username',
    ): Promise<Page<User>> {
      const isByName = order === 'username'
      const [name] = (isByName && decodeCursor(page.cursor, 'string')) || []
      const [at, userId] = (!isByName && decodeCursor(page.cursor, 'number', 'string')) || []
      const behind = name ?? (at !== undefined && userId !== undefined ? { at, userId } : undefined)
      const rows = await usersListed(store.read, tenantId, {
        filter: { ...filter, text: fold(filter.text ?? '') },
        order,
        behind,
        limit: page.limit + 1,
      })
      return toPage(rows, page.limit, (user) =>
        isByName ? [user.usernameKey] : [user[TIME_OF[order]], user.userId],
      )
    },

    /** By any part of a name, a username, an address or an id; for people who look for somebody. */
    search: (tenantId: string, text: string, limit: number): Promise<User[]> =>
      usersListed(store.read, tenantId, {
        filter: { text: fold(text) },
        order: 'username',
        behind: undefined,
        limit,
      }),

    /** The same in all tenants; for who runs the service. */
    searchAll: (text: string, limit: number): Promise<User[]> =>
      usersOfAll(store.read, fold(text), limit),
  }
}
