/** Several users at once: chosen in the list, asked about on a page, changed, and told what came of it. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { User } from '../../../accounts/users.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import { form } from '../../blocks/form.ts'
import { tenantPath } from '../../navigation.ts'
import { action, done, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { USERS } from './paths.ts'
import { CHANGES, type ChangeName } from './selected-changes.ts'

const MOST = LIMITS.usersChangedAtOnceMax
const NAMED = 10
const WISH = `1 to ${MOST} users`
const change = v.picklist(Object.keys(CHANGES) as ChangeName[], 'one of the actions in the list')
const userIds = v.pipe(
  v.array(v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,200}$/, 'the ID of a user'))),
  v.minLength(1, WISH),
  v.maxLength(MOST, WISH),
)
const SelectedBody = v.strictObject({ user_id: userIds, change })
const ConfirmedBody = v.strictObject({ user_ids: userIds, change })

export const countOfUsers = (count: number) =>
  count === 1 ? '1 user' : `${count.toLocaleString('en')} users`

export function selectedRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { users } = world

  async function found(tenantId: string, ids: readonly string[]): Promise<User[]> {
    const each = await Promise.all([...new Set(ids)].map((id) => users.find(tenantId, id)))
    return each.filter((user) => user !== undefined).filter(({ source }) => source !== 'trial')
  }

  async function question(
    visit: TenantVisit,
    ids: readonly string[],
    name: ChangeName,
    attempt?: Attempt,
  ): Promise<View> {
    const { tenantId } = visit.tenant
    const chosen = await found(tenantId, ids)
    const { question: ask, effects, label } = CHANGES[name]
    const path = tenantPath(tenantId, 'users')
    const names = chosen.slice(0, NAMED).map((user) => user.name)
    const others = chosen.length - names.length
    return {
      title: ask(countOfUsers(chosen.length)),
      here: 'users',
      content: html`<div class="card narrow">
        <ul class="effects">
          <li>${names.join(', ')}${others > 0 ? ` and ${others} more` : ''}</li>
          ${effects.map((effect) => html`<li>${effect}</li>`)}
        </ul>
        ${form(visit, {
          action: `${path}/selected/confirm`,
          submit: label,
          cancel: path,
          look: 'danger',
          attempt,
          hidden: { user_ids: chosen.map(({ userId }) => userId).join('\n'), change: name },
        })}
      </div>`,
    }
  }

  /** What was chosen, as it was sent; too many or none of it is said above the list. */
  async function again(
    visit: TenantVisit,
    attempt: Attempt,
    sent: readonly string[],
  ): Promise<View> {
    const checked = v.safeParse(SelectedBody, {
      user_id: sent,
      change: attempt.values.get('change'),
    })
    if (checked.success)
      return question(visit, checked.output.user_id, checked.output.change, attempt)
    if (checked.issues.every((issue) => v.getDotPath(issue) === 'change'))
      throw new Refusal('field_invalid', { field: 'change' }, 'Choose an action, then try again.')
    throw new Refusal('field_invalid', { field: 'user_id' }, `Select ${WISH}, then try again.`)
  }

  return [
    action(
      {
        path: `${USERS}/selected`,
        role: 'tenant',
        form: { user_id: 'choices', change: 'text' },
        body: SelectedBody,
        needsFreshSignIn: true,
      },
      (visit, { user_id: ids, change: name }) => question(visit, ids, name),
      (visit, attempt) => again(visit, attempt, attempt.choices.get('user_id') ?? []),
    ),
    action(
      {
        path: `${USERS}/selected/confirm`,
        role: 'tenant',
        form: { user_ids: 'lines', change: 'text' },
        body: ConfirmedBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { user_ids: ids, change: name }) => {
        const { tenant, actor } = visit
        const { isNeedless, apply, said } = CHANGES[name]
        const known = await found(tenant.tenantId, ids)
        const meant = known.filter((user) => !isNeedless(user))
        const results = await Promise.allSettled(meant.map((user) => apply(world, user, actor)))
        const failed = results.filter(({ status }) => status === 'rejected').length
        const ended = results.findLast(
          (one) => one.status === 'fulfilled' && one.value !== undefined,
        )
        const skipped = ids.length - meant.length
        const text = [
          said(countOfUsers(meant.length - failed)),
          skipped === 0
            ? ''
            : `${countOfUsers(skipped)} skipped: nothing to change, or deleted meanwhile.`,
          failed === 0 ? '' : `${countOfUsers(failed)} could not be changed. Try these again.`,
        ]
        return done(
          tenantPath(tenant.tenantId, 'users'),
          text.filter((part) => part !== '').join(' '),
          ended?.status === 'fulfilled' ? ended.value : {},
        )
      },
      (visit, attempt) => again(visit, attempt, (attempt.values.get('user_ids') ?? '').split('\n')),
    ),
  ]
}
