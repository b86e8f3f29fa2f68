import { linkButton } from '../../pages/blocks/form.ts'
import { pageWithForm, pageOnwards } from './page-with-form.ts'
import type { Page, Place } from './layout.ts'

interface SignOutView {
  readonly place: Place & { readonly name: string }
  readonly action: string
  /** Sent with the form as they are. */
  readonly fields: Readonly<Record<string, string>>
  readonly applicationUrl: string
}

export function signOutPage({ place, action, fields, applicationUrl }: SignOutView): Page {
  const { texts } = place
  return pageWithForm({
    place,
    title: texts.signOut,
    heading: texts.signOutAsk(place.name),
    intro: texts.signOutIntro,
    action,
    submit: texts.signOut,
    hidden: fields,
    below: linkButton(applicationUrl, texts.staySignedIn, 'quiet'),
  })
}

export function signedOutPage(place: Place, applicationUrl: string): Page {
  const { signedOut, signedOutIntro, signInAgain } = place.texts
  const says = { title: signedOut, intro: signedOutIntro }
  return pageOnwards(place, says, [applicationUrl, signInAgain])
}
