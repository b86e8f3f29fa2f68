/** What takes something away from one user, each with a page that asks first. */
import { Refusal } from '../../../../shared/errors.ts'
import type { User } from '../../../accounts/users.ts'
import { asking } from '../../asking.ts'
import { tenantPath } from '../../navigation.ts'
import { done, type ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, USER, userPath } from './paths.ts'
import { endedText, endingText } from './sessions-routes.ts'
import { userOf, type UserVisit } from './user-routes.ts'

const CONNECTION = `${USER}/connections/{connection_id}/remove` as const
const FACTOR = `${USER}/factors/{factor_id}/remove` as const

type ConnectionVisit = UserVisit & { readonly path: { readonly connection_id: string } }

export function userEndingsRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { users, sessions, revocations, factors, personIdentities, accountMail } = world

  async function about(visit: UserVisit) {
    const user = await userOf(world, visit)
    const { tenantId, userId } = user
    const ending = endingText(await sessions.countAlive(tenantId, userId))
    const path = userPath(tenantId, userId)
    return { user, ending, path, api: `${apiOf(tenantId)}/users/${userId}` }
  }

  async function identityOf({ path }: ConnectionVisit, { tenantId, userId }: User) {
    const all = await personIdentities.list(tenantId, userId)
    const one = all.find(({ connectionId }) => connectionId === path.connection_id)
    if (one === undefined) throw new Refusal('identity_not_found')
    return one
  }

  return [
    ...asking(
      { path: `${USER}/end-sessions`, role: 'tenant', here: 'users' },
      async (visit) => {
        const { user, ending, path } = await about(visit)
        return {
          title: `End all sessions of ${user.name}?`,
          effects: [
            ending,
            `${user.name} has to sign in again on their next request.`,
            'If someone else used this account, also disable it or send a password reset link.',
          ],
          submit: 'End all sessions',
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
        const { user, ending, path, api } = await about(visit)
        return {
          title: `Disable ${user.name}?`,
          effects: [
            ending,
            `${user.name} can't sign in, by password or by email link, until you enable the account again.`,
            'The account, its password and its second factors are kept.',
          ],
          submit: 'Disable account',
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
        const { user, ending, path, api } = await about(visit)
        return {
          title: `Delete ${user.name}?`,
          effects: [
            ending,
            `The account of ${user.email} is permanently deleted, with its password, second factors and known browsers.`,
            user.source === 'directory'
              ? 'Your own database is not changed: the next sign-in from there creates the account again.'
              : 'If you invite the same address later, your application sees a new user.',
            `Data about ${user.name} in your application and in the audit trail is kept.`,
          ],
          submit: 'Delete user',
          cancel: path,
          calls: [{ method: 'DELETE', path: api }],
        }
      },
      async (visit) => {
        const { tenantId, userId, name } = await userOf(world, visit)
        const ended = await users.remove(tenantId, userId, visit.actor)
        return done(tenantPath(tenantId, 'users'), `${name} is deleted.`, ended)
      },
    ),

    ...asking(
      { path: CONNECTION, role: 'tenant', needsFreshSignIn: true, here: 'users' },
      async (visit) => {
        const { user, ending, path, api } = await about(visit)
        const { name, connectionId } = await identityOf(visit, user)
        return {
          title: `Disconnect ${user.name} from ${name}?`,
          effects: [
            ending,
            `${user.name} can't sign in with ${name} until they show that the account is theirs.`,
            `If the domain of their address is proven for ${name} and the account has no password or second factor, signing in there connects it again at once. To keep them out, disable the account.`,
            user.passwordHash === ''
              ? `${user.name} has no password here: send a link to choose one, or they have no way in.`
              : 'Their password here still works, where the password policy allows it.',
          ],
          submit: 'Disconnect',
          cancel: path,
          calls: [{ method: 'DELETE', path: `${api}/connections/${connectionId}` }],
        }
      },
      async (visit) => {
        const user = await userOf(world, visit)
        const { tenantId, userId } = user
        const { name, connectionId } = await identityOf(visit, user)
        const ended = await personIdentities.remove(tenantId, userId, connectionId, visit.actor)
        return done(userPath(tenantId, userId), `${user.name} is disconnected from ${name}.`, ended)
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
              ? `The passkey ${one.name} can no longer be used to sign in.`
              : 'Codes from that authenticator app can no longer be used to sign in.',
            others === 0
              ? `It is the only one: at the next sign-in ${user.name} needs only the password, or sets up a new second factor if the policy requires one.`
              : `${others} more ${others === 1 ? 'is' : 'are'} kept.`,
            `${user.name} is notified at ${user.email}. Make sure that the request really came from ${user.name}.`,
          ],
          submit: 'Remove second factor',
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
        return done(userPath(user.tenantId, user.userId), 'Second factor removed.')
      },
    ),
  ]
}
