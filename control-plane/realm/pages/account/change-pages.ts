/** Changing something about one's own account. */
import { html } from 'hono/html'
import { codeField, ownerField, textField } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'
import { newPasswordFields } from '../account-pages.ts'
import { form } from '../blocks/form.ts'
import { passkeyForm } from '../blocks/passkey-form.ts'
import { pageWithForm, pageOnwards } from '../page-with-form.ts'
import { page, type Page, type Place, type Asked } from '../layout.ts'

interface ChangeView extends Asked {
  readonly accountUrl: string
  readonly csrf: string
  /** What is there now, or what was just entered. */
  readonly value: string
  readonly wrong?: readonly string[] | undefined
}

export function changeNamePage(view: ChangeView): Page {
  const { own } = view.place.texts.account
  return pageWithForm({
    ...changing(view),
    ...own.changeName,
    fields: [
      {
        name: 'name',
        label: own.name,
        autocomplete: 'name',
        value: view.value,
        charactersMax: 200,
        hasFocus: true,
      },
    ],
  })
}

export function changeEmailPage(view: ChangeView & { readonly email: string }): Page {
  const { title, intro, label, submit } = view.place.texts.account.own.changeEmail
  return pageWithForm({
    ...changing(view),
    title,
    intro: intro(view.email),
    submit,
    fields: [
      {
        name: 'email',
        type: 'email',
        label,
        autocomplete: 'email',
        value: view.value,
        charactersMax: 254,
        hasFocus: true,
      },
    ],
  })
}

export function emailAskedPage(place: Place, email: string, accountUrl: string): Page {
  const { own } = place.texts.account
  const { title, intro, step } = own.emailAsked
  return page({
    place,
    title,
    intro: intro(email),
    content: html`<p>${step}</p>
      ${linkButton(accountUrl, own.back)}`,
  })
}

/** `value` is the username: password managers file the new password under it. */
export function changePasswordPage(view: ChangeView & { readonly charactersMin: number }): Page {
  const { account } = view.place.texts
  const { title, intro, current } = account.own.changePassword
  return pageWithForm({
    ...changing(view),
    title,
    intro,
    submit: account.savePassword,
    owner: view.value,
    fields: [
      {
        name: 'current',
        type: 'password',
        label: current,
        autocomplete: 'current-password',
        hasFocus: true,
      },
      ...newPasswordFields(view.place, view.charactersMin),
    ],
  })
}

const changing = ({ place, action, accountUrl, csrf, problem, wrong }: ChangeView) => ({
  ...{ place, action, problem, wrong },
  hidden: { csrf },
  below: backLink(place, accountUrl),
})

/** To the page of the whole account. */
export const backLink = ({ texts }: Place, accountUrl: string): Html =>
  linkButton(accountUrl, texts.account.own.back, 'quiet')

interface ConfirmPersonView extends Asked {
  readonly accountUrl: string
  /** Password managers look for it. */
  readonly username: string
  /** What the form before was sent with; it goes on with this one. */
  readonly hidden: Readonly<Record<string, string>>
  readonly needsCode: boolean
  /** Whether there is an app that shows codes; else a code is one from the paper. */
  readonly hasApp: boolean
  readonly passkey?: { readonly options: object; readonly scriptUrl: string } | undefined
  /** What the problem is about; undefined: nothing that was typed. */
  readonly wrong?: ProofPart | undefined
}

export type ProofPart = 'password' | 'code'

/** The password again, and the factor of who has one: a session alone changes nothing of weight. */
export function confirmPersonPage(view: ConfirmPersonView): Page {
  const { place, action, hidden, username, needsCode, hasApp, passkey, problem, wrong } = view
  const { texts } = place
  const { own } = texts.account
  const { confirm } = own
  const password = (name: string): Html =>
    textField({
      name,
      type: 'password',
      label: texts.password,
      autocomplete: 'current-password',
      showLabel: texts.showPassword,
      problem: wrong === 'password' ? problem : undefined,
      hasFocus: name === 'proof_password' && wrong !== 'code',
    })
  const code = codeField({
    name: 'proof_code',
    label: hasApp ? confirm.code : confirm.recoveryCode,
    isDigits: false, // a recovery code has letters
    problem: wrong === 'code' ? problem : undefined,
    hasFocus: wrong === 'code',
  })
  return page({
    place,
    title: confirm.title,
    intro: confirm.intro,
    problem,
    scriptUrl: place.scriptUrl,
    content: html`
      ${form({
        action,
        submit: confirm.submit,
        hidden,
        content: [ownerField(username), password('proof_password'), ...(needsCode ? [code] : [])],
      })}
      ${
        passkey === undefined
          ? ''
          : html`<h2>${own.or}</h2>
              ${passkeyForm({
                action,
                hidden,
                mode: 'get',
                options: passkey.options,
                content: html`${ownerField(username)}${password('passkey_password')}`,
                submit: confirm.withPasskey,
                isQuiet: true,
                failed: confirm.failed,
                needsScript: confirm.needsScript,
              })}`
      }
      ${backLink(place, view.accountUrl)}
    `,
  })
}

export function notSignedInPage(
  place: Place,
  text: 'notSignedIn' | 'signInForEmail' | 'signInAgain',
  url: string,
): Page {
  const said = place.texts.account.own[text]
  return pageOnwards(place, said, [url, said.go])
}
