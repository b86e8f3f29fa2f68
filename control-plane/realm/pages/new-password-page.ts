import { pageWithForm } from './page-with-form.ts'
import type { Page, Asked } from './layout.ts'

interface NewPasswordView extends Asked {
  readonly username: string
  readonly charactersMin: number
}

export function newPasswordPage({ username, charactersMin, ...view }: NewPasswordView): Page {
  const { steps, account } = view.place.texts
  return pageWithForm({
    ...view,
    title: account.reset.title,
    intro: steps.newPasswordIntro,
    submit: steps.newPasswordSubmit,
    owner: username,
    fields: [
      {
        name: 'new_password',
        label: account.newPassword,
        type: 'password',
        autocomplete: 'new-password',
        charactersMax: 1024,
        hint: steps.newPasswordHint(charactersMin),
        hasFocus: true,
      },
    ],
  })
}
