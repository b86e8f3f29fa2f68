/** Adding a second factor to one's own account. */
import { html } from 'hono/html'
import { passkeyForm } from '../blocks/passkey-form.ts'
import { appForm, type AppView } from '../enrol-page.ts'
import { page, type Page } from '../layout.ts'
import { backLink } from './change-pages.ts'

interface AddView {
  readonly accountUrl: string
  readonly hidden: Readonly<Record<string, string>>
}

export function addAppPage(view: AppView & AddView): Page {
  const { place, problem } = view
  return page({
    place,
    title: place.texts.account.own.addAppTitle,
    problem,
    content: html`${appForm(view)} ${backLink(place, view.accountUrl)}`,
  })
}

interface AddPasskeyView extends Pick<AppView, 'place' | 'action' | 'problem'>, AddView {
  readonly options: object
  readonly scriptUrl: string
}

export function addPasskeyPage(view: AddPasskeyView): Page {
  const { place, action, hidden, options, scriptUrl, problem } = view
  const { steps, account } = place.texts
  return page({
    place,
    title: account.own.addPasskeyTitle,
    intro: steps.enrolPasskeyHint,
    problem,
    scriptUrl,
    content: html`
      ${passkeyForm({
        action,
        hidden,
        mode: 'create',
        options,
        submit: steps.enrolPasskeySubmit,
        failed: account.own.problems.passkey_refused,
        needsScript: steps.enrolNeedsScript,
      })}
      ${backLink(place, view.accountUrl)}
    `,
  })
}
