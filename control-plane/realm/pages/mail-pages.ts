/** Pages of a sign-in by email, and of an account that begins with one: while the mail is on its way, and behind its link. */
import { html } from 'hono/html'
import { codeField } from '../../pages/blocks/field.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { form, otherWay } from './blocks/form.ts'
import { page, type Asked, type Page, type Place } from './layout.ts'
import { pageWithForm } from './page-with-form.ts'
import type { Texts } from './texts/english.ts'

interface MailSentView extends Asked {
  readonly place: Place & { readonly name: string }
  /** As it was typed. */
  readonly login: string
  /** Why there is no other mail yet. */
  readonly notice?: string | undefined
  /** Back to the password. */
  readonly otherWaysUrl: string
  /** Of a mail that is for something else than to sign in. */
  readonly words?: Texts['mail']['sent']
}

/** The same for everybody, whether there is such an account or not. */
export function mailAskedPage(view: MailSentView): Page {
  const { place, action, login, problem, otherWaysUrl, notice: why } = view
  const { words: sent = place.texts.mail.sent } = view
  return page({
    place,
    title: sent.title,
    intro: sent.intro(login),
    problem,
    content: html`${why === undefined ? '' : notice('info', why)}
      <ul class="steps">
        ${sent.steps.map((line) => html`<li>${line}</li>`)}
      </ul>
      ${form({
        action,
        submit: sent.submit,
        content: codeField({ label: sent.code, problem, hasFocus: true }),
      })}
      ${form({ action, submit: sent.again, hidden: { again: '1' }, isQuiet: true })}
      ${otherWay(otherWaysUrl, sent.otherWays)}`,
  })
}

/** A person has to press: programs that look into mails open every link. */
export function mailOpenedPage(view: {
  readonly place: Place & { readonly name: string }
  readonly action: string
  readonly ticket: string
  readonly applicationHost: string
  readonly login: string
  readonly words?: Texts['mail']['opened']
}): Page {
  const { place, action, ticket, applicationHost, login, words = place.texts.mail.opened } = view
  const { title, intro, submit } = words
  return pageWithForm({
    ...{ place, action, title, submit },
    intro: intro(applicationHost, login),
    hidden: { ticket },
  })
}
