/** Fields of a form: a label, a hint, what is wrong, and what was typed, which is never lost. */
import { html } from 'hono/html'
import type { Html } from '../html.ts'

/** A form as it was sent, and what is wrong with it. */
export interface Attempt {
  readonly values: ReadonlyMap<string, string>
  readonly choices: ReadonlyMap<string, readonly string[]>
  /** By field, ready to be read: «Must be …». */
  readonly problems: ReadonlyMap<string, string>
  /** What belongs to no field. */
  readonly problem?: string | undefined
  /** Nothing is wrong with it: `problem` only says how things stand. */
  readonly isFine?: boolean
}

interface FieldView {
  /** The name in the form, and the id of the field on the page. */
  readonly name: string
  readonly label: string
  readonly hint?: string | Html | undefined
  readonly attempt?: Attempt | undefined
  /** What the notice `problem` says of this field among others. */
  readonly problem?: string | undefined
  /** What stands there before anybody has typed. */
  readonly value?: string | undefined
  /** Said beside the label. */
  readonly isOptional?: boolean
  /** May be left empty as well, but nobody has to be told so: of a filter. */
  readonly isFree?: boolean
}

export interface TextFieldView extends FieldView {
  readonly type?: 'text' | 'password' | 'email' | 'url' | 'search' | 'date'
  /** What the browser may fill in; `off` for what is no person's. */
  readonly autocomplete?: string
  readonly charactersMax?: number
  readonly placeholder?: string
  readonly hasFocus?: boolean
  /** Of a password: what the button says that shows it. */
  readonly showLabel?: string
}

export function textField(view: TextFieldView): Html {
  const { name, type = 'text', autocomplete = 'off', charactersMax, placeholder, hasFocus } = view
  return framed(
    view,
    html`<input
      id="${name}"
      name="${name}"
      type="${type === 'url' ? 'text' : type}"
      ${type === 'url' ? html`inputmode="url"` : '' /* what is wrong with it, we say better */}
      autocomplete="${autocomplete}"
      ${type === 'password' ? '' : html`value="${valueOf(view)}"`}
      ${autocomplete === 'name' ? '' : AS_TYPED}
      ${charactersMax === undefined ? '' : html`maxlength="${charactersMax}"`}
      ${placeholder === undefined ? '' : html`placeholder="${placeholder}"`}
      ${focus(view, hasFocus)}
      ${states(view)}
    />${type === 'password' ? showButton(view) : ''}`,
  )
}

/** For the script that makes it work; a page without scripts does not show it. */
function showButton({ name, showLabel = 'Show password' }: TextFieldView): Html {
  return html`<button type="button" class="reveal" data-reveal="${name}" aria-controls="${name}" aria-pressed="false" hidden>${showLabel}</button>`
}

const AS_TYPED = html`autocapitalize="none" autocorrect="off" spellcheck="false"`

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

