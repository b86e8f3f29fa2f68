/** The users that a list shows, all of them, as a file: read and sent a few hundred at a time. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { User } from '../../../accounts/users.ts'
import { csvLine } from '../../../requests/csv.ts'
import { csvFile } from '../../csv-file.ts'
import { page, type ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { USERS } from './paths.ts'
import { USER_FILTERS, wishOf } from './user-list.ts'

const COLUMNS = [
  'user_id',
  'username',
  'email',
  'name',
  'status',
  'source',
  'second_factor',
  'locked_until',
  'last_sign_in_at',
  'created_at',
]

const iso = (ms: number | undefined) =>
  ms === undefined || ms === 0 ? '' : new Date(ms).toISOString()

export function exportRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { users, factors, attempts, policies } = world

  async function* linesOf(
    tenantId: string,
    filters: Parameters<typeof wishOf>[2],
  ): AsyncGenerator<string, void> {
    yield csvLine(COLUMNS)
    const { filter, order } = await wishOf(world, tenantId, filters)
    const decided = await policies.of(tenantId)
    let cursor: string | undefined
    do {
      const request = { limit: LIMITS.usersExportedAtOnceMax, cursor }
      const { items, next } = await users.list(tenantId, request, filter, order)
      const ids = items.map(({ userId }) => userId)
      const withFactor = await factors.amongThem(tenantId, ids)
      const paused = await attempts.pausesOf(tenantId, decided, ids)
      yield items
        .map((user) => {
          const { userId, isFactorRequired } = user
          const factor = withFactor.has(userId) ? 'set_up' : isFactorRequired ? 'required' : 'none'
          return lineOf(user, factor, paused.get(userId))
        })
        .join('')
      cursor = next ?? undefined
    } while (cursor !== undefined)
  }

  return [
    page(
      { path: `${USERS}/export`, role: 'tenant', query: USER_FILTERS },
      async ({ tenant: { tenantId }, query, actor }) => {
        await world.auditTrail.exported(actor, 'users', query, tenantId)
        return csvFile(`users-${tenantId}.csv`, linesOf(tenantId, query))
      },
    ),
  ]
}

function lineOf(user: User, factor: string, lockedUntilMs: number | undefined): string {
  const { userId, username, email, name, isDisabled, source, passwordHash } = user
  const isInvited = source === 'own' && passwordHash === ''
  return csvLine([
    userId,
    username,
    email,
    name,
    isDisabled ? 'disabled' : isInvited ? 'invited' : 'active',
    source === 'own' ? 'local' : source,
    factor,
    iso(lockedUntilMs),
    iso(user.lastSignInAt),
    iso(user.createdAt),
  ])
}
