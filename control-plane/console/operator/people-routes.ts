/** People: who runs the service, and who administers a tenant. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { PAGE_QUERY } from '../../requests/paging.ts'
import { mailLanguage } from '../../http/mail-language.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { PageRequest } from '../../store/page.ts'
import { InvitationBody } from '../../requests/people-fields.ts'
import { freshSignInNotice } from '../access/fresh-sign-in.ts'
import { textField, type Attempt } from '../../pages/blocks/field.ts'
import { asking } from '../asking.ts'
import { form } from '../blocks/form.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { emptyState, pager } from '../blocks/table.ts'
import { card } from '../blocks/text.ts'
import { action, done, page, type ConsoleRoute, type View, type ViewerVisit } from '../route.ts'
import { PEOPLE_API, PEOPLE_PATH, personPath } from './person-page.ts'
import { readOnlyField, roleQuestion, roleSaid, WAYS_IN_END } from './role-form.ts'
import type { ConsoleWorld } from '../world.ts'
import { peopleTable } from './people-table.ts'

const PATH = PEOPLE_PATH
const API = PEOPLE_API
/** Of which tenant; nothing for the operators. */
const OF = { tenant_id: v.optional(v.pipe(v.string(), v.maxLength(63, 'the id of a tenant')), '') }

const FIRST_PAGE = { limit: LIMITS.pageItemsDefault }

const RoleBody = v.strictObject({ tenant_id: v.optional(v.string()), read_only: v.boolean() })
const LetGoBody = v.strictObject({ tenant_id: v.optional(v.string()) })

export function peopleRoutes({ consoleAccess, tenants }: ConsoleWorld): readonly ConsoleRoute[] {
  const { people } = consoleAccess
  const at = (tenantId: string | undefined) =>
    tenantId === undefined || tenantId === ''
      ? PATH
      : `${PATH}?tenant_id=${encodeURIComponent(tenantId)}`

  async function show(
    visit: ViewerVisit,
    of: string,
    page: PageRequest,
    attempt?: Attempt,
  ): Promise<View> {
    const tenant = of === '' ? undefined : await tenants.get(of)
    const { cursor } = page
    const { items, next } = await people.list(tenant?.tenantId, page)
    const whose = tenant === undefined ? 'operators' : `administrators of ${tenant.name}`
    return {
      title: 'People',
      here: 'people',
      intro:
        tenant === undefined
          ? 'Operators run the service and see every tenant.'
          : `Administrators of ${tenant.name} see this tenant, and nothing else.`,
      buttons: tenant === undefined ? [] : [linkButton(PATH, 'Operators', 'quiet')],
      content: html`${freshSignInNotice(visit)} ${switchForm(of)}
      ${peopleTable(items, visit.viewer, {
        caption: whose,
        removeUrl: (userId) => `${PATH}/${userId}/remove${of === '' ? '' : `?tenant_id=${of}`}`,
        empty: emptyState(
          `No ${whose}`,
          'Invite the first one below. They choose a password and set up a second factor.',
        ),
      })}
      ${pager(visit.address, { next, isFirst: cursor === undefined })}
      ${
        visit.proofs.isReadOnly
          ? ''
          : card(
              tenant === undefined
                ? 'Invite an operator'
                : `Invite an administrator of ${tenant.name}`,
              form(visit, {
                action: PATH,
                submit: 'Send invitation',
                hidden: { tenant_id: of },
                attempt,
                content: html`${textField({ name: 'email', label: 'Email address', type: 'email', attempt })}
          ${textField({ name: 'name', label: 'Name', isOptional: true, attempt })}
          ${readOnlyField(attempt)}`,
              }),
              'invite',
            )
      }`,
      calls: [
        { method: 'GET', path: at(of).replace(PATH, API), label: 'People on this page' },
        {
          method: 'POST',
          path: API,
          body: { email: 'bob@acme.example', ...(of !== '' && { tenant_id: of }) },
          label: 'Invite a person',
        },
      ],
    }
  }

  return [
    page({ path: PATH, role: 'operator', query: { ...PAGE_QUERY, ...OF } }, (visit) =>
      show(visit, visit.query.tenant_id, visit.query),
    ),
    action(
      {
        path: PATH,
        role: 'operator',
        form: { email: 'text', name: 'optional', tenant_id: 'optional', read_only: 'flag' },
        body: InvitationBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { email, name = email, tenant_id: tenantId, read_only: isReadOnly }) => {
        const wish = { email, name, isReadOnly, ...(tenantId !== undefined && { tenantId }) }
        const language = mailLanguage(visit.request)
        const { user, isMailed } = await people.invite(wish, visit.actor, language)
        const said = isMailed
          ? `An invitation is on its way to ${user.email}. ${user.name} can accept it.`
          : `${user.name} now has this role. No email was sent: they sign in as before.`
        return done(at(tenantId), said)
      },
      (visit, attempt) => show(visit, attempt.values.get('tenant_id') ?? '', FIRST_PAGE, attempt),
    ),
    ...asking(
      {
        path: `${PATH}/{user_id}/role`,
        role: 'operator',
        form: { tenant_id: 'optional', read_only: 'flag' },
        body: RoleBody,
        needsFreshSignIn: true,
        here: 'people',
        query: OF,
      },
      async (visit) => {
        const of = visit.query.tenant_id
        const person = await people.get(visit.path.user_id, of === '' ? undefined : of)
        const { userId } = person.user
        return {
          ...roleQuestion(person, of),
          cancel: personPath(userId),
          calls: [
            {
              method: 'PATCH',
              path: at(of).replace(PATH, `${API}/${userId}`),
              body: { read_only: person.role !== 'viewer' },
            },
          ],
        }
      },
      async ({ path, actor }, { tenant_id: of, read_only: isReadOnly }) => {
        const { user, role } = await people.setRole(path.user_id, of, isReadOnly, actor)
        return done(personPath(user.userId), roleSaid(user.name, role))
      },
    ),
    ...asking(
      {
        path: `${PATH}/{user_id}/remove`,
        role: 'operator',
        form: { tenant_id: 'optional' },
        body: LetGoBody,
        needsFreshSignIn: true,
        here: 'people',
        query: OF,
      },
      async (visit) => {
        const { path, query } = visit
        const of = query.tenant_id
        const { user } = await people.get(path.user_id, of)
        const { name } = user
        return {
          title: `Remove ${name}?`,
          effects: [
            ...(user.userId === visit.viewer.userId
              ? [
                  'This is you. You lose access on your next request, and a colleague has to invite you again.',
                ]
              : []),
            of === ''
              ? `${name} stops being an operator on their next request.`
              : `${name} can no longer administer ${of}, from their next request on.`,
            WAYS_IN_END,
            'If this is their only role, their console account and its second factors are permanently deleted.',
            'Their entries in the audit trail are kept.',
          ],
          submit: 'Remove',
          cancel: at(of),
          hidden: { tenant_id: of },
          calls: [{ method: 'DELETE', path: `${at(of).replace(PATH, `${API}/${path.user_id}`)}` }],
        }
      },
      async ({ path, actor }, { tenant_id: tenantId }) => {
        await people.letGo(path.user_id, tenantId, actor)
        return done(at(tenantId), 'Removed.')
      },
    ),
  ]
}

function switchForm(of: string) {
  return html`<form method="get" action="${PATH}" class="filters" role="search">
    ${textField({ name: 'tenant_id', label: 'Tenant administrators', value: of, placeholder: 'tenant ID', isFree: true })}
    <div class="submit"><button type="submit" class="button quiet">Show</button></div>
  </form>`
}
