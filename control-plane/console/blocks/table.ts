import { html } from 'hono/html'
import type { Html } from '../../pages/html.ts'

type Cell = string | number | Html | null

export interface Column<Row> {
  readonly label: string
  readonly cell: (row: Row) => Cell
  /** Numbers stand under each other. */
  readonly isNumber?: boolean
  /** The name of the row, which is read out before its other cells. */
  readonly isName?: boolean
  /** For a column of buttons: its label is only read out. */
  readonly isUnseen?: boolean
}

interface TableView<Row> {
  /** What the table is of; only read out. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** What stands there instead of no rows. */
  readonly empty: Html
}

/** On a phone each row is a card, and each cell says what it is (`data-label`). */
export function table<Row>({ caption, columns, rows, empty }: TableView<Row>): Html {
  if (rows.length === 0) return empty
  return html`<div class="table-frame" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption class="unseen">${caption}</caption>
      <thead>
        <tr>
          ${columns.map(
            ({ label, isNumber = false, isUnseen = false }) =>
              html`<th scope="col" ${isNumber ? html`class="number"` : ''}>
                ${isUnseen ? html`<span class="unseen">${label}</span>` : label}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<tr>${columns.map((column) => cellOf(column, row))}</tr>`)}
      </tbody>
    </table>
  </div>`
}

function cellOf<Row>(
  { label, cell, isNumber = false, isName = false, isUnseen }: Column<Row>,
  row: Row,
) {
  const content = cell(row) ?? html`<span class="none">none</span>`
  const name = isUnseen === true ? '' : label
  return isName
    ? html`<th scope="row" data-label="${name}">${content}</th>`
    : html`<td data-label="${name}" ${isNumber ? html`class="number"` : ''}>${content}</td>`
}

/** Ticks the boxes of a table's rows at once; the script shows it. */
export const selectAll = (field: string): Html =>
  html`<p><button type="button" class="button small" data-select="${field}" hidden>Select all on this page</button></p>`

/** What an empty list says, and what to do about it. */
export function emptyState(title: string, text: string | Html, button?: Html): Html {
  return html`<div class="empty">
    <h2>${title}</h2>
    <p>${text}</p>
    ${button ?? ''}
  </div>`
}

/** Lists go on by key (store/page.ts), so there is a next page and the first, and no numbers. */
export function pager(
  address: string,
  { next, isFirst }: { readonly next: string | null; readonly isFirst: boolean },
): Html {
  if (next === null && isFirst) return html``
  const at = (cursor: string | undefined) => {
    const url = new URL(address, 'http://console.invalid')
    url.searchParams.delete('done')
    if (cursor === undefined) url.searchParams.delete('cursor')
    else url.searchParams.set('cursor', cursor)
    return url.pathname + url.search
  }
  return html`<nav class="pager" aria-label="Pages">
    ${isFirst ? '' : html`<a class="button small" href="${at(undefined)}">First page</a>`}
    ${next === null ? html`<span class="hint">End of list</span>` : html`<a class="button small" href="${at(next)}" rel="next">Next page</a>`}
  </nav>`
}
