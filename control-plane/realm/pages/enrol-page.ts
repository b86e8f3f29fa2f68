import { html } from 'hono/html'
import { codeField } from './blocks/field.ts'
import { form } from './blocks/form.ts'
import { notice } from './blocks/notice.ts'
import { passkeyForm } from './blocks/passkey-form.ts'
import { qrCode, secretBlock } from './blocks/secret.ts'
import { page, type Page, type Place } from './layout.ts'

interface EnrolView {
  readonly place: Place
  readonly action: string
  readonly username: string
  /** For an app: the key as a person types it, and the same as a picture. */
  readonly key: string
  readonly qrSvg: string
  readonly passkey?: { readonly options: object; readonly scriptUrl: string } | undefined
  readonly problem?: string | undefined
}

export function enrolPage(view: EnrolView): Page {
  const { place, action, username, key, qrSvg, passkey, problem } = view
  const { steps } = place.texts
  return page({
    place,
    title: steps.enrol,
    intro: `${steps.signingInAs(username)} ${steps.enrolIntro}`,
    isProblem: problem !== undefined,
    scriptUrl: passkey?.scriptUrl,
    content: html`
      ${problem === undefined ? '' : notice('problem', problem, 'problem')}
      <h2>${steps.enrolApp}</h2>
      <ol class="steps">
        ${steps.enrolAppSteps.map((line) => html`<li>${line}</li>`)}
      </ol>
      ${qrCode(steps.qrLabel, qrSvg)} ${secretBlock(steps.keyLabel, [key])}
      ${form({
        action,
        submit: steps.enrolAppSubmit,
        content: codeField({
          label: steps.appCode,
          describedBy: problem === undefined ? undefined : 'problem',
        }),
      })}
      ${
        passkey === undefined
          ? ''
          : html`<h2>${steps.enrolPasskey}</h2>
              <p>${steps.enrolPasskeyHint}</p>
              ${passkeyForm({
                action,
                mode: 'create',
                options: passkey.options,
                submit: steps.enrolPasskeySubmit,
                isQuiet: true,
                failed: steps.passkeyFailed,
                needsScript: steps.enrolNeedsScript,
              })}`
      }
      ${form({ action, submit: steps.anotherAccount, hidden: { restart: '1' }, isQuiet: true })}
    `,
  })
}
