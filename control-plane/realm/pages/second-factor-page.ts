import { html } from 'hono/html'
import { codeField } from '../../pages/blocks/field.ts'
import { form } from './blocks/form.ts'
import { passkeyForm } from './blocks/passkey-form.ts'
import { page, type Page, type Asked } from './layout.ts'

interface SecondFactorView extends Asked {
  readonly username: string
  /** Whether there is an app that shows codes; else a code is one from the paper. */
  readonly hasApp: boolean
  readonly passkey?: { readonly options: object; readonly scriptUrl: string } | undefined
}

export function secondFactorPage(view: SecondFactorView): Page {
  const { place, action, username, hasApp, passkey, problem } = view
  const { steps } = place.texts
  return page({
    place,
    title: steps.secondFactor,
    intro: steps.signingInAs(username),
    problem,
    scriptUrl: passkey?.scriptUrl,
    content: html`
      ${
        passkey === undefined
          ? ''
          : passkeyForm({
              action,
              mode: 'get',
              options: passkey.options,
              submit: steps.usePasskey,
              failed: steps.passkeyFailed,
              needsScript: steps.passkeyNeedsScript,
            })
      }
      ${form({
        action,
        submit: steps.confirm,
        isQuiet: passkey !== undefined,
        content: codeField({
          label: hasApp ? steps.code : steps.recoveryCode,
          hint: hasApp ? steps.codeHint : steps.recoveryCodeHint,
          isDigits: false, // a recovery code has letters
          problem,
          hasFocus: passkey === undefined,
        }),
      })}
      ${form({ action, submit: steps.anotherAccount, hidden: { restart: '1' }, isQuiet: true })}
    `,
  })
}
