/** On which machine somebody signs in: asked for, found wanting, or missing. All of it works without a script. */
import { html } from 'hono/html'
import { codeField } from '../../pages/blocks/field.ts'
import { hiddenFields } from '../../pages/blocks/form.ts'
import type { Html } from '../../pages/html.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { sayReason } from '../../../shared/device-words/say-reason.ts'
import type { DeviceDemand } from '../../policy/compliance.ts'
import type { DevicePlatform } from '../../../shared/device/facts.ts'
import type { Language } from '../../../shared/sign-in/language.ts'
import { form } from './blocks/form.ts'
import { page, type Asked, type Page, type Place } from './layout.ts'

export interface DevicePageView extends Asked {
  readonly username: string
  readonly kind: 'asked' | 'warned' | 'failing' | 'missing'
  /** The policy only warns. */
  readonly mayGoOn: boolean
  /** A code from the agent is accepted. */
  readonly mayType: boolean
  readonly typedProblem?: string | undefined
  readonly platform: DevicePlatform
  readonly failing: readonly FailingText[]
  readonly graceUntil?: number | undefined
  /** Leads on to the agent of this machine. */
  readonly checkUrl: string
  /** Where a script asks whether the other tab is done. */
  readonly stateUrl: string
  readonly scriptUrl: string
}

interface FailingText {
  readonly what: DeviceDemand
  readonly reason: string
  readonly detail?: string
}

export function devicePage(view: DevicePageView): Page {
  const { place, username, kind, problem, typedProblem, scriptUrl, stateUrl, action } = view
  const { device, steps } = place.texts
  const { title, intro } = headOf(view)
  const isAsked = kind === 'asked'
  return page({
    place,
    title,
    intro: isAsked ? `${steps.signingInAs(username)} ${intro}` : intro,
    problem: problem ?? typedProblem,
    scriptUrl,
    connectUrl: stateUrl,
    content: html`
      ${kind === 'missing' ? stepsOf(device.missingSteps) : failingList(view)}
      ${kind === 'warned' ? form({ action, submit: device.goOn, hidden: { device: 'go_on' } }) : ''}
      ${checkLink(view)} ${continueForm(view)} ${isAsked ? withoutAgent(view) : ''}
      ${form({ action, submit: steps.anotherAccount, hidden: { restart: '1' }, isQuiet: true })}
    `,
  })
}

function headOf({ place, kind, graceUntil }: DevicePageView) {
  const { device, language } = place.texts
  switch (kind) {
    case 'asked':
      return device
    case 'missing':
      return { title: device.missingTitle, intro: device.missingIntro }
    case 'failing':
      return { title: device.failingTitle, intro: device.failingIntro }
    case 'warned': {
      const { warningTitle: title, warningIntro, graceIntro } = device
      if (graceUntil === undefined) return { title, intro: warningIntro }
      const long = { dateStyle: 'long', timeZone: 'UTC' } as const
      const date = new Intl.DateTimeFormat(language, long).format(graceUntil)
      return { title, intro: graceIntro(date) }
    }
  }
}

/** A tab of its own, so that this page stays: where there is no agent the browser shows its own error. */
function checkLink({ place, kind, checkUrl }: DevicePageView): Html {
  const { device } = place.texts
  const isAsked = kind === 'asked'
  return html`<a class="button${kind === 'warned' ? ' quiet' : ''}" href="${checkUrl}" target="_blank"
      rel="noopener noreferrer" data-check>${isAsked ? device.check : device.checkAgain}</a>
    <p class="hint below">${device.checkHint}</p>`
}

/** Sent by the script as well, once the other tab is done. */
function continueForm({ place, action, kind, stateUrl }: DevicePageView): Html {
  return html`<form method="post" action="${action}" data-poll="${stateUrl}">
    ${hiddenFields({ device: 'continue' })}
    <button type="submit" class="button quiet">${kind === 'warned' ? place.texts.device.checkedContinue : place.texts.device.continue}</button>
  </form>`
}

function withoutAgent(view: DevicePageView): Html {
  const { place, action, mayGoOn, mayType, typedProblem } = view
  const { device } = place.texts
  return html`<details ${typedProblem === undefined ? '' : html`open`}>
    <summary>${device.noAgent}</summary>
    <p>${device.noAgentHint}</p>
    ${mayType ? typedForm(view) : ''}
    ${
      mayGoOn
        ? form({ action, submit: device.goOnUnchecked, hidden: { device: 'go_on' }, isQuiet: true })
        : form({ action, submit: device.hasNone, hidden: { device: 'none' }, isQuiet: true })
    }
  </details>`
}

function typedForm({ place, action, typedProblem }: DevicePageView): Html {
  const { device } = place.texts
  return form({
    action,
    submit: device.typedSubmit,
    isQuiet: true,
    content: codeField({
      name: 'device_code',
      label: device.typedCode,
      hint: device.typedHint,
      isDigits: false,
      problem: typedProblem,
      hasFocus: typedProblem !== undefined,
    }),
  })
}

function failingList({ place, failing, platform }: DevicePageView): Html {
  if (failing.length === 0) return html``
  const language = place.texts.language as Language
  return html`<ul class="items">
    ${failing.map(({ what, reason, detail }) => {
      const { title, said, mend } = sayReason(language, { what, reason, platform })
      return html`<li>
        <div>
          <strong>${title}</strong>
          <span class="mend">${said}</span>
          ${detail === undefined ? '' : html`<span class="fact">${detail}</span>`}
          ${mend === undefined ? '' : html`<span class="mend">${mend}</span>`}
        </div>
      </li>`
    })}
  </ul>`
}

const stepsOf = (steps: readonly string[]) =>
  html`<ul class="steps">
    ${steps.map((line) => html`<li>${line}</li>`)}
  </ul>`

/** In the tab that has been at the agent. */
export function deviceCheckedPage(place: Place, signInUrl: string): Page {
  const { device } = place.texts
  return page({
    place,
    title: device.checkedTitle,
    content: html`${notice('success', device.checkedIntro)}
      <a class="button quiet" href="${signInUrl}">${device.continueHere}</a>`,
  })
}

/** `error`: what the agent was told, or says itself; only a word that we know is put into words. */
export function deviceFailedPage(place: Place, error: string, signInUrl: string): Page {
  const { device } = place.texts
  const known: Readonly<Record<string, string>> = device.failed
  const said = Object.hasOwn(known, error) ? known[error] : undefined
  return page({
    place,
    title: device.failedTitle,
    content: html`${notice('problem', said ?? device.failed.other)}
      <a class="button" href="${signInUrl}">${device.backToSignIn}</a>`,
  })
}
