/** Pages around a password: forgotten, chosen anew, chosen for the first time. */
import { html } from 'hono/html'
import { field, ownerField } from './blocks/field.ts'
import { form, linkButton } from './blocks/form.ts'
import { notice } from './blocks/notice.ts'
import { page, type Page, type Place } from './layout.ts'

type NamedPlace = Place & { readonly name: string }

export function forgottenPage(view: {
  readonly place: NamedPlace
  readonly action: string
  readonly username?: string
}): Page {
  const { texts } = view.place
  const { forgotten } = texts.account
  return page({
    place: view.place,
    title: forgotten.title,
    intro: forgotten.intro,
    content: form({
      action: view.action,
      submit: forgotten.send,
      content: field({
        name: 'username',
        label: texts.username,
        autocomplete: 'username',
        charactersMax: 320,
        hasFocus: true,
        ...(view.username !== undefined && { value: view.username }),
      }),
    }),
  })
}

/** The same for everybody, whether there is such an account or not. */
export function mailSentPage(place: NamedPlace, applicationUrl: string): Page {
  const { texts } = place
  const { mailSent } = texts.account
  return page({
    place,
    title: mailSent.title,
    intro: mailSent.intro,
    content: html`<ul class="steps">
        ${mailSent.steps.map((line) => html`<li>${line}</li>`)}
      </ul>
      ${linkButton(applicationUrl, texts.backToApplication, { isQuiet: true })}`,
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
  const { place, kind, problem, charactersMin } = view
  const { account } = place.texts
  const { title, intro } = account[kind]
  const describedBy = problem === undefined ? undefined : 'problem'
  return page({
    place,
    title,
    intro,
    isProblem: problem !== undefined,
    content: html`
      ${problem === undefined ? '' : notice('problem', problem, 'problem')}
      ${form({
        action: view.action,
        submit: account.savePassword,
        content: [
          ownerField(view.username),
          field({
            name: 'password',
            type: 'password',
            label: account.newPassword,
            autocomplete: 'new-password',
            hint: account.passwordHint(charactersMin),
            describedBy,
            hasFocus: true,
          }),
          field({
            name: 'repeated',
            type: 'password',
            label: account.repeatPassword,
            autocomplete: 'new-password',
            describedBy,
          }),
        ],
      })}
    `,
  })
}

export function passwordChangedPage(place: NamedPlace, applicationUrl: string): Page {
  const { account, signIn } = place.texts
  return page({
    place,
    title: account.passwordChanged.title,
    intro: account.passwordChanged.intro,
    content: linkButton(applicationUrl, signIn),
  })
}

/** A person has to press: programs that look into mails open every link. */
export function confirmEmailPage(view: {
  readonly place: NamedPlace
  readonly action: string
  readonly email: string
}): Page {
  const { account } = view.place.texts
  return page({
    place: view.place,
    title: account.confirmEmail.title,
    intro: account.confirmEmail.intro(view.email),
    content: form({ action: view.action, submit: account.confirmEmail.submit }),
  })
}

export function emailChangedPage(place: NamedPlace, email: string, applicationUrl: string): Page {
  const { account, backToApplication } = place.texts
  return page({
    place,
    title: account.emailChanged.title,
    intro: account.emailChanged.intro(email),
    content: linkButton(applicationUrl, backToApplication),
  })
}
