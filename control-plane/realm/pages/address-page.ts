/** The first page of a sign-in where there are providers: who it is says where they prove it. */
import { html } from 'hono/html'
import { notice } from '../../pages/blocks/notice.ts'
import { otherWay } from './blocks/form.ts'
import { pageWithForm } from './page-with-form.ts'
import type { Page, Place } from './layout.ts'
import { connectionButtons, headOf, loginField, type ConnectionButton } from './sign-in-page.ts'

interface AddressView {
  readonly place: Place & { readonly name: string }
  readonly applicationHost: string
  readonly action: string
  readonly username: string
  readonly isConfirmation?: boolean
  readonly problem?: string | undefined
  readonly notice?: string | undefined
  readonly connections: readonly ConnectionButton[]
  readonly emergencyUrl?: string | undefined
  readonly signUpUrl?: string | undefined
}

export function addressPage(view: AddressView): Page {
  const {
    place,
    action,
    username,
    problem,
    notice: why,
    connections,
    emergencyUrl,
    signUpUrl,
  } = view
  const { texts } = place
  const isTold = why !== undefined && problem === undefined
  return pageWithForm({
    ...{ place, action, problem, ...headOf(view) },
    submit: texts.connections.next,
    above: isTold ? notice('info', why) : undefined,
    fields: [loginField(texts, username, true)],
    below: html`<p class="divider"><span>${texts.connections.orElse}</span></p>
      ${connectionButtons(connections, texts, 'quiet')}
      ${emergencyUrl === undefined ? '' : otherWay(emergencyUrl, texts.connections.emergency)}
      ${signUpUrl === undefined ? '' : otherWay(signUpUrl, texts.signUp.create)}`,
  })
}
