/** Forms: each with the proofs that it is ours, and what is wrong with it at its top. */
import { html, raw } from 'hono/html'
import { CSRF_FIELD, FORM_ID_FIELD } from '../form-values.ts'
import type { Attempt } from '../../pages/blocks/field.ts'
import { hiddenFields } from '../../pages/blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import type { Html } from '../../pages/html.ts'
import type { Visit } from '../route.ts'

interface FormView {
  readonly action: string
  /** What the one button says. */
  readonly submit: string
  readonly content?: Html | readonly Html[] | undefined
  /** Sent along as they are. */
  readonly hidden?: Readonly<Record<string, string>> | undefined
  /** danger: it takes something away. quiet: not what one came for. small: within a list. */
  readonly look?: 'danger' | 'quiet' | 'small' | undefined
  /** What it says of the form as a whole; the fields say the rest. */
  readonly attempt?: Attempt | undefined
  /** It may bring a file along. */
  readonly isUpload?: boolean
  /** Another way out, beside the button. */
  readonly cancel?: string
  /** Where ten buttons say «End»: what this one is about. */
  readonly about?: string
}

export function form(visit: Pick<Visit, 'proofs'>, view: FormView): Html {
  const { action, submit, content = [], hidden = {}, look, attempt, cancel, about, isUpload } = view
  const { proofs } = visit
  if (proofs?.isReadOnly === true) return asItIs(content)
  const sent: Record<string, string> =
    proofs === undefined
      ? { ...hidden }
      : { ...hidden, [CSRF_FIELD]: proofs.csrf, [FORM_ID_FIELD]: proofs.newFormId() }
  return html`<form method="post" action="${action}" ${isUpload === true ? html`enctype="multipart/form-data"` : ''} ${look === 'small' ? html`class="inline"` : ''}>
    ${problemOf(attempt, content)}
    ${hiddenFields(sent)} ${content}
    <div class="submit">
      <button type="submit" class="button ${look ?? ''}">
        ${submit}${about === undefined ? '' : html`<span class="unseen"> ${about}</span>`}
      </button>
      ${cancel === undefined ? '' : html`<a class="button quiet" href="${cancel}">Cancel</a>`}
    </div>
  </form>`
}

/** For who may only look: what the fields hold, and nothing that could be sent. */
function asItIs(content: FormView['content']): Html {
  const isEmpty = Array.isArray(content) && content.length === 0
  return isEmpty ? html`` : html`<fieldset class="plain" disabled>${content}</fieldset>`
}

/** Where a page has nothing beside it. */
export const formCard = (visit: Pick<Visit, 'proofs'>, view: FormView): Html =>
  html`<div class="card narrow">${form(visit, view)}</div>`

/** What is wrong, each a link to its field; what belongs to none has the focus itself. */
function problemOf(attempt: Attempt | undefined, content: FormView['content']): Html | string {
  if (attempt === undefined) return ''
  if (attempt.problem !== undefined)
    return html`<div tabindex="-1" autofocus>${notice(attempt.isFine === true ? 'info' : 'problem', attempt.problem)}</div>`
  const wrong = [...attempt.problems]
  if (wrong.length === 0) return ''
  const labels = labelsIn(content)
  return notice(
    'problem',
    wrong.length === 1 ? 'Fix one field' : `Fix ${wrong.length} fields`,
    html`<ul>
      ${wrong.map(
        ([name, problem]) =>
          html`<li>${labels.has(name) ? html`<a href="#${name}">${raw(labels.get(name))}</a>: ` : ''}${problem}</li>`,
      )}
    </ul>`,
  )
}

const LABEL =
  /<label for="(?<field>[^"]+)">(?<label>[^<]+)|<fieldset class="field" id="(?<group>[^"]+)"[^>]*>\s*<legend>(?<legend>[^<]+)/g

/** What the fields are called on this very page; as it stands there, so it is escaped already. */
function labelsIn(content: FormView['content']): ReadonlyMap<string, string> {
  const rendered = html`${content}`
  const found = rendered instanceof Promise ? [] : rendered.matchAll(LABEL)
  return new Map(
    [...found].map(({ groups = {} }) => {
      const { field, group = '', label, legend = '' } = groups
      return [field ?? group, (label ?? legend).trim()] as const
    }),
  )
}
