/** Adding a second factor to one's own account. */
import { html } from 'hono/html'
import { codeField } from '../blocks/field.ts'
import { form, linkButton } from '../blocks/form.ts'
import { notice } from '../blocks/notice.ts'
import { passkeyForm } from '../blocks/passkey-form.ts'
import { qrCode, secretBlock } from '../blocks/secret.ts'
import { page, type Page, type Place } from '../layout.ts'

interface AddView {
  readonly place: Place
  readonly action: string
  readonly accountUrl: string
  readonly hidden: Readonly<Record<string, string>>
  readonly problem?: string | undefined
}

interface AddAppView extends AddView {
  /** The key as a person types it, and the same as a picture. */
  readonly key: string
  readonly qrSvg: string
}

export function addAppPage(view: AddAppView): Page {
  const { place, action, accountUrl, hidden, key, qrSvg, problem } = view
  const { steps, account } = place.texts
  return page({
    place,
    title: account.own.addAppTitle,
    isProblem: problem !== undefined,
    content: html`
      ${problem === undefined ? '' : notice('problem', problem, 'problem')}
      <ol class="steps">
        ${steps.enrolAppSteps.map((line) => html`<li>${line}</li>`)}
      </ol>
      ${qrCode(steps.qrLabel, qrSvg)} ${secretBlock(steps.keyLabel, [key])}
      ${form({
        action,
        submit: steps.enrolAppSubmit,
        hidden,
        content: codeField({
          label: steps.appCode,
          describedBy: problem === undefined ? undefined : 'problem',
        }),
      })}
      ${linkButton(accountUrl, account.own.back, { isQuiet: true })}
    `,
  })
}

interface AddPasskeyView extends AddView {
  readonly options: object
  readonly scriptUrl: string
}

export function addPasskeyPage(view: AddPasskeyView): Page {
  const { place, action, accountUrl, hidden, options, scriptUrl, problem } = view
  const { steps, account } = place.texts
  return page({
    place,
    title: account.own.addPasskeyTitle,
    intro: steps.enrolPasskeyHint,
    isProblem: problem !== undefined,
    scriptUrl,
    content: html`
      ${problem === undefined ? '' : notice('problem', problem, 'problem')}
      ${passkeyForm({
        action,
        hidden,
        mode: 'create',
        options,
        submit: steps.enrolPasskeySubmit,
        failed: account.own.problems.passkey_refused,
        needsScript: steps.enrolNeedsScript,
      })}
      ${linkButton(accountUrl, account.own.back, { isQuiet: true })}
    `,
  })
}
