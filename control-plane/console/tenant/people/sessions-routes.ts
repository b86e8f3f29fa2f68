/** Who is signed in right now: found by person or address; one, somebody's or all of them ended. */
import { isIP } from 'node:net'
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { AliveFilter, Session } from '../../../sessions/sessions.ts'
import type { User } from '../../../accounts/users.ts'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import { textField } from '../../../pages/blocks/field.ts'
import { asking } from '../../asking.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { emptyState, pager } from '../../blocks/table.ts'
import { moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { tenantPath } from '../../navigation.ts'
import { done, page, type ApiCall, type ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, SESSIONS, userPath } from './paths.ts'
import { networkOf } from './network.ts'
import { machineTable, matchingMachines } from './machine-table.ts'
import { browserOf, sessionTable, peopleOf } from './session-table.ts'
import { searched } from '../../filters.ts'

type SessionsWorld = Pick<
  ConsoleWorld,
  'users' | 'sessions' | 'machines' | 'revocations' | 'policies' | 'clock'
>

/** Where the way leads back to. */
const FROM = v.optional(v.picklist(['user', 'sessions'], 'one of user, sessions'), 'sessions')
const EndBody = v.strictObject({ from: FROM })

export function sessionsRoutes(world: SessionsWorld): readonly ConsoleRoute[] {
  const { users, sessions, machines, revocations, policies, clock } = world

  /** What is looked for: an address, or whoever's name begins so. */
  async function filterOf(tenantId: string, text: string) {
    if (text === '') return { filter: { kind: 'all' } as const, matched: [] }
    const network = networkOf(text)
    if (network !== undefined) return { filter: { kind: 'network', network } as const, matched: [] }
    if (isIP(text) !== 0)
      return { filter: { kind: 'address', ip: spelled(text) } as const, matched: [] }
    const matched = await users.search(tenantId, text, LIMITS.peopleMatchedMax + 1)
    const userIds = matched.slice(0, LIMITS.peopleMatchedMax).map(({ userId }) => userId)
    return { filter: { kind: 'people', userIds } as const, matched }
  }

  /** One that is still running; another is nothing to ask about. */
  async function running(tenantId: string, sid: string): Promise<Session | undefined> {
    const session = await sessions.find(tenantId, sid)
    if (session === undefined) throw new Refusal('session_not_found')
    const isOver = session.endedAt !== null || session.expiresAt <= clock.nowMs()
    return isOver ? undefined : session
  }

  return [
    page(
      { path: SESSIONS, role: 'tenant', query: { ...PAGE_QUERY, q: searched } },
      async (visit) => {
        const { query, address, nowMs } = visit
        const { tenantId, name } = visit.tenant
        const { limit, cursor, q: text } = query
        const { filter, matched } = await filterOf(tenantId, text)
        const { items, next, isCut } = await sessions.listAlive(tenantId, filter, { limit, cursor })
        // on the first page: they are few, and a list of their own
        const seen = cursor === undefined ? await machines.list(tenantId) : []
        const path = tenantPath(tenantId, 'sessions')
        return {
          title: 'Sessions',
          here: 'sessions',
          intro: `Who is signed in to ${name} right now.`,
          buttons: [linkButton(`${path}/end-all`, 'End all sessions', 'quiet')],
          content: html`${searchForm(path, text)} ${matchedHint(tenantId, matched)}
          ${filter.kind === 'address' ? eventsHint(tenantId, filter.ip) : ''}
          ${isCut ? stillMore(items.length) : ''}
          ${
            isCut && items.length === 0
              ? ''
              : sessionTable({
                  tenantId,
                  lifetime: { ...(await policies.of(tenantId)).session, nowMs },
                  sessions: items,
                  people: await peopleOf(
                    users,
                    tenantId,
                    items.map(({ userId }) => userId),
                  ),
                  empty: nothing(path, text),
                })
          }
          ${pager(address, { next, isFirst: cursor === undefined })}
          ${machineTable(visit, matchingMachines(seen, text))}`,
          calls: callsOf(tenantId, filter),
        }
      },
    ),
    ...asking(
      { path: `${SESSIONS}/end-all`, role: 'tenant', needsFreshSignIn: true, here: 'sessions' },
      async (visit) => {
        const { tenantId, name } = visit.tenant
        const count = await sessions.countAlive(tenantId)
        return {
          title: `End all sessions of ${name}?`,
          effects: [
            `${endingText(count)} Other tenants are not affected.`,
            'Everyone has to sign in again on their next request. Unsaved work may be lost.',
            'Accounts, passwords and second factors are not affected.',
          ],
          submit: 'End all sessions',
          cancel: tenantPath(tenantId, 'sessions'),
          calls: [{ method: 'POST', path: `${apiOf(tenantId)}/revocations`, body: { all: true } }],
        }
      },
      async ({ tenant: { tenantId }, actor }) => {
        const result = await revocations.revoke(tenantId, { all: true }, actor)
        return done(tenantPath(tenantId, 'sessions'), endedText(result.sessions), result)
      },
    ),
    ...asking(
      {
        path: `${SESSIONS}/{sid}/end`,
        role: 'tenant',
        query: { from: FROM },
        form: { from: 'optional' },
        body: EndBody,
        here: 'sessions',
      },
      async (visit) => {
        const { tenantId } = visit.tenant
        const session = await running(tenantId, visit.path.sid)
        if (session === undefined) return overAlready(tenantId)
        const user = await users.find(tenantId, session.userId)
        const name = user?.name ?? session.userId
        return {
          title: `End this session of ${name}?`,
          effects: [
            html`${browserOf(session)} from ${session.ip}, signed in ${moment(session.createdAt)},
              last seen ${moment(session.lastSeenAt)}.`,
            `${name} is signed out there immediately, on every gateway, and can sign in again.`,
            "This person's other sessions continue.",
          ],
          submit: 'End this session',
          cancel: backTo(tenantId, session, visit.query.from),
          hidden: { from: visit.query.from },
          calls: [
            {
              method: 'POST',
              path: `${apiOf(tenantId)}/revocations`,
              body: { sid: session.sid },
            },
          ],
        }
      },
      async ({ tenant: { tenantId }, path, actor }, { from }) => {
        const session = await running(tenantId, path.sid)
        if (session === undefined) return overAlready(tenantId)
        const result = await revocations.revoke(tenantId, { sid: session.sid }, actor)
        return done(backTo(tenantId, session, from), 'Session ended.', result)
      },
    ),
  ]
}

/** As sessions keep it. */
const spelled = (ip: string) =>
  isIP(ip) === 6 ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip

const overAlready = (tenantId: string) =>
  done(tenantPath(tenantId, 'sessions'), 'This session has already ended.')

const backTo = (tenantId: string, { userId }: Session, from: 'user' | 'sessions') =>
  from === 'user' ? userPath(tenantId, userId) : tenantPath(tenantId, 'sessions')

/** «3 sessions end»; whoever has very many of them is not made to wait for the count. */
export function endingText(count: number): string {
  if (count === 0) return 'There are no active sessions to end.'
  const some =
    count >= LIMITS.sessionsCountedMax
      ? `More than ${count - 1} active sessions end`
      : count === 1
        ? '1 active session ends'
        : `${count} active sessions end`
  return `${some} immediately, on every gateway.`
}

export const endedText = (count: number) =>
  count === 1 ? '1 session ended.' : `${count === 0 ? 'No' : count} sessions ended.`

function searchForm(path: string, text: string) {
  return html`<form method="get" action="${path}" class="filters" role="search">
    ${textField({ name: 'q', label: 'Person, IP address or network', type: 'search', value: text, placeholder: 'ada@…, 192.0.2.7 or 192.0.2.0/24', isFree: true, charactersMax: LIMITS.consoleSearchCharactersMax })}
    <div class="submit"><button type="submit" class="button quiet">Search</button></div>
  </form>`
}

function matchedHint(tenantId: string, matched: readonly User[]): Html | string {
  const [one] = matched
  if (one === undefined) return ''
  if (matched.length === 1)
    return html`<p class="hint">
      All belong to <a href="${userPath(tenantId, one.userId)}">${one.name}</a>.
      <a href="${userPath(tenantId, one.userId)}/end-sessions">End all of these</a>
    </p>`
  return matched.length > LIMITS.peopleMatchedMax
    ? html`<p class="hint">Of the first ${LIMITS.peopleMatchedMax} people who match. Type more to find the others.</p>`
    : html`<p class="hint">Of ${matched.length} people who match.</p>`
}

const eventsHint = (tenantId: string, ip: string) =>
  html`<p class="hint">
    <a href="${tenantPath(tenantId, 'events')}?address=${encodeURIComponent(ip)}">Events from ${ip}</a>
  </p>`

/** A network is looked for one session after the other, and on one page not in all of them. */
function stillMore(count: number): Html {
  const looked = LIMITS.sessionsLookedThroughMax.toLocaleString('en')
  return notice(
    'info',
    `${count === 0 ? 'No matches' : `${count} found`} in the ${looked} sessions searched so far. The next page searches further.`,
  )
}

const nothing = (path: string, text: string) =>
  text === ''
    ? emptyState('No active sessions', 'A session appears here as soon as someone signs in.')
    : emptyState(
        'No matching sessions',
        'Search by IP address, by network such as 192.0.2.0/24, or by any part of a name, email address or ID.',
        linkButton(path, 'Show all', 'quiet'),
      )

function callsOf(tenantId: string, filter: AliveFilter): ApiCall[] {
  const [userId = ''] = filter.kind === 'people' ? filter.userIds : []
  const which =
    filter.kind === 'address'
      ? `&ip=${encodeURIComponent(filter.ip)}`
      : userId === ''
        ? ''
        : `&user_id=${encodeURIComponent(userId)}`
  return [
    {
      method: 'GET',
      path: `${apiOf(tenantId)}/sessions?state=active${which}`,
      label: 'Active sessions',
    },
    { method: 'GET', path: `${apiOf(tenantId)}/services`, label: 'Machines' },
    {
      method: 'POST',
      path: `${apiOf(tenantId)}/revocations`,
      body: { all: true },
      label: 'End all sessions',
    },
  ]
}
