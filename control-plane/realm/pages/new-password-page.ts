import { html } from 'hono/html'
import { field, ownerField } from './blocks/field.ts'
import { form } from './blocks/form.ts'
import { notice } from './blocks/notice.ts'
import { page, type Page, type Place } from './layout.ts'

interface NewPasswordView {
  readonly place: Place
  readonly action: string
  readonly username: string
  readonly charactersMin: number
  readonly problem?: string | undefined
}

export function newPasswordPage(view: NewPasswordView): Page {
  const { place, action, username, charactersMin, problem } = view
  const { steps } = place.texts
  return page({
    place,
    title: steps.newPassword,
    intro: steps.newPasswordIntro,
    isProblem: problem !== undefined,
    content: html`
      ${problem === undefined ? '' : notice('problem', problem, 'problem')}
      ${form({
        action,
        submit: steps.newPasswordSubmit,
        content: [
          ownerField(username),
          field({
            name: 'new_password',
            label: steps.newPasswordLabel,
            type: 'password',
            autocomplete: 'new-password',
            charactersMax: 1024,
            hint: steps.newPasswordHint(charactersMin),
            describedBy: problem === undefined ? undefined : 'problem',
            hasFocus: true,
          }),
        ],
      })}
    `,
  })
}
