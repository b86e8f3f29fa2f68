import { html } from 'hono/html'
import type { TextFieldView } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import type { Html } from '../../pages/html.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { otherWay } from './blocks/form.ts'
import { pageWithForm } from './page-with-form.ts'
import { page, type Page, type Place } from './layout.ts'
import type { Texts } from './texts/english.ts'

export interface ConnectionButton {
  readonly name: string
  readonly href: string
}

interface SignInView {
  readonly place: Place & { readonly name: string }
  /** Where the person is going, as they know it: `app.example.com`. */
  readonly applicationHost: string
  /** Where the form goes. */
  readonly action: string
  readonly username: string
  /** Of somebody who may be signed in: they are told why they are asked again. */
  readonly isConfirmation?: boolean
  readonly problem?: string | undefined
  /** Why the person is here again. */
  readonly notice?: string | undefined
  /** Where a new password is asked for; not for people of a tenant's own database. */
  readonly forgottenUrl?: string | undefined
  /** Providers that one may come in by instead. */
  readonly connections?: readonly ConnectionButton[]
  /** Back to the page with all ways to sign in, where there are more. */
  readonly otherWaysUrl?: string | undefined
  /** Everybody has to, but people with emergency access: where the form for these is. */
  readonly emergencyUrl?: string | undefined
  /** An email lets people in as well. */
  readonly isMailOffered?: boolean
  /** Where people make an account themselves. */
  readonly signUpUrl?: string | undefined
  /** It is the page with that form. */
  readonly isEmergency?: boolean
}

export function signInPage(view: SignInView): Page {
  const {
    place,
    action,
    username,
    problem,
    notice: why,
    forgottenUrl,
    otherWaysUrl,
    connections = [],
    emergencyUrl,
    signUpUrl,
    isEmergency = false,
    isMailOffered = false,
  } = view
  const { texts } = place
  const isRetry = username !== ''
  const shownWhy = why === undefined || problem !== undefined ? undefined : notice('info', why)
  const head = headOf(view)
  if (emergencyUrl !== undefined)
    return page({
      ...{ place, ...head },
      content: html`${shownWhy ?? ''} ${problem === undefined ? '' : notice('problem', problem)}
      ${connectionButtons(connections, texts, undefined)}
      ${otherWay(emergencyUrl, texts.connections.emergency)}`,
    })
  const { or, orEmergency } = texts.connections
  return pageWithForm({
    ...{ place, action, problem, ...head },
    submit: texts.signIn,
    other: isMailOffered ? { name: 'by_email', label: texts.mail.ask } : undefined,
    above:
      connections.length === 0
        ? shownWhy
        : html`${shownWhy ?? ''} ${connectionButtons(connections, texts, 'quiet')}
            <p class="divider"><span>${isEmergency ? orEmergency : or}</span></p>`,
    fields: [
      loginField(texts, username, !isRetry),
      {
        name: 'password',
        label: texts.password,
        type: 'password',
        autocomplete: 'current-password',
        charactersMax: 1024,
        hasFocus: isRetry,
      },
    ],
    below: html`${
      forgottenUrl === undefined ? '' : otherWay(forgottenUrl, texts.account.forgotten.title)
    }
    ${otherWaysUrl === undefined ? '' : otherWay(otherWaysUrl, texts.connections.otherWays)}
    ${signUpUrl === undefined ? '' : otherWay(signUpUrl, texts.signUp.create)}`,
  })
}

/** What both pages of a sign-in begin with. */
export function headOf({
  place,
  applicationHost,
  isConfirmation,
}: Pick<SignInView, 'place' | 'applicationHost' | 'isConfirmation'>) {
  const { texts } = place
  return {
    title: texts.signIn,
    heading: place.name,
    intro: isConfirmation === true ? texts.confirmIdentity : texts.signInTo(applicationHost),
  }
}

export const loginField = (texts: Texts, username: string, hasFocus: boolean): TextFieldView => ({
  name: 'username',
  label: texts.username,
  autocomplete: 'username',
  value: username,
  charactersMax: 320,
  hasFocus,
})

export function connectionButtons(
  connections: readonly ConnectionButton[],
  { connections: texts }: Texts,
  look: 'quiet' | undefined,
): Html {
  return html`<nav class="connections">
    ${connections.map(({ name, href }) => linkButton(href, texts.continueWith(name), look))}
  </nav>`
}
