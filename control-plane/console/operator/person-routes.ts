/** The page of one person of the console, and what an operator does there; what takes away asks first. */
import { mailLanguage } from '../../http/mail-language.ts'
import { NothingBody } from '../../requests/fields.ts'
import type { User } from '../../accounts/users.ts'
import { asking, type Question } from '../asking.ts'
import { action, done, page, type ConsoleRoute, type Done, type ViewerVisit } from '../route.ts'
import { endedText } from '../tenant/people/sessions-routes.ts'
import type { ConsoleWorld } from '../world.ts'
import { PEOPLE_API, PEOPLE_PATH, personPage, personPath } from './person-page.ts'
import { WAYS_IN_END } from './role-form.ts'

const ONE = `${PEOPLE_PATH}/{user_id}` as const

type PersonVisit = ViewerVisit & { readonly path: { readonly user_id: string } }

export function personRoutes({ consoleAccess, userNames }: ConsoleWorld) {
  const { persons, people } = consoleAccess

  const askingOf = (
    name: string,
    questionOf: (user: User, isYou: boolean) => Pick<Question, 'title' | 'effects' | 'submit'>,
    handle: (visit: PersonVisit) => Promise<Done>,
  ): ConsoleRoute[] =>
    asking(
      { path: `${ONE}/${name}`, role: 'operator', needsFreshSignIn: true, here: 'people' },
      async ({ path, viewer }) => {
        const { user_id: userId } = path
        return {
          ...questionOf(await persons.get(userId), viewer.userId === userId),
          cancel: personPath(userId),
          calls: [{ method: 'POST', path: `${PEOPLE_API}/${userId}/${name}` }],
        }
      },
      (visit) => handle(visit as unknown as PersonVisit),
    )

  return [
    page({ path: ONE, role: 'operator' }, async (visit) => {
      const view = await persons.view(visit.path.user_id)
      const names = await userNames.ofAll(view.audit.map(({ userId }) => userId))
      return personPage(visit, view, names)
    }),
    action(
      { path: `${ONE}/resend-invitation`, role: 'operator', body: NothingBody, isOnce: true },
      async (visit) => {
        const { path, actor, request } = visit
        const user = await persons.resendInvitation(path.user_id, actor, mailLanguage(request))
        return done(personPath(user.userId), `A new link is on its way to ${user.email}.`)
      },
    ),
    action(
      { path: `${ONE}/unlock`, role: 'operator', needsFreshSignIn: true },
      async ({ path, actor }) => {
        const { userId, name } = await persons.get(path.user_id)
        await persons.unlock(userId, actor)
        return done(personPath(userId), `${name} can sign in again now.`)
      },
    ),

    ...askingOf(
      'sign-out',
      ({ name }, isYou) => ({
        title: `Sign out ${name} everywhere?`,
        effects: [
          'All console sessions end on their next request.',
          isYou ? 'This is you: you have to sign in again.' : `${name} can sign in again.`,
        ],
        submit: 'Sign out everywhere',
      }),
      async ({ path, actor }) => {
        const { userId } = await persons.get(path.user_id)
        const { sessions } = await persons.signOut(userId, actor)
        return done(personPath(userId), endedText(sessions))
      },
    ),

    ...askingOf(
      'reset-factors',
      ({ name, email }) => ({
        title: `Reset the second factors of ${name}?`,
        effects: [
          'All authenticator apps, passkeys and recovery codes are removed, and all sessions end.',
          `Until ${name} sets up a new one, the password alone is enough to sign in. Make sure that the request really came from ${name}.`,
          `${name} is notified at ${email}.`,
        ],
        submit: 'Reset second factors',
      }),
      async ({ path, actor, viewer }) => {
        await persons.resetFactors(path.user_id, actor, viewer.userId)
        return done(personPath(path.user_id), 'Second factors reset.')
      },
    ),

    ...askingOf(
      'revoke-access',
      ({ name, email }, isYou) => ({
        title: `Revoke all access of ${name}?`,
        effects: [
          ...(isYou ? ['This is you. A colleague has to invite you again.'] : []),
          `${name} loses every role on their next request.`,
          `The account of ${email} is permanently deleted, with its password and second factors.`,
          WAYS_IN_END,
          'Audit log entries are kept.',
        ],
        submit: 'Revoke access',
      }),
      async ({ path, actor }) => {
        const { userId, name } = await persons.get(path.user_id)
        await people.revokeAccess(userId, actor)
        return done(PEOPLE_PATH, `${name} no longer has access.`)
      },
    ),
  ]
}
