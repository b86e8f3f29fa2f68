/** Forms: each with the proofs that it is ours, and what is wrong with it at its top. */
import { html } from 'hono/html'
import { CSRF_FIELD, FORM_ID_FIELD, type Attempt } from '../form-values.ts'
import type { Html } from '../../pages/html.ts'
import type { View, Visit } from '../route.ts'
import { notice } from './notice.ts'

interface FormView {
  readonly action: string
  /** What the one button says. */
  readonly submit: string
  readonly content?: Html | readonly Html[]
  /** Sent along as they are. */
  readonly hidden?: Readonly<Record<string, string>>
  /** danger: it takes something away. quiet: not what one came for. small: within a list. */
  readonly look?: 'danger' | 'quiet' | 'small'
  /** What it says of the form as a whole; the fields say the rest. */
  readonly attempt?: Attempt | undefined
  /** Another way out, beside the button. */
  readonly cancel?: string
  /** Where ten buttons say «End»: what this one is about. */
  readonly about?: string
}

export function form(visit: Pick<Visit, 'proofs'>, view: FormView): Html {
  const { action, submit, content = [], hidden = {}, look, attempt, cancel, about } = view
  const { proofs } = visit
  const sent: Record<string, string> =
    proofs === undefined
      ? { ...hidden }
      : { ...hidden, [CSRF_FIELD]: proofs.csrf, [FORM_ID_FIELD]: proofs.newFormId() }
  return html`<form method="post" action="${action}" ${look === 'small' ? html`class="inline"` : ''}>
    ${problemOf(attempt)}
    ${Object.entries(sent).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${content}
    <div class="submit">
      <button type="submit" class="button ${look ?? ''}">
        ${submit}${about === undefined ? '' : html`<span class="unseen"> ${about}</span>`}
      </button>
      ${cancel === undefined ? '' : html`<a class="button quiet" href="${cancel}">Cancel</a>`}
    </div>
  </form>`
}

function problemOf(attempt: Attempt | undefined): Html | string {
  if (attempt === undefined) return ''
  if (attempt.problem !== undefined) return notice('problem', attempt.problem)
  const count = attempt.problems.size
  if (count === 0) return ''
  return notice(
    'problem',
    count === 1 ? 'One field has to be put right.' : `${count} fields have to be put right.`,
  )
}

/** Looks like a button and goes somewhere. */
export function linkButton(href: string, label: string, look: 'quiet' | 'small' | '' = ''): Html {
  return html`<a class="button ${look}" href="${href}">${label}</a>`
}

export interface ConfirmView {
  /** A question: «Suspend Acme?» */
  readonly title: string
  /** What will happen, and to whom; each a sentence. */
  readonly effects: readonly (string | Html)[]
  readonly action: string
  /** What the button says, in a verb of its own: «Suspend it». */
  readonly submit: string
  readonly cancel: string
  readonly hidden?: Readonly<Record<string, string>>
  readonly content?: Html
  readonly isHarmless?: boolean
  readonly attempt?: Attempt | undefined
}

/** A page that asks before something is done that cannot be undone, or that people notice. */
export function confirmView(
  visit: Pick<Visit, 'proofs'>,
  { title, effects, isHarmless = false, ...rest }: ConfirmView,
): Pick<View, 'title' | 'content'> {
  return {
    title,
    content: html`<div class="card narrow">
      <ul class="effects">${effects.map((effect) => html`<li>${effect}</li>`)}</ul>
      ${form(visit, { ...rest, ...(!isHarmless && { look: 'danger' as const }) })}
    </div>`,
  }
}
