/** Fields of a form: each with its label, a hint before it and what is wrong with it below that. */
import { html } from 'hono/html'
import type { Html } from '../../../pages/html.ts'

export interface FieldView {
  /** The name in the form, and the id of the field on the page. */
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password' | 'email'
  /** What the browser may fill in (`username`, `new-password`, …); required, as it helps everybody. */
  readonly autocomplete: string
  readonly value?: string
  readonly hint?: string | undefined
  readonly error?: string | undefined
  /** The id of a notice that speaks of this field among others. */
  readonly describedBy?: string | undefined
  readonly hasFocus?: boolean
  readonly isOptional?: boolean
  readonly charactersMax?: number
}

export function field(view: FieldView): Html {
  const { name, label, type = 'text', autocomplete, value, charactersMax } = view
  const isName = type !== 'password' && autocomplete !== 'name'
  return framed(
    view,
    html`<input
      id="${name}"
      name="${name}"
      type="${type}"
      ${value === undefined ? '' : html`value="${value}"`}
      autocomplete="${autocomplete}"
      ${isName ? html`autocapitalize="none" autocorrect="off" spellcheck="false"` : ''}
      ${charactersMax === undefined ? '' : html`maxlength="${charactersMax}"`}
      ${states(view)}
    />`,
    label,
  )
}

/** Whose password a form is about: seen by nobody, but password managers file it under this name. */
export function ownerField(username: string): Html {
  return html`<input
    name="username"
    type="text"
    value="${username}"
    autocomplete="username"
    readonly
    hidden
  />`
}

interface CodeFieldView extends Pick<
  FieldView,
  'label' | 'hint' | 'error' | 'describedBy' | 'hasFocus'
> {
  readonly name?: string
  /** A recovery code has letters, so that a phone shows all its keys. */
  readonly isDigits?: boolean
}

/** Phones offer the code that has just arrived; spaces and dashes in it are the reader's matter. */
export function codeField({ name = 'code', isDigits = true, ...view }: CodeFieldView): Html {
  return framed(
    { ...view, name },
    html`<input
      id="${name}"
      name="${name}"
      class="code"
      type="text"
      inputmode="${isDigits ? 'numeric' : 'text'}"
      autocomplete="one-time-code"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      maxlength="40"
      ${states({ ...view, name })}
    />`,
    view.label,
  )
}

function framed(
  { name, hint, error }: Omit<FieldView, 'autocomplete'>,
  input: Html,
  label: string,
) {
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint === undefined ? '' : html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error === undefined ? '' : html`<p class="error" id="${name}-error">${error}</p>`} ${input}
  </div>`
}

function states(view: Omit<FieldView, 'autocomplete' | 'label'>): Html {
  const { name, hint, error, describedBy, hasFocus = false, isOptional = false } = view
  const ids = [
    hint !== undefined && `${name}-hint`,
    error !== undefined && `${name}-error`,
    describedBy,
  ].filter((id) => typeof id === 'string')
  const isWrong = error !== undefined || describedBy !== undefined
  return html`${isOptional ? '' : html`required`}
  ${isWrong ? html`aria-invalid="true"` : ''}
  ${ids.length === 0 ? '' : html`aria-describedby="${ids.join(' ')}"`}
  ${hasFocus ? html`autofocus` : ''}`
}
