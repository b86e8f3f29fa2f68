/** What was, and what is instead: a line for each that differs. */
import { isDeepStrictEqual } from 'node:util'
import { html } from 'hono/html'
import type { Html } from '../../pages/html.ts'

export interface Difference {
  readonly name: string
  readonly from?: unknown
  readonly to?: unknown
  /** What was neither before nor after: whom it was about. */
  readonly about?: unknown
  /** Where it leads on to. */
  readonly href?: string
}

export function differences(items: readonly Difference[]): Html | string {
  if (items.length === 0) return ''
  return html`<dl class="diff">
    ${items.map(
      ({ name, from, to, about, href }) =>
        html`<div>
          <dt>${name}</dt>
          <dd>
            ${about === undefined ? '' : href === undefined ? written(about) : html`<a href="${href}">${written(about)}</a>`}
            ${from === undefined ? '' : html`<del><span class="unseen">was </span>${written(from)}</del>`}
            ${to === undefined ? '' : html`<ins><span class="unseen">is </span>${written(to)}</ins>`}
          </dd>
        </div>`,
    )}
  </dl>`
}

/** A page has up to two hundred of them. */
const ITEMS_SHOWN_MAX = 20

/** Lists an item a line, so that one that came or went is seen; `fromTo` narrows them down. */
function written(value: unknown): Html {
  if (!Array.isArray(value)) return html`${textOf(value)}`
  if (value.length === 0) return html`none`
  const items = value.slice(0, ITEMS_SHOWN_MAX).map(textOf)
  if (value.length > items.length) items.push(`and ${value.length - items.length} more`)
  return html`${items.map((item, index) => html`${index === 0 ? '' : html`<br />`}${item}`)}`
}

/** A record of plain values is read as a list; what is deeper stays as it was written. */
function isFlat(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((one) => typeof one !== 'object' || one === null)
}

function textOf(value: unknown): string {
  if (isFlat(value))
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${textOf(one)}`)
      .join(', ')
  if (typeof value === 'string') return value === '' ? '(empty)' : value
  if (value === null) return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** Of two records the fields that differ; of two lists only what went and what came. */
export function fromTo(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): Difference[] {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])]
  return names
    .filter((name) => !isDeepStrictEqual(from[name], to[name]))
    .map((name) => narrowed(name, from[name], to[name]))
}

/** Without what they begin and end with alike: mostly little is left of them. */
function middles(from: readonly unknown[], to: readonly unknown[]) {
  const most = Math.min(from.length, to.length)
  let start = 0
  while (start < most && isDeepStrictEqual(from[start], to[start])) start++
  let end = 0
  while (end < most - start && isDeepStrictEqual(from.at(-1 - end), to.at(-1 - end))) end++
  return [from.slice(start, from.length - end), to.slice(start, to.length - end)] as const
}

/** What of the items is not in the list. */
function missingIn(list: readonly unknown[], items: readonly unknown[]): unknown[] {
  const keyOf = (item: unknown) => (typeof item === 'object' ? JSON.stringify(item) : item)
  const known = new Set(list.map(keyOf))
  return items.filter((item) => !known.has(keyOf(item)))
}

function narrowed(name: string, from: unknown, to: unknown): Difference {
  if (!Array.isArray(from) || !Array.isArray(to)) return { name, from, to }
  const [before, after] = middles(from, to)
  const went = missingIn(after, before)
  const came = missingIn(before, after)
  if (went.length + came.length === 0) return { name, from, to } // another order
  return {
    name,
    ...(went.length > 0 && { from: went }),
    ...(came.length > 0 && { to: came }),
  }
}
