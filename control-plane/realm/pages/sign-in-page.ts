import { html } from 'hono/html'
import type { Page, Place } from './layout.ts'
import { alert, page } from './layout.ts'

export interface SignInView {
  readonly place: Place & { readonly name: string }
  /** Where the person is going, as they know it: `app.example.com`. */
  readonly applicationHost: string
  /** Where the form goes. */
  readonly action: string
  readonly username: string
  readonly problem?: string | undefined
}

export function signInPage(view: SignInView): Page {
  const { texts } = view.place
  const { username, problem } = view
  const isRetry = username !== ''
  return page({
    place: view.place,
    title: texts.signIn,
    heading: view.place.name,
    intro: texts.signInTo(view.applicationHost),
    content: html`
      ${problem === undefined ? '' : alert('problem', problem)}
      <form method="post" action="${view.action}">
        <div class="field">
          <label for="username">${texts.username}</label>
          <input
            id="username"
            name="username"
            type="text"
            value="${username}"
            autocomplete="username"
            autocapitalize="none"
            autocorrect="off"
            spellcheck="false"
            maxlength="320"
            required
            ${problem === undefined ? '' : html`aria-invalid="true" aria-describedby="problem"`}
            ${isRetry ? '' : html`autofocus`}
          />
        </div>
        <div class="field">
          <label for="password">${texts.password}</label>
          <input
            id="password"
            name="password"
            type="password"
            autocomplete="current-password"
            maxlength="1024"
            required
            ${problem === undefined ? '' : html`aria-invalid="true" aria-describedby="problem"`}
            ${isRetry ? html`autofocus` : ''}
          />
        </div>
        <button type="submit">${texts.signIn}</button>
      </form>
    `,
  })
}
