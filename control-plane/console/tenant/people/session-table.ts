/** Running sessions as a list: who, on what, from where, since when. */
import { html } from 'hono/html'
import { SECOND_MS } from '../../../../shared/clock.ts'
import { browserName } from '../../../accounts/browser-name.ts'
import type { Session } from '../../../sessions/sessions.ts'
import type { User, Users } from '../../../accounts/users.ts'
import { table, type Column } from '../../blocks/table.ts'
import { badge, moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { fromAddress, sessionPath, userPath } from './paths.ts'

interface SessionTableView {
  readonly tenantId: string
  readonly sessions: readonly Session[]
  /** By id; undefined where all are one person's. */
  readonly people?: ReadonlyMap<string, User>
  /** How long one may be idle, and last in all. */
  readonly lifetime: Lifetime
  readonly empty: Html
}

interface Lifetime {
  readonly idle_seconds: number
  readonly max_session_seconds: number
  readonly nowMs: number
}

/** The next request of one that is over is sent to sign in. */
function stateOf(
  { createdAt, lastSeenAt }: Session,
  { idle_seconds: idle, max_session_seconds: most, nowMs }: Lifetime,
) {
  if (nowMs - createdAt >= most * SECOND_MS) return badge('Expired')
  return nowMs - lastSeenAt > idle * SECOND_MS ? badge('Idle: timed out') : badge('Active', 'good')
}

export function sessionTable({
  tenantId,
  sessions,
  people,
  lifetime,
  empty,
}: SessionTableView): Html {
  const from = people === undefined ? '?from=user' : ''
  const who: Column<Session> = {
    label: 'User',
    isName: true,
    cell: ({ userId }) =>
      html`<a href="${userPath(tenantId, userId)}">${people?.get(userId)?.name ?? userId}</a>
        <span class="hint">${people?.get(userId)?.email ?? ''}</span>`,
  }
  return table({
    caption: 'Sessions',
    rows: sessions,
    columns: [
      ...(people === undefined ? [] : [who]),
      { label: 'Browser', isName: people === undefined, cell: (session) => browserOf(session) },
      { label: 'Status', cell: (session) => stateOf(session, lifetime) },
      { label: 'IP address', cell: ({ ip }) => fromAddress(tenantId, ip) },
      { label: 'Signed in', cell: ({ createdAt }) => moment(createdAt) },
      { label: 'Last seen', cell: ({ lastSeenAt }) => moment(lastSeenAt) },
      {
        label: 'Actions',
        isUnseen: true,
        cell: (session) =>
          html`<a class="button small" href="${sessionPath(tenantId, session.sid)}/end${from}">End<span class="unseen">
            the session on ${browserOf(session)} from ${session.ip}</span></a>`,
      },
    ],
    empty,
  })
}

export const browserOf = ({ userAgent }: { readonly userAgent: string }) =>
  browserName(userAgent) || 'Unknown browser'

/** Those of them who are still there, by id. */
export async function peopleOf(
  users: Pick<Users, 'find'>,
  tenantId: string,
  userIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, User>> {
  const ids = [...new Set(userIds)].filter((userId) => userId !== null)
  const found = await Promise.all(ids.map((userId) => users.find(tenantId, userId)))
  return new Map(found.flatMap((user) => (user === undefined ? [] : [[user.userId, user]])))
}
