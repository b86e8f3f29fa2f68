/**
 * A form of ours becomes what the operator API takes as JSON, so that one schema checks both.
 * What cannot be read stays text, and the schema says what it should have been.
 */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { hasTooManyFields } from '../../shared/form-fields.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Attempt } from '../pages/blocks/field.ts'
import { DAY_SECONDS, durationWish, HOUR_SECONDS, parseDuration } from './durations.ts'

/**
 * text: as it was typed. optional: left out where empty. nullable: null where empty. moment: a date, perhaps with a time, of UTC, null where empty. lines: a list,
 * a line each. whole: a number. seconds, hours, days: a length of time, in these. flag: a checkbox.
 * choices: the ticked ones of several. secret: text that is neither shown again nor kept. optional_secret: the same, left out where empty. picture: a file, in base64.
 */
type FieldKind =
  | 'text'
  | 'optional'
  | 'nullable'
  | 'moment'
  | 'lines'
  | 'whole'
  | 'seconds'
  | 'hours'
  | 'days'
  | 'flag'
  | 'choices'
  | 'secret'
  | 'optional_secret'
  | 'picture'
export type FormShape = Readonly<Record<string, FieldKind>>

/** What every form carries besides (`blocks/form.ts`). */
export const CSRF_FIELD = 'csrf'
export const FORM_ID_FIELD = 'form_id'

export type SentForm = Pick<Attempt, 'values' | 'choices'>

/** A name that comes twice is refused unless it is made for that: two readers would read two things. */
export function readSentForm(text: string, shape: FormShape): SentForm {
  if (hasTooManyFields(text)) throw tooManyFields()
  const values = new Map<string, string>()
  const choices = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (shape[name] === 'choices') {
      choices.set(name, [...(choices.get(name) ?? []), value])
    } else if (values.has(name))
      throw new Refusal('field_invalid', { field: name.slice(0, 100) }, 'A field was sent twice.')
    else values.set(name, value)
  }
  return { values, choices }
}

export const tooManyFields = () =>
  new Refusal(
    'body_too_large',
    { items_max: LIMITS.formFieldsMax },
    'The form has too many fields.',
  )

export function bodyOf(shape: FormShape, { values, choices }: SentForm): Record<string, unknown> {
  const entries = Object.entries(shape).map(([name, kind]) => [
    name,
    kind === 'choices' ? (choices.get(name) ?? []) : valueOf(kind, values.get(name)),
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<
    string,
    unknown
  >
}

function valueOf(kind: Exclude<FieldKind, 'choices'>, given: string | undefined): unknown {
  // browsers send every line end of a textarea as CRLF
  const text = (given ?? '').replaceAll('\r\n', '\n')
  switch (kind) {
    case 'text':
    case 'secret':
      return text
    case 'optional':
    case 'optional_secret':
    case 'picture':
      return text === '' ? undefined : text
    case 'nullable':
      return text === '' ? null : text
    case 'moment':
      return text.trim() === '' ? null : momentIn(text.trim())
    case 'lines':
      return linesOf(text)
    case 'whole':
      return text === '' ? undefined : /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text
    case 'seconds':
      return text === '' ? undefined : (parseDuration(text) ?? text)
    case 'hours':
      return text === '' ? undefined : wholeIn(text, HOUR_SECONDS)
    case 'days':
      return text === '' ? undefined : wholeIn(text, DAY_SECONDS)
    case 'flag':
      return given !== undefined
  }
}

/** `2027-01-31 14:00` → `2027-01-31T14:00:00Z`; with a zone of its own, as it was typed. */
function momentIn(text: string): string {
  const [, date, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))?(?: UTC)?$/.exec(text) ?? []
  return date === undefined ? text : `${date}T${time}:00Z`
}

/** So many, and whole; or what was typed: the schema says what it should have been. */
function wholeIn(text: string, unitSeconds: number): number | string {
  const count = (parseDuration(text, unitSeconds) ?? Number.NaN) / unitSeconds
  return Number.isInteger(count) ? count : text
}

const linesOf = (text: string) =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

type Checked<Body> =
  | { readonly kind: 'good'; readonly body: Body }
  | { readonly kind: 'wrong'; readonly attempt: Attempt }

/** All fields at once, so that nobody mends one after the other. */
export function checkForm<Schema extends v.GenericSchema>(
  shape: FormShape,
  schema: Schema | undefined,
  sent: SentForm,
): Checked<v.InferOutput<Schema> | undefined> {
  if (schema === undefined) return { kind: 'good', body: undefined }
  const result = v.safeParse(schema, bodyOf(shape, sent))
  if (result.success) return { kind: 'good', body: result.output }
  const problems = new Map<string, string>()
  for (const issue of result.issues) {
    const key = (issue.path?.[0] as { key?: unknown } | undefined)?.key
    const field = typeof key === 'string' ? key : ''
    const isUnticked = shape[field] === 'choices' && !sent.choices.has(field)
    const problem = isUnticked
      ? `Select at least one ${field.replace(/s$/, '')}.`
      : wishOf(issue, shape[field])
    if (!problems.has(field)) problems.set(field, problem)
  }
  const problem = problems.get('')
  problems.delete('')
  // in the order of the form, whose first wrong field gets the focus
  const places = Object.keys(shape)
  const sorted = [...problems].sort(([a], [b]) => places.indexOf(a) - places.indexOf(b))
  return { kind: 'wrong', attempt: { ...kept(shape, sent), problems: new Map(sorted), problem } }
}

/** valibot's own words speak of types; ours complete «must be …». */
function wishOf({ message }: v.BaseIssue<unknown>, kind: FieldKind | undefined): string {
  if (/^Invalid /.test(message)) return 'This field is required.'
  if (kind === 'seconds') return `Must be ${durationWish(message)}.`
  if (kind === 'moment') return 'Must be a date like 2027-01-31, or 2027-01-31 14:00, in UTC.'
  if (kind === 'hours') return `Must be ${durationWish(message, HOUR_SECONDS)}.`
  if (kind === 'days') return `Must be ${durationWish(message, DAY_SECONDS)}.`
  return `Must be ${message}.`
}

/** What a service has refused, beside its field where it names one of this form. */
export function refusedAttempt(shape: FormShape, sent: SentForm, refusal: Refusal): Attempt {
  const { field } = refusal.fields
  const isOfField = typeof field === 'string' && Object.hasOwn(shape, field)
  return {
    ...kept(shape, sent),
    problems: new Map(isOfField ? [[field, refusal.detail]] : []),
    problem: isOfField ? undefined : refusal.detail,
  }
}

export const isSecret = (kind: FieldKind | undefined) =>
  kind === 'secret' || kind === 'optional_secret'

/** What may be shown once more: of this form's fields, and no secrets. */
export function kept(shape: FormShape, { values, choices }: SentForm): SentForm {
  const isShown = (name: string) =>
    Object.hasOwn(shape, name) && !isSecret(shape[name]) && shape[name] !== 'picture'
  return { values: new Map([...values].filter(([name]) => isShown(name))), choices }
}
