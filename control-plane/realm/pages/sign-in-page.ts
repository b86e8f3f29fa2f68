import { field } from './blocks/field.ts'
import { form, otherWay } from './blocks/form.ts'
import { notice } from './blocks/notice.ts'
import { html } from 'hono/html'
import { page, type Page, type Place } from './layout.ts'

interface SignInView {
  readonly place: Place & { readonly name: string }
  /** Where the person is going, as they know it: `app.example.com`. */
  readonly applicationHost: string
  /** Where the form goes. */
  readonly action: string
  readonly username: string
  readonly problem?: string | undefined
  /** Where a new password is asked for; not for people of a tenant's own database. */
  readonly forgottenUrl?: string | undefined
}

export function signInPage({
  place,
  applicationHost,
  action,
  username,
  problem,
  forgottenUrl,
}: SignInView): Page {
  const { texts } = place
  const isRetry = username !== ''
  const describedBy = problem === undefined ? undefined : 'problem'
  return page({
    place,
    title: texts.signIn,
    heading: place.name,
    intro: texts.signInTo(applicationHost),
    isProblem: problem !== undefined,
    content: html`
      ${problem === undefined ? '' : notice('problem', problem, 'problem')}
      ${form({
        action,
        submit: texts.signIn,
        content: [
          field({
            name: 'username',
            label: texts.username,
            autocomplete: 'username',
            value: username,
            charactersMax: 320,
            describedBy,
            hasFocus: !isRetry,
          }),
          field({
            name: 'password',
            label: texts.password,
            type: 'password',
            autocomplete: 'current-password',
            charactersMax: 1024,
            describedBy,
            hasFocus: isRetry,
          }),
        ],
      })}
      ${forgottenUrl === undefined ? '' : otherWay(forgottenUrl, texts.account.forgot)}
    `,
  })
}
