import { html } from 'hono/html'
import { codeField } from '../../pages/blocks/field.ts'
import type { Html } from '../../pages/html.ts'
import { form } from './blocks/form.ts'
import { passkeyForm } from './blocks/passkey-form.ts'
import { qrCode, secretBlock } from './blocks/secret.ts'
import { page, type Page, type Asked } from './layout.ts'

export interface AppView extends Asked {
  /** The key as a person types it, and the same as a picture. */
  readonly key: string
  readonly qrSvg: string
  readonly hidden?: Readonly<Record<string, string>>
}

interface EnrolView extends AppView {
  readonly username: string
  readonly passkey?: { readonly options: object; readonly scriptUrl: string } | undefined
}

export function enrolPage(view: EnrolView): Page {
  const { place, action, username, passkey, problem } = view
  const { steps } = place.texts
  return page({
    place,
    title: steps.enrol,
    intro: `${steps.signingInAs(username)} ${steps.enrolIntro}`,
    problem,
    scriptUrl: passkey?.scriptUrl,
    content: html`
      <h2>${steps.enrolApp}</h2>
      ${appForm(view)}
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

/** An authenticator app, step by step to the code that it shows. */
export function appForm({ place, action, key, qrSvg, hidden = {}, problem }: AppView): Html {
  const { steps } = place.texts
  return html`<ol class="steps">
      ${steps.enrolAppSteps.map((line) => html`<li>${line}</li>`)}
    </ol>
    ${qrCode(steps.qrLabel, qrSvg)} ${secretBlock(steps.keyLabel, [key])}
    ${form({
      action,
      submit: steps.enrolAppSubmit,
      hidden,
      content: codeField({ label: steps.appCode, problem }),
    })}`
}
