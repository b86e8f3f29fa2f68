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

/** «It would have refused 14 of 812 sign-ins of the last 7 days.» */
export function effectSentences(result: ReplayResult, days: number): readonly string[] {
  const { signIns, differences, isCut } = result
  const past = days === 1 ? 'the last day' : `the last ${days} days`
  if (signIns === 0 && !isCut)
    return [`Nobody has tried to sign in during ${past}, so there is nothing to try it on.`]
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
  const sentences = [
    `It would have refused ${written(refused)} of ${all}.`,
    asked > 0 && `It would have asked for more in ${written(asked)} that went through at once.`,
    freed > 0 && `It would not have refused ${written(freed)} that were.`,
    eased > 0 && `It would have let ${written(eased)} in that were asked for more.`,
    differences.length === 0 && 'Every one would have ended as it did.',
    isCut && `Only the oldest ${written(signIns)} were looked at: there are more.`,
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
      ? 'nobody that is known'
      : html`<a href="${userPath(tenantId, userId)}">${people.get(userId)?.name ?? userId}</a>`
  return html`<h3>What would have been different</h3>
    ${table({
      caption: 'What would have been different',
      rows: differences,
      columns: [
        { label: 'As it was', isName: true, cell: ({ before }) => outcomeText(before) },
        { label: 'As it would have been', cell: ({ after }) => outcomeText(after) },
        { label: 'Sign-ins', isNumber: true, cell: ({ count }) => written(count) },
      ],
      empty: html``,
    })}
    <h3>For example</h3>
    ${table({
      caption: 'Examples',
      rows: examples,
      columns: [
        { label: 'Who', isName: true, cell: who },
        { label: 'When', cell: ({ at }) => moment(at * 1000) },
        { label: 'Address', cell: ({ ip }) => ip },
        { label: 'As it was', cell: ({ before }) => outcomeText(before) },
        { label: 'As it would have been', cell: ({ after }) => outcomeText(after) },
      ],
      empty: html``,
    })}`
}
