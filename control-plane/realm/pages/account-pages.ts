/** Pages around a password: forgotten, chosen anew, chosen for the first time. */
import { html } from 'hono/html'
import { linkButton } from '../../pages/blocks/form.ts'
import { pageWithForm, pageOnwards } from './page-with-form.ts'
import { page, type Page, type Place } from './layout.ts'

type NamedPlace = Place & { readonly name: string }

export function forgottenPage(view: { readonly place: NamedPlace; readonly action: string }): Page {
  const { texts } = view.place
  const { title, intro, send } = texts.account.forgotten
  return pageWithForm({
    ...view,
    title,
    intro,
    submit: send,
    fields: [
      {
        name: 'username',
        label: texts.username,
        autocomplete: 'username',
        charactersMax: 320,
        hasFocus: true,
      },
    ],
  })
}

/** The same for everybody, whether there is such an account or not. */
export function mailSentPage(place: NamedPlace, applicationUrl: string): Page {
  const { title, intro, steps } = place.texts.account.mailSent
  return page({
    place,
    title,
    intro,
    content: html`<ul class="steps">
        ${steps.map((line) => html`<li>${line}</li>`)}
      </ul>
      ${linkButton(applicationUrl, place.texts.backToApplication, 'quiet')}`,
  })
}

export function choosePasswordPage(view: {
  readonly place: NamedPlace
  readonly action: string
  readonly kind: 'invite' | 'reset'
  /** Whose password; password managers file it under this name. */
  readonly username: string
  readonly charactersMin: number
  readonly problem?: string | undefined
}): Page {
  const { place, action, problem, username, charactersMin } = view
  const { account } = place.texts
  const [chosen, repeated] = newPasswordFields(place, charactersMin)
  return pageWithForm({
    ...{ place, action, problem },
    ...account[view.kind],
    submit: account.savePassword,
    owner: username,
    fields: [{ ...chosen, hasFocus: true }, repeated],
  })
}

/** What is typed twice, so that nobody locks themselves out by a slip. */
export function newPasswordFields({ texts: { account } }: Place, charactersMin: number) {
  const both = { type: 'password', autocomplete: 'new-password' } as const
  const hint = account.passwordHint(charactersMin)
  return [
    { ...both, name: 'password', label: account.newPassword, hint },
    { ...both, name: 'repeated', label: account.repeatPassword },
  ] as const
}

export const passwordSavedPage = (
  place: NamedPlace,
  kind: 'invite' | 'reset',
  applicationUrl: string,
): Page =>
  pageOnwards(place, place.texts.account.passwordSaved[kind], [applicationUrl, place.texts.signIn])

/** A person has to press: programs that look into mails open every link. */
export function confirmEmailPage({
  email,
  ...view
}: {
  readonly place: NamedPlace
  readonly action: string
  readonly email: string
}): Page {
  const { title, intro, submit } = view.place.texts.account.confirmEmail
  return pageWithForm({ ...view, title, intro: intro(email), submit })
}

export function emailChangedPage(place: NamedPlace, email: string, applicationUrl: string): Page {
  const { account, backToApplication } = place.texts
  const { title, intro } = account.emailChanged
  return pageOnwards(place, { title, intro: intro(email) }, [applicationUrl, backToApplication])
}
