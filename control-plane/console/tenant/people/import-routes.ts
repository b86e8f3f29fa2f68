/** Users from a file: uploaded or pasted, checked line by line, and invited once somebody has seen it. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { planImport, type ImportPlan } from '../../../requests/user-import.ts'
import { mailLanguage } from '../../../http/mail-language.ts'
import { linesField, type Attempt } from '../../../pages/blocks/field.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { form } from '../../blocks/form.ts'
import { table } from '../../blocks/table.ts'
import { card, moment } from '../../blocks/text.ts'
import { tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, USERS } from './paths.ts'
import { countOfUsers } from './selected-routes.ts'

const KILOBYTE = 1024
/** Of those who are ready: enough to see that columns are where they belong. */
const SHOWN = LIMITS.pageItemsDefault
const WISH = `a file of at most ${LIMITS.userImportBytesMax / KILOBYTE} KB`
const csv = v.pipe(v.string(), v.maxBytes(LIMITS.userImportBytesMax, WISH))
const EXAMPLE = ['email,name,username', 'ada@acme.example,Ada Lovelace,ada'] as const

export function importRoutes({ users, accountMail, store }: ConsoleWorld): readonly ConsoleRoute[] {
  const pathOf = ({ tenant }: TenantVisit) => `${tenantPath(tenant.tenantId, 'users')}/import`

  function askedView(visit: TenantVisit, attempt?: Attempt): View {
    return {
      title: 'Import users',
      here: 'users',
      intro: 'Everyone imported gets an invitation by email to choose a password.',
      content: html`<div class="card narrow">
        ${form(visit, {
          action: pathOf(visit),
          submit: 'Check file',
          cancel: tenantPath(visit.tenant.tenantId, 'users'),
          attempt,
          isUpload: true,
          content: html`<div class="field">
              <label for="file">CSV file</label>
              <input type="file" id="file" name="file" accept=".csv,text/csv" />
              ${attempt?.problems.has('file') === true ? html`<p class="error" id="file-error">${attempt.problems.get('file')}</p>` : ''}
              <p class="hint">UTF-8, with a header line. Columns: email, name, username. Only email is required. Up to ${countOfUsers(LIMITS.usersImportedAtOnceMax)}.</p>
            </div>
            ${linesField({ name: 'csv', label: 'Or paste the lines', rows: 8, value: '', hint: html`For example:<br /><code>${EXAMPLE[0]}</code><br /><code>${EXAMPLE[1]}</code>`, isOptional: true, attempt })}`,
        })}
      </div>`,
      calls: [
        {
          method: 'POST',
          path: `${apiOf(visit.tenant.tenantId)}/users`,
          body: { username: 'ada', email: 'ada@acme.example', name: 'Ada Lovelace', invite: true },
        },
      ],
    }
  }

  async function checkedView(visit: TenantVisit, text: string): Promise<View> {
    const plan = await planImport(store.read, visit.tenant.tenantId, text)
    const count = plan.users.length
    const invitedBy = await accountMail.invitedBy(visit.tenant.tenantId, count)
    return {
      title: 'Import users',
      here: 'users',
      intro: `${countOfUsers(count)} can be imported. ${linesWrong(plan)}.`,
      content: html`${plan.problems.length === 0 ? '' : card('Problems', problemTable(plan), 'problems')}
      ${
        count === 0
          ? ''
          : card(
              'Ready to import',
              html`${count > SHOWN ? html`<p class="hint">The first ${SHOWN} of ${countOfUsers(count)}.</p>` : ''}
              ${userTable(plan)} ${invitedBy === undefined ? '' : invitedLater(invitedBy)}
              ${form(visit, {
                action: `${pathOf(visit)}/confirm`,
                submit: `Import ${countOfUsers(count)}`,
                cancel: pathOf(visit),
                hidden: { csv: text },
              })}`,
            )
      }
      ${card(
        'Check another file',
        form(visit, {
          action: pathOf(visit),
          submit: 'Check again',
          look: 'quiet',
          isUpload: true,
          content: linesField({ name: 'csv', label: 'Lines', rows: 8, value: text }),
        }),
      )}`,
    }
  }

  return [
    page({ path: `${USERS}/import`, role: 'tenant', needsFreshSignIn: true }, (visit) =>
      askedView(visit),
    ),
    action(
      {
        path: `${USERS}/import`,
        role: 'tenant',
        form: { csv: 'optional', file: 'optional' },
        body: v.strictObject({ csv: v.optional(csv), file: v.optional(csv) }),
        needsFreshSignIn: true,
      },
      (visit, { csv: pasted, file }) => {
        const text = file ?? pasted
        if (text === undefined)
          throw new Refusal('field_invalid', { field: 'csv' }, 'Choose a file or paste its lines.')
        return checkedView(visit, text)
      },
      askedView,
    ),
    action(
      {
        path: `${USERS}/import/confirm`,
        role: 'tenant',
        form: { csv: 'text' },
        body: v.strictObject({ csv }),
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { csv: text }) => {
        const { tenant, actor } = visit
        const { tenantId } = tenant
        const language = mailLanguage(visit.request)
        const plan = await planImport(store.read, tenantId, text)
        let imported = 0
        let late = 0
        for (const { line: _line, ...person } of plan.users) {
          try {
            await users.create(tenantId, { ...person, password: '' }, actor, (change, user) =>
              accountMail.inviteIn(change, user, actor, language),
            )
            imported += 1
          } catch (error) {
            if (!(error instanceof Refusal)) throw error
            if (error.code === 'rate_limited') late += 1 // or taken meanwhile: it is counted below
          }
        }
        accountMail.deliver()
        const skipped = plan.problems.length + plan.users.length - imported - late
        return done(
          tenantPath(tenantId, 'users'),
          [
            `${countOfUsers(imported)} imported.`,
            ...(skipped === 0 ? [] : [`${skipped} skipped.`]),
            ...(late === 0
              ? []
              : [
                  `${late} not imported, over the limit of invitations: import the same file again later.`,
                ]),
          ].join(' '),
        )
      },
      (visit, attempt) => askedView(visit, attempt),
    ),
  ]
}

const invitedLater = (lastAt: number) =>
  notice(
    'info',
    html`All of them are imported at once. Their invitations go out ${LIMITS.rateInvitations.burst} an hour, the last by ${moment(lastAt)}.`,
  )

const linesWrong = ({ problems }: ImportPlan) =>
  problems.length === 0
    ? 'No problems found'
    : problems.length === 1
      ? '1 line has a problem'
      : `${problems.length} lines have problems`

const problemTable = ({ problems }: ImportPlan) =>
  table({
    caption: 'Problems',
    rows: problems,
    columns: [
      { label: 'Line', isNumber: true, cell: ({ line }) => line },
      { label: 'Email address', isName: true, cell: ({ about }) => about || '—' },
      { label: 'Problem', cell: ({ problem }) => problem },
    ],
    empty: html``,
  })

const userTable = ({ users }: ImportPlan) =>
  table({
    caption: 'Users to import',
    rows: users.slice(0, SHOWN),
    columns: [
      { label: 'Line', isNumber: true, cell: ({ line }) => line },
      { label: 'Email address', isName: true, cell: ({ email }) => email },
      { label: 'Name', cell: ({ name }) => name },
      { label: 'Username', cell: ({ username }) => username },
    ],
    empty: html``,
  })
