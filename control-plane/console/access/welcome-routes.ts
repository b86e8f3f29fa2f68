/** Where the link from the terminal leads: the first operator's account. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import { NewUserBody } from '../../requests/people-fields.ts'
import { form } from '../blocks/form.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { textField, type Attempt } from '../../pages/blocks/field.ts'
import { action, page, type ConsoleRoute, type View, type Visit } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { WELCOME_PATH } from '../../console-access/operator-links.ts'

const { email, password } = NewUserBody.entries
const NAME_WISH = 'your name, as others should see it'
export const WelcomeBody = v.strictObject({
  link: v.pipe(v.string(), v.maxLength(200, 'a link from the terminal')),
  email,
  name: v.pipe(
    v.unwrap(NewUserBody.entries.name),
    v.check((value) => value.trim() !== '', NAME_WISH),
  ),
  password: v.unwrap(password),
})

export function welcomeRoutes({ consoleAccess }: ConsoleWorld): readonly ConsoleRoute[] {
  const { links } = consoleAccess

  async function show(visit: Visit, link: string, attempt?: Attempt): Promise<View> {
    if (!(await links.isGood(link))) throw new Refusal('ticket_spent', {}, LINK_IS_OVER)
    return {
      title: 'Create the operator account',
      intro: 'You use this account to sign in to the console. Next, you set up a second factor.',
      content: html`<div class="card">
        ${form(visit, {
          action: WELCOME_PATH,
          submit: 'Create account',
          hidden: { link },
          attempt,
          content: html`${textField({ name: 'email', label: 'Email address', type: 'email', autocomplete: 'username', hint: 'You use it to sign in.', attempt })}
          ${textField({ name: 'name', label: 'Your name', autocomplete: 'name', attempt })}
          ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', hint: 'At least 12 characters, and hard to guess.', attempt })}`,
        })}
      </div>`,
    }
  }

  return [
    page(
      { path: WELCOME_PATH, role: 'anyone', query: { link: v.optional(v.string(), '') } },
      (visit) => show(visit, visit.query.link),
    ),
    action(
      {
        path: WELCOME_PATH,
        role: 'anyone',
        form: { link: 'text', email: 'text', name: 'text', password: 'secret' },
        body: WelcomeBody,
      },
      async (visit, { link, ...person }) => {
        if (!(await links.isGood(link))) throw new Refusal('ticket_spent', {}, LINK_IS_OVER)
        await links.redeem(link, person, visit.requestId)
        return {
          title: 'Account created',
          intro: 'Sign in to set up your second factor.',
          content: html`<div class="card">${linkButton('/console', 'Sign in')}</div>`,
        }
      },
      (visit, attempt) => show(visit, attempt.values.get('link') ?? '', attempt),
    ),
  ]
}

const LINK_IS_OVER =
  'This link has been used, has expired (after 15 minutes), or was replaced by a newer one. ' +
  'To get a new one, run npm run console-link on the server.'
