/** An account of before that the provider is to keep from now on: asked, since it can delete it then. */
import { asking } from '../../asking.ts'
import { done, type ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, USER, userPath } from '../people/paths.ts'
import { userOf } from '../people/user-routes.ts'

export function handOverRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  return asking(
    { path: `${USER}/hand-over`, role: 'tenant', needsFreshSignIn: true, here: 'users' },
    async (visit) => {
      const { tenantId, userId, name, email } = await userOf(world, visit)
      return {
        title: `Hand ${name} over to your provider?`,
        effects: [
          `Your provider finds the account by the userName ${email}. From then on it can change, disable and delete it.`,
          'The password and second factors keep working, and sessions continue.',
        ],
        submit: 'Hand over',
        cancel: userPath(tenantId, userId),
        calls: [{ method: 'POST', path: `${apiOf(tenantId)}/users/${userId}/hand-over`, body: {} }],
      }
    },
    async (visit) => {
      const { tenantId, userId, name } = await userOf(world, visit)
      await world.scimPeople.handOver(tenantId, userId, visit.actor)
      return done(userPath(tenantId, userId), `${name} is handed over to your provider.`)
    },
  )
}
