import { html } from 'hono/html'
import { hiddenFields } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import type { FormView } from './form.ts'

interface PasskeyFormView extends FormView {
  readonly mode: 'create' | 'get'
  /** What the browser's own function takes, as JSON. */
  readonly options: object
  /** Shown by the script when the browser has come to nothing. */
  readonly failed: string
  /** Shown until the script takes it away, so also where one is blocked rather than off. */
  readonly needsScript: string
}

/** The script of the page fills the hidden field in; without it the page says what to do instead. */
export function passkeyForm(view: PasskeyFormView): Html {
  const { action, mode, options, submit, isQuiet = false, failed, needsScript } = view
  const { content = '', hidden = {} } = view
  return html`<form
    method="post"
    action="${action}"
    data-passkey="${mode}"
    data-options="${JSON.stringify(options)}"
  >
    <input type="hidden" name="passkey" value="" />
    ${hiddenFields(hidden)} ${content}
    <p class="error" role="alert" hidden>${failed}</p>
    ${notice('info', needsScript)}
    <button type="submit" class="button${isQuiet ? ' quiet' : ''}">${submit}</button>
  </form>`
}
