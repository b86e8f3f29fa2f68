/** Changing something about one's own account. */
import { html } from 'hono/html'
import { codeField, field, ownerField, type FieldView } from '../blocks/field.ts'
import { form, linkButton } from '../blocks/form.ts'
import { notice } from '../blocks/notice.ts'
import { passkeyForm } from '../blocks/passkey-form.ts'
import { page, type Page, type Place } from '../layout.ts'
import type { Html } from '../../../pages/html.ts'

interface ChangeView {
  readonly place: Place
  readonly action: string
  readonly accountUrl: string
  readonly csrf: string
  /** What is there now, or what was just entered. */
  readonly value: string
  readonly problem?: string | undefined
}

export function changeNamePage(view: ChangeView): Page {
  const { own } = view.place.texts.account
  const { title, submit } = own.changeName
  return changePage(view, { title, submit }, [
    {
      name: 'name',
      label: own.name,
      autocomplete: 'name',
      value: view.value,
      charactersMax: 200,
      hasFocus: true,
    },
  ])
}

export function changeEmailPage(view: ChangeView & { readonly email: string }): Page {
  const { own } = view.place.texts.account
  const { title, intro, label, submit } = own.changeEmail
  return changePage(view, { title, intro: intro(view.email), submit }, [
    {
      name: 'email',
      type: 'email',
      label,
      autocomplete: 'email',
      value: view.value,
      charactersMax: 254,
      hasFocus: true,
    },
  ])
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
  return changePage(
    view,
    { title, intro, submit: account.savePassword },
    [
      {
        name: 'current',
        type: 'password',
        label: current,
        autocomplete: 'current-password',
        hasFocus: true,
      },
      {
        name: 'password',
        type: 'password',
        label: account.newPassword,
        autocomplete: 'new-password',
        hint: account.passwordHint(view.charactersMin),
      },
      {
        name: 'repeated',
        type: 'password',
        label: account.repeatPassword,
        autocomplete: 'new-password',
      },
    ],
    ownerField(view.value),
  )
}

function changePage(
  { place, action, accountUrl, csrf, problem }: ChangeView,
  says: { readonly title: string; readonly intro?: string; readonly submit: string },
  fields: readonly FieldView[],
  beside?: Html,
): Page {
  const describedBy = problem === undefined ? undefined : 'problem'
  return page({
    place,
    title: says.title,
    intro: says.intro,
    isProblem: problem !== undefined,
    content: html`
      ${problemNotice(problem)}
      ${form({
        action,
        submit: says.submit,
        hidden: { csrf },
        content: [beside ?? html``, ...fields.map((one) => field({ ...one, describedBy }))],
      })}
      ${linkButton(accountUrl, place.texts.account.own.back, { isQuiet: true })}
    `,
  })
}

interface ConfirmPersonView {
  readonly place: Place
  readonly action: string
  readonly accountUrl: string
  /** Password managers look for it. */
  readonly username: string
  /** What the form before was sent with; it goes on with this one. */
  readonly hidden: Readonly<Record<string, string>>
  readonly needsCode: boolean
  /** Whether there is an app that shows codes; else a code is one from the paper. */
  readonly hasApp: boolean
  readonly passkey?: { readonly options: object; readonly scriptUrl: string } | undefined
  readonly problem?: string | undefined
}

/** The password again, and the factor of who has one: a session alone changes nothing of weight. */
export function confirmPersonPage(view: ConfirmPersonView): Page {
  const { place, action, hidden, username, needsCode, hasApp, passkey, problem } = view
  const { texts } = place
  const { own } = texts.account
  const { confirm } = own
  const describedBy = problem === undefined ? undefined : 'problem'
  const password = (name: string): Html =>
    field({
      name,
      type: 'password',
      label: texts.password,
      autocomplete: 'current-password',
      describedBy,
      hasFocus: name === 'proof_password',
    })
  return page({
    place,
    title: confirm.title,
    intro: confirm.intro,
    isProblem: problem !== undefined,
    scriptUrl: passkey?.scriptUrl,
    content: html`
      ${problemNotice(problem)}
      ${form({
        action,
        submit: confirm.submit,
        hidden,
        content: needsCode
          ? [
              ownerField(username),
              password('proof_password'),
              codeField({
                name: 'proof_code',
                label: hasApp ? confirm.code : confirm.recoveryCode,
                isDigits: false, // a recovery code has letters
                describedBy,
              }),
            ]
          : [ownerField(username), password('proof_password')],
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
      ${linkButton(view.accountUrl, own.back, { isQuiet: true })}
    `,
  })
}

export function notSignedInPage(place: Place, applicationUrl: string): Page {
  const { title, intro, go } = place.texts.account.own.notSignedIn
  return page({ place, title, intro, content: linkButton(applicationUrl, go) })
}

function problemNotice(problem: string | undefined) {
  return problem === undefined ? '' : notice('problem', problem, 'problem')
}
