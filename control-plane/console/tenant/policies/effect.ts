/** What a proposed policy would have decided, in words and as tables. Pure. */
import { html } from 'hono/html'
import type { ReplayResult } from '../../../accounts/policy-replay.ts'
import type { User } from '../../../accounts/users.ts'
import { REFUSALS } from '../../../policy/verdict.ts'
import type { Example, Outcome } from '../../../policy/replay.ts'
import { table } from '../../blocks/table.ts'
import { moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { userPath } from '../people/paths.ts'
import { isSignedIn, outcomeText } from '../people/sign-in-words.ts'

const isRefused = (outcome: Outcome) => (REFUSALS as readonly string[]).includes(outcome)
const written = (count: number) => count.toLocaleString('en')

/** «14 of 812 sign-ins of the last 7 days would end differently, for 3 people.» No more than differs. */
export function effectSentences(result: ReplayResult, days: number): readonly string[] {
  const { signIns, same, people, differences, isCut } = result
  const past = days === 1 ? 'the last day' : `the last ${days} days`
  if (signIns === 0 && !isCut) return [`No sign-ins in ${past}, so there is nothing to preview.`]
  const sum = (isMeant: (before: Outcome, after: Outcome) => boolean) =>
    differences
      .filter(({ before, after }) => isMeant(before, after))
      .reduce((count, one) => count + one.count, 0)
  const refused = sum((before, after) => isRefused(after) && !isRefused(before))
  const asked = sum(
    (before, after) => isSignedIn(before) && !isSignedIn(after) && !isRefused(after),
  )
  const freed = sum((before, after) => isRefused(before) && !isRefused(after))
  const eased = sum(
    (before, after) => !isRefused(before) && !isSignedIn(before) && isSignedIn(after),
  )
  const all = `${written(signIns)} ${signIns === 1 ? 'sign-in' : 'sign-ins'} of ${past}`
  const whose = people === 0 ? '' : `, for ${written(people)} ${people === 1 ? 'person' : 'people'}`
  const sentences = [
    differences.length === 0
      ? `None of ${all} would end differently.`
      : `${written(signIns - same)} of ${all} would end differently${whose}.`,
    refused > 0 && `Refused: ${written(refused)}.`,
    asked > 0 && `Asked for more before they are signed in: ${written(asked)}.`,
    freed > 0 && `No longer refused: ${written(freed)}.`,
    eased > 0 && `Signed in without being asked for more: ${written(eased)}.`,
    isCut && `Only the oldest ${written(signIns)} were checked: there are more.`,
  ]
  return sentences.filter((sentence) => sentence !== false)
}

export function effectTables(
  tenantId: string,
  { differences, examples }: ReplayResult,
  people: ReadonlyMap<string, User>,
): Html | string {
  if (differences.length === 0) return ''
  const who = ({ userId }: Example) =>
    userId === null
      ? 'unknown user'
      : html`<a href="${userPath(tenantId, userId)}">${people.get(userId)?.name ?? userId}</a>`
  return html`<h3>What would change</h3>
    ${table({
      caption: 'What would change',
      rows: differences,
      columns: [
        { label: 'Before', isName: true, cell: ({ before }) => outcomeText(before) },
        { label: 'After', cell: ({ after }) => outcomeText(after) },
        { label: 'Sign-ins', isNumber: true, cell: ({ count }) => written(count) },
      ],
      empty: html``,
    })}
    <h3>Examples</h3>
    ${table({
      caption: 'Examples',
      rows: examples,
      columns: [
        { label: 'Person', isName: true, cell: who },
        { label: 'When', cell: ({ at }) => moment(at * 1000) },
        { label: 'IP address', cell: ({ ip }) => ip },
        { label: 'Before', cell: ({ before }) => outcomeText(before) },
        { label: 'After', cell: ({ after }) => outcomeText(after) },
      ],
      empty: html``,
    })}`
}
