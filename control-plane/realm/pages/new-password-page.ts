import { pageWithForm } from './page-with-form.ts'
import type { Page, Place } from './layout.ts'

interface NewPasswordView {
  readonly place: Place
  readonly action: string
  readonly username: string
  readonly charactersMin: number
  readonly problem?: string | undefined
}

export function newPasswordPage({ username, charactersMin, ...view }: NewPasswordView): Page {
  const { steps } = view.place.texts
  return pageWithForm({
    ...view,
    title: steps.newPassword,
    intro: steps.newPasswordIntro,
    submit: steps.newPasswordSubmit,
    owner: username,
    fields: [
      {
        name: 'new_password',
        label: steps.newPasswordLabel,
        type: 'password',
        autocomplete: 'new-password',
        charactersMax: 1024,
        hint: steps.newPasswordHint(charactersMin),
        hasFocus: true,
      },
    ],
  })
}
