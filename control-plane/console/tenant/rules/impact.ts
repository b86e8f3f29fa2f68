/** What a change of access rules means for those who were here, in words and as a table. */
import { html } from 'hono/html'
import type { User } from '../../../accounts/users.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { CHANGES, type AccessChange, type ChangedPath } from '../../../tenants/access-replay.ts'
import type { ReplayedAccess } from '../../../tenants/access-review.ts'
import type { Html } from '../../../pages/html.ts'
import { table } from '../../blocks/table.ts'
import { badge, logMoment, type Tone } from '../../blocks/text.ts'
import { userPath } from '../people/paths.ts'
import type { MachineNames } from './sentences.ts'

interface ImpactView {
  readonly tenantId: string
  readonly replayed: ReplayedAccess
  readonly people: ReadonlyMap<string, User>
  readonly machines: MachineNames
}

const WORDS: Readonly<Record<AccessChange, readonly [string, Tone]>> = {
  refused: ['Could no longer open it', 'bad'],
  asked: ['Would have to sign in again, or with a second factor', 'warm'],
  opened: ['Could open it', 'good'],
}

export const KNOWN_HINT = `Based on who was signed in during the last ${LIMITS.accessReplayDays} days, the IP addresses they signed in from and the groups and attributes they have now. Which paths people opened isn’t recorded, so this shows who could open a path, not who did.`

/** «For the 14 people seen in the last 7 days: 2 paths that someone could no longer open.» */
export function impactSentence({ people, machines, changes, isCut }: ReplayedAccess): string {
  const days = `in the last ${LIMITS.accessReplayDays} days`
  const cut = isCut ? ' Not everything could be checked: there is too much.' : ''
  if (people + machines === 0 && !isCut)
    return `Nobody was signed in ${days}, so there is nothing to compare.`
  const who = [
    `${written(people)} ${people === 1 ? 'person' : 'people'}`,
    ...(machines === 0 ? [] : [`${machines} ${machines === 1 ? 'machine' : 'machines'}`]),
  ].join(' and ')
  const counts = CHANGES.flatMap((change) => {
    const alike = changes.filter((one) => one.change === change)
    const { size } = new Set(alike.map(({ host, path }) => `${host} ${path}`))
    return size === 0 ? [] : [`${size} ${size === 1 ? 'path' : 'paths'} ${COUNTED[change]}`]
  })
  const said = counts.length === 0 ? 'nothing changes' : counts.join(', ')
  return `For the ${who} seen ${days}: ${said}.${cut}`
}

const written = (count: number) => count.toLocaleString('en')

const COUNTED: Readonly<Record<AccessChange, string>> = {
  refused: 'that someone could no longer open',
  asked: 'where someone would be asked for more',
  opened: 'that someone could open who can’t now',
}

export function impactTables({ tenantId, replayed, people, machines }: ImpactView): Html {
  const { changes, refused } = replayed
  const who = (id: string) => {
    const user = people.get(id)
    return user === undefined
      ? html`${machines.get(id) ?? id}`
      : html`<a href="${userPath(tenantId, id)}">${user.name}</a>`
  }
  return html`${table<ChangedPath>({
    caption: 'What changes, by path',
    rows: shownOf(replayed),
    columns: [
      {
        label: 'Path',
        isName: true,
        cell: ({ path, host, methods }) =>
          html`<code>${path}</code> <span class="hint">${methods.join(', ')}${host === undefined ? '' : ` on ${host}`}</span>`,
      },
      { label: 'Change', cell: ({ change }) => badge(...WORDS[change]) },
      {
        label: 'Who',
        cell: ({ ids, count }) =>
          html`${ids.map((id, index) => html`${index === 0 ? '' : ', '}${who(id)}`)}${count > ids.length ? ` and ${(count - ids.length).toLocaleString('en')} more` : ''}`,
      },
    ],
    empty: html``,
  })}
  ${changes.length > ROWS_SHOWN_MAX ? html`<p class="hint">The first ${ROWS_SHOWN_MAX} of ${changes.length} changes.</p>` : ''}
  ${
    refused.length === 0
      ? ''
      : html`<h3>Refused by rules in the last ${LIMITS.accessReplayDays} days</h3>
        <p class="hint">As gateways reported, by the rules in force at that time.</p>
        ${table({
          caption: 'Requests that rules have refused',
          rows: refused,
          columns: [
            {
              label: 'Path',
              isName: true,
              cell: ({ path }) =>
                path === null
                  ? html`<span class="hint">Other paths</span>`
                  : html`<code>${path}</code>`,
            },
            { label: 'Requests', isNumber: true, cell: ({ count }) => count.toLocaleString('en') },
            { label: 'Last requested', cell: ({ at }) => logMoment(at) },
          ],
          empty: html``,
        })}`
  }`
}

const ROWS_SHOWN_MAX = 50

/** Whom these name is all that has to be known of people. */
export const shownOf = ({ changes }: Pick<ReplayedAccess, 'changes'>): readonly ChangedPath[] =>
  changes.slice(0, ROWS_SHOWN_MAX)