interface CodeFieldView extends Omit<FieldView, 'name'> {
  readonly name?: string
  readonly hasFocus?: boolean
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
      ${AS_TYPED}
      maxlength="40"
      ${focus({ ...view, name }, view.hasFocus)}
      ${states({ ...view, name })}
    />`,
  )
}

/** A whole number, which phones type with digits alone. */
export function wholeField(view: FieldView): Html {
  return framed(
    view,
    html`<input
      id="${view.name}"
      name="${view.name}"
      class="number"
      type="text"
      inputmode="numeric"
      autocomplete="off"
      value="${valueOf(view)}"
      ${focus(view)} ${states(view)}
    />`,
  )
}

/** A file to send along; browsers show none that was chosen before. */
export function fileField(view: FieldView & { readonly accept: string }): Html {
  return framed(
    view,
    html`<input
      id="${view.name}"
      name="${view.name}"
      type="file"
      accept="${view.accept}"
      ${focus(view)} ${states(view)}
    />`,
  )
}

/** Several lines, or one item a line. A line break first, since browsers swallow one. */
export function linesField(view: FieldView & { readonly rows?: number }): Html {
  const { name, rows = 3 } = view
  return framed(
    view,
    html`<textarea id="${name}" name="${name}" rows="${rows}" spellcheck="false" ${focus(view)} ${states(view)}>
${valueOf(view)}</textarea
    >`,
  )
}

export interface Option {
  readonly value: string
  readonly label: string
  readonly hint?: string
}

export function selectField(view: FieldView & { readonly options: readonly Option[] }): Html {
  const { name, options } = view
  const chosen = valueOf(view)
  return framed(
    view,
    html`<select id="${name}" name="${name}" ${focus(view)} ${states(view)}>
      ${options.map(
        ({ value, label }) =>
          html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${label}</option>`,
      )}
    </select>`,
  )
}

export function checkField(view: FieldView & { readonly isOn?: boolean }): Html {
  const { name, label, attempt, isOn = false } = view
  const isTicked = attempt === undefined ? isOn : attempt.values.has(name)
  return html`<div class="field check">
    <input type="checkbox" id="${name}" name="${name}" ${isTicked ? html`checked` : ''} ${focus(view)} ${described(view)} />
    <label for="${name}">${label}</label>
    ${remarks(view)}
  </div>`
}

/** Some of several. */
export function choicesField(
  view: FieldView & { readonly options: readonly Option[]; readonly chosen?: readonly string[] },
): Html {
  const { name, label, attempt, options, chosen = [] } = view
  const ticked = attempt === undefined ? chosen : (attempt.choices.get(name) ?? [])
  return html`<fieldset class="field" id="${name}" ${described(view)}>
    <legend>${label}</legend>
    ${remarks(view)}
    ${options.map(
      ({ value, label: text, hint }, index) =>
        html`<div class="check">
          <input
            type="checkbox"
            id="${name}-${index}"
            name="${name}"
            value="${value}"
            ${ticked.includes(value) ? html`checked` : ''}
            ${index === 0 ? focus(view) : ''}
          />
          <label for="${name}-${index}">${text}${hint === undefined ? '' : html` <span class="hint">${hint}</span>`}</label>
        </div>`,
    )}
  </fieldset>`
}

/** Without a script: the first field that is wrong has it, else the one that the page begins with. */
function focus({ name, attempt }: FieldView, hasFocus = false): Html | string {
  const [firstWrong] = attempt?.problems.keys() ?? []
  return (firstWrong === undefined ? hasFocus : firstWrong === name) ? html`autofocus` : ''
}

function valueOf({ name, attempt, value = '' }: FieldView): string {
  return attempt === undefined ? value : (attempt.values.get(name) ?? '')
}

function framed(view: FieldView, input: Html): Html {
  const { name, label, isOptional = false } = view
  return html`<div class="field">
    <label for="${name}">${label}${isOptional ? html` <span class="hint">optional</span>` : ''}</label>
    ${remarks(view)} ${input}
  </div>`
}

function remarks({ name, hint, attempt }: FieldView): Html {
  const problem = attempt?.problems.get(name)
  return html`${hint === undefined ? '' : html`<p class="hint" id="${name}-hint">${hint}</p>`}
  ${problem === undefined ? '' : html`<p class="error" id="${name}-error">${problem}</p>`}`
}

function states(view: FieldView): Html {
  const { isOptional = false, isFree = false } = view
  return html`${isOptional || isFree ? '' : html`required`} ${described(view)}`
}

function described({ name, hint, attempt, problem }: FieldView): Html {
  const isWrong = attempt?.problems.has(name) === true
  const ids = [
    hint !== undefined && `${name}-hint`,
    isWrong && `${name}-error`,
    problem !== undefined && 'problem',
  ].filter((id) => typeof id === 'string')
  return html`${isWrong || problem !== undefined ? html`aria-invalid="true"` : ''}
  ${ids.length === 0 ? '' : html`aria-describedby="${ids.join(' ')}"`}`
}
