import { html } from 'hono/html'
import { form, linkButton } from './blocks/form.ts'
import { page, type Page, type Place } from './layout.ts'

interface SignOutView {
  readonly place: Place & { readonly name: string }
  readonly action: string
  /** Sent with the form as they are. */
  readonly fields: Readonly<Record<string, string>>
  readonly applicationUrl: string
}

export function signOutPage({ place, action, fields, applicationUrl }: SignOutView): Page {
  const { texts } = place
  return page({
    place,
    title: texts.signOut,
    heading: texts.signOutAsk(place.name),
    intro: texts.signOutIntro,
    content: html`
      ${form({ action, submit: texts.signOut, hidden: fields })}
      ${linkButton(applicationUrl, texts.staySignedIn, { isQuiet: true })}
    `,
  })
}

export function signedOutPage(place: Place, applicationUrl: string): Page {
  const { texts } = place
  return page({
    place,
    title: texts.signedOut,
    intro: texts.signedOutIntro,
    content: linkButton(applicationUrl, texts.signInAgain),
  })
}
