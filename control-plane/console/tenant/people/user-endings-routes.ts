/** What takes something away from one user, each with a page that asks first. */
import { Refusal } from '../../../../shared/errors.ts'
import { asking } from '../../asking.ts'
import { tenantPath } from '../../navigation.ts'
import { done, type ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, USER, userPath } from './paths.ts'
import { countOf, endedText } from './sessions-routes.ts'
import { userOf, type UserVisit } from './user-routes.ts'

type EndingsWorld = Pick<
  ConsoleWorld,
  'users' | 'sessions' | 'revocations' | 'factors' | 'accountMail'
>

const FACTOR = `${USER}/factors/{factor_id}/remove` as const

export function userEndingsRoutes(world: EndingsWorld): readonly ConsoleRoute[] {
  const { users, sessions, revocations, factors, accountMail } = world

  async function about(visit: UserVisit) {
    const user = await userOf(world, visit)
    const { tenantId, userId } = user
    const running = countOf(await sessions.countAlive(tenantId, userId))
    const path = userPath(tenantId, userId)
    return { user, running, path, api: `${apiOf(tenantId)}/users/${userId}` }
  }

  return [
    ...asking(
      { path: `${USER}/end-sessions`, role: 'tenant', here: 'users' },
      async (visit) => {
        const { user, running, path } = await about(visit)
        return {
          title: `End all sessions of ${user.name}?`,
          effects: [
            `${running} at once, on every gateway.`,
            `${user.name} has to sign in again with the next click, and can.`,
            'Did somebody else use the account? Disable it, or mail a link for a new password as well.',
          ],
          submit: 'End all of them',
          cancel: path,
          calls: [
            {
              method: 'POST',
              path: `${apiOf(user.tenantId)}/revocations`,
              body: { subject: user.userId },
            },
          ],
        }
      },
      async (visit) => {
        const { tenantId, userId } = await userOf(world, visit)
        const result = await revocations.revoke(tenantId, { subject: userId }, visit.actor)
        return done(userPath(tenantId, userId), endedText(result.sessions), result)
      },
    ),

    ...asking(
      { path: `${USER}/disable`, role: 'tenant', needsFreshSignIn: true, here: 'users' },
      async (visit) => {
        const { user, running, path, api } = await about(visit)
        return {
          title: `Disable ${user.name}?`,
          effects: [
            `${running} at once, on every gateway.`,
            `${user.name} cannot sign in, with no password and no link in a mail, until you enable the account again.`,
            'The account, its password and its second factors stay.',
          ],
          submit: 'Disable the account',
          cancel: path,
          calls: [{ method: 'PATCH', path: api, body: { disabled: true } }],
        }
      },
      async (visit) => {
        const { tenantId, userId, name } = await userOf(world, visit)
        const { ended } = await users.patch(tenantId, userId, { isDisabled: true }, visit.actor)
        return done(userPath(tenantId, userId), `${name} is disabled.`, ended)
      },
    ),

    ...asking(
      { path: `${USER}/remove`, role: 'tenant', needsFreshSignIn: true, here: 'users' },
      async (visit) => {
        const { user, running, path, api } = await about(visit)
        return {
          title: `Remove ${user.name}?`,
          effects: [
            `${running} at once, on every gateway.`,
            `The account of ${user.email} goes for good, with its password, its second factors and its known browsers.`,
            user.source === 'directory'
              ? 'Your own database stays as it is: with the next sign-in from there the account is made anew.'
              : 'Whoever is invited with the same address later is somebody new to your application.',
            `What your application itself keeps about ${user.name} stays, and so does the audit trail.`,
          ],
          submit: 'Remove the user',
          cancel: path,
          calls: [{ method: 'DELETE', path: api }],
        }
      },
      async (visit) => {
        const { tenantId, userId, name } = await userOf(world, visit)
        const ended = await users.remove(tenantId, userId, visit.actor)
        return done(tenantPath(tenantId, 'users'), `${name} is removed.`, ended)
      },
    ),

    ...asking(
      { path: FACTOR, role: 'tenant', needsFreshSignIn: true, here: 'users' },
      async (visit) => {
        const { user, path, api } = await about(visit)
        const factorId = visit.path.factor_id
        const all = await factors.list(user)
        const one = all.find((factor) => factor.factorId === factorId)
        if (one === undefined) throw new Refusal('factor_not_found')
        const others = all.filter(({ kind }) => kind !== 'recovery').length - 1
        return {
          title: `Remove a second factor of ${user.name}?`,
          effects: [
            one.kind === 'passkey'
              ? `The passkey ${one.name} does not open this account any more.`
              : 'The codes of that authenticator app do not open this account any more.',
            others === 0
              ? `It is the only one: the next sign-in asks ${user.name} for the password alone, or to set up a new one where the policy demands it.`
              : `${others} more ${others === 1 ? 'stays' : 'stay'}.`,
            `${user.name} is told by mail to ${user.email}. Be sure that whoever asked you for this is ${user.name}.`,
          ],
          submit: 'Remove it',
          cancel: path,
          calls: [{ method: 'DELETE', path: `${api}/factors/${encodeURIComponent(factorId)}` }],
        }
      },
      async (visit) => {
        const user = await userOf(world, visit)
        await factors.remove(user, visit.path.factor_id, visit.actor, {
          alongside: async (change, { kind }) => {
            if (kind !== 'recovery')
              await accountMail.tellFactorsChanged(change, user, `${kind}_removed`, '')
          },
        })
        accountMail.deliver()
        return done(userPath(user.tenantId, user.userId), 'The second factor is removed.')
      },
    ),
  ]
}
