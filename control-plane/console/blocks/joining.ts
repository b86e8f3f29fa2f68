/** What a program joins with, a token or a ticket: shown once, good for so many uses and a while. */
import { html } from 'hono/html'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../shared/clock.ts'
import { selectField, wholeField, type Attempt } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import type { Html } from '../../pages/html.ts'
import { durationText } from '../durations.ts'
import type { Column } from './table.ts'
import { moment } from './text.ts'

interface Bounds {
  readonly usesMax: number
  readonly secondsMax: number
  readonly secondsDefault: number
}

/** `can`: "How many … with it". */
export function usesAndExpiry(
  can: string,
  { usesMax, secondsMax, secondsDefault }: Bounds,
  attempt: Attempt | undefined,
): Html {
  const expiries = [HOUR_MS, DAY_MS, 7 * DAY_MS, secondsMax * SECOND_MS].map((ms) => ms / SECOND_MS)
  return html`${wholeField({
    name: 'uses',
    label: 'Uses',
    hint: `How many ${can} with it, ${usesMax.toLocaleString('en')} at most.`,
    value: '1',
    attempt,
  })}
  ${selectField({
    name: 'expires_in',
    label: 'Expires after',
    options: expiries.map((seconds) => ({ value: String(seconds), label: durationText(seconds) })),
    value: String(secondsDefault),
    attempt,
  })}`
}

interface Usable {
  readonly uses: number
  readonly usesLeft: number
  readonly expiresAt: number
}

export const USES_LEFT: Column<Usable> = {
  label: 'Uses left',
  cell: ({ uses, usesLeft }) => `${usesLeft} of ${uses}`,
}
export const EXPIRES: Column<Usable> = {
  label: 'Expires',
  cell: ({ expiresAt }) => moment(expiresAt),
}

/** `where`: of a row, the address of its page that asks; `named`: what the button is read out with. */
export const deleteColumn = <Row>(
  where: (row: Row) => string,
  named: (row: Row) => string,
): Column<Row> => ({
  label: 'Actions',
  isUnseen: true,
  cell: (row) =>
    html`<a class="button small" href="${where(row)}/delete">Delete<span class="unseen"> ${named(row)}</span></a>`,
})

interface Made {
  readonly title: string
  readonly uses: number
  readonly expiresAt: number
  /** "It lets one … until". */
  readonly one: string
  readonly many: string
  readonly can: string
  readonly content: Html
  readonly back: string
}

/** The only page that shows it. */
export const madeCard = ({ title, uses, expiresAt, one, many, can, content, back }: Made): Html =>
  html`<div class="card narrow">
    ${notice('success', `${title} created.`)}
    <p>
      Copy it now: it won’t be shown again. It lets
      ${uses === 1 ? `one ${one}` : `${uses.toLocaleString('en')} ${many}`} ${can} until
      ${moment(expiresAt)}.
    </p>
    ${content}
    <div class="submit">${linkButton(back, 'Done')}</div>
  </div>`
