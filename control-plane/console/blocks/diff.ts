/** What was, and what is instead: a line for each that differs. */
import { html } from 'hono/html'
import type { Html } from '../layout.ts'

export interface Difference {
  readonly name: string
  readonly from?: unknown
  readonly to?: unknown
  /** What was neither before nor after: whom it was about. */
  readonly about?: unknown
}

export function differences(items: readonly Difference[]): Html | string {
  if (items.length === 0) return ''
  return html`<dl class="diff">
    ${items.map(
      ({ name, from, to, about }) =>
        html`<div>
          <dt>${name}</dt>
          <dd>
            ${about === undefined ? '' : written(about)}
            ${from === undefined ? '' : html`<del><span class="unseen">was </span>${written(from)}</del>`}
            ${to === undefined ? '' : html`<ins><span class="unseen">is </span>${written(to)}</ins>`}
          </dd>
        </div>`,
    )}
  </dl>`
}

/** Lists an item a line, so that one that came or went is seen; `fromTo` narrows them down. */
function written(value: unknown): Html {
  if (Array.isArray(value))
    return value.length === 0
      ? html`<i>empty list</i>`
      : html`${value.map((item, index) => html`${index === 0 ? '' : html`<br />`}${textOf(item)}`)}`
  return html`${textOf(value)}`
}

function textOf(value: unknown): string {
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
    .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .map((name) => narrowed(name, from[name], to[name]))
}

function narrowed(name: string, from: unknown, to: unknown): Difference {
  if (!Array.isArray(from) || !Array.isArray(to)) return { name, from, to }
  const has = (list: readonly unknown[], item: unknown) =>
    list.some((one) => JSON.stringify(one) === JSON.stringify(item))
  const went: unknown[] = from.filter((item) => !has(to, item))
  const came: unknown[] = to.filter((item) => !has(from, item))
  if (went.length + came.length === 0) return { name, from, to } // another order
  return {
    name,
    ...(went.length > 0 && { from: went }),
    ...(came.length > 0 && { to: came }),
  }
}
