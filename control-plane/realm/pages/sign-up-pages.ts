/** An account that people make themselves: which address, who they are, and the wait for an administrator. */
import { html } from 'hono/html'
import { linkButton } from '../../pages/blocks/form.ts'
import { newPasswordFields } from './account-pages.ts'
import { otherWay } from './blocks/form.ts'
import { page, type Asked, type Page, type Place } from './layout.ts'
import { pageWithForm } from './page-with-form.ts'

type NamedPlace = Place & { readonly name: string }

interface AddressView extends Asked {
  readonly place: NamedPlace
  readonly email: string
  readonly signInUrl: string
}

export function signUpPage({ email, signInUrl, ...view }: AddressView): Page {
  const { texts, name } = view.place
  const { title, intro, submit, email: label, signIn } = texts.signUp.address
  return pageWithForm({
    ...{ ...view, title, submit },
    intro: intro(name),
    fields: [
      {
        ...{ name: 'email', label, type: 'email', autocomplete: 'email' },
        ...{ value: email, charactersMax: 320, hasFocus: true },
      },
    ],
    below: otherWay(signInUrl, signIn),
  })
}

interface DetailsView extends Asked {
  readonly place: NamedPlace
  readonly email: string
  readonly name: string
  /** Which of the fields the problem is about. */
  readonly wrong?: readonly string[] | undefined
  readonly charactersMin: number
  /** Not where an email lets people in. */
  readonly hasPassword: boolean
  readonly needsApproval: boolean
}

export function signUpDetailsPage(view: DetailsView): Page {
  const { place, action, problem, wrong, email, name, charactersMin, hasPassword } = view
  const { details } = place.texts.signUp
  const passwords = hasPassword ? newPasswordFields(place, charactersMin) : []
  return pageWithForm({
    ...{ place, action, problem, wrong, title: details.title },
    intro: hasPassword ? details.introPassword(email) : details.intro(email),
    submit: view.needsApproval ? details.submitRequest : details.submit,
    owner: email,
    fields: [
      {
        ...{ name: 'name', label: details.name, autocomplete: 'name', value: name },
        ...{ charactersMax: 200, hasFocus: true },
      },
      ...passwords,
    ],
  })
}

export function signUpWaitingPage(place: NamedPlace, email: string, applicationUrl: string): Page {
  const { title, intro, steps } = place.texts.signUp.waiting
  return page({
    ...{ place, title },
    intro: intro(email),
    content: html`<ul class="steps">
        ${steps.map((line) => html`<li>${line}</li>`)}
      </ul>
      ${linkButton(applicationUrl, place.texts.backToApplication, 'quiet')}`,
  })
}
