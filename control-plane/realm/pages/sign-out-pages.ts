import { html } from 'hono/html'
import type { Html, Place } from './layout.ts'
import { page } from './layout.ts'
import { TEXTS } from './texts.ts'

export interface SignOutView {
  readonly place: Place & { readonly name: string }
  readonly action: string
  /** Sent with the form as they are. */
  readonly fields: Readonly<Record<string, string>>
  readonly applicationUrl: string
}

export function signOutPage({ place, action, fields, applicationUrl }: SignOutView): Html {
  return page({
    place,
    title: TEXTS.signOut,
    heading: TEXTS.signOutAsk(place.name),
    intro: TEXTS.signOutIntro,
    content: html`
      <form method="post" action="${action}">
        ${Object.entries(fields).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        <button type="submit">${TEXTS.signOut}</button>
      </form>
      <a class="button quiet" href="${applicationUrl}">${TEXTS.staySignedIn}</a>
    `,
  })
}

export function signedOutPage(place: Place, applicationUrl: string): Html {
  return page({
    place,
    title: TEXTS.signedOut,
    heading: TEXTS.signedOut,
    intro: TEXTS.signedOutIntro,
    content: html`<a class="button" href="${applicationUrl}">${TEXTS.signInAgain}</a>`,
  })
}
