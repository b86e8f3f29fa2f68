/** Who administers a tenant: colleagues, invitations that wait, and one more invitation. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../shared/limits.ts'
import type { Viewer } from '../../console-access/console-sessions.ts'
import { mayChange } from '../../console-access/roles.ts'
import { mailLanguage } from '../../http/mail-language.ts'
import { NothingBody } from '../../requests/fields.ts'
import { ColleagueBody } from '../../requests/people-fields.ts'
import { PAGE_QUERY } from '../../requests/paging.ts'
import type { PageRequest } from '../../store/page.ts'
import { freshSignInNotice } from '../access/fresh-sign-in.ts'
import type { Invitation, Inviter } from '../../console-access/invitations.ts'
import { textField, type Attempt } from '../../pages/blocks/field.ts'
import { asking } from '../asking.ts'
import { form } from '../blocks/form.ts'
import { emptyState, pager, table } from '../blocks/table.ts'
import { card, moment } from '../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { PEOPLE_API } from '../operator/person-page.ts'
import { action, done, page, type TenantVisit, type View } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { peopleTable } from '../operator/people-table.ts'
import {
  readOnlyField,
  ROLE_NAMES,
  roleQuestion,
  roleSaid,
  WAYS_IN_END,
} from '../operator/role-form.ts'

const PATH = `${TENANT_PATH}/administrators` as const
const INVITATION = `${PATH}/invitations/{invitation_id}` as const
const RoleBody = v.strictObject({ read_only: v.boolean() })
const FIRST_PAGE: PageRequest = { limit: LIMITS.pageItemsDefault }

const at = (tenantId: string) => tenantPath(tenantId, 'administrators')

export function administratorsRoutes({ consoleAccess }: ConsoleWorld) {
  const { people, invitations } = consoleAccess

  async function show(visit: TenantVisit, request: PageRequest, attempt?: Attempt): Promise<View> {
    const { tenantId, name } = visit.tenant
    const { items, next } = await people.list(tenantId, request)
    const waiting = await invitations.list(tenantId)
    const api = `/api/v1/operator/tenants/${tenantId}/console-invitations`
    return {
      title: 'Administrators',
      here: 'administrators',
      intro: `People who can see and change everything in ${name}, and no other tenant.`,
      content: html`${freshSignInNotice(visit)} ${peopleTable(items, visit.viewer, {
        caption: 'Administrators',
        roleUrl: (userId) => `${at(tenantId)}/${encodeURIComponent(userId)}/role`,
        removeUrl: (userId) => `${at(tenantId)}/${encodeURIComponent(userId)}/remove`,
        empty: emptyState(
          'No administrators yet',
          'Administrators run this tenant in the console. Invite the first one below.',
        ),
      })}
      ${pager(visit.address, { next, isFirst: request.cursor === undefined })}
      ${waiting.length === 0 ? '' : card('Open invitations', invitationTable(visit, waiting), 'invitations')}
      ${visit.proofs.isReadOnly ? '' : card('Invite a colleague', inviteForm(visit, attempt), 'invite')}`,
      calls: [
        { method: 'GET', path: `${PEOPLE_API}?tenant_id=${tenantId}`, label: 'Administrators' },
        { method: 'GET', path: api, label: 'Open invitations' },
        {
          method: 'POST',
          path: api,
          body: { email: 'bob@acme.example' },
          label: 'Invite a colleague',
        },
      ],
    }
  }

  return [
    page({ path: PATH, role: 'tenant', query: PAGE_QUERY }, (visit) => show(visit, visit.query)),
    action(
      {
        path: PATH,
        role: 'tenant',
        form: { email: 'text', read_only: 'flag' },
        body: ColleagueBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { email, read_only: isReadOnly }) => {
        const { tenantId } = visit.tenant
        await invitations.invite(tenantId, email, inviterOf(visit), isReadOnly)
        return done(at(tenantId), `An invitation is on its way to ${email}.`)
      },
      (visit, attempt) => show(visit, FIRST_PAGE, attempt),
    ),
    action(
      {
        path: `${INVITATION}/resend`,
        role: 'tenant',
        body: NothingBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit) => {
        const { tenantId } = visit.tenant
        const id = visit.path.invitation_id
        const { email } = await invitations.resend(tenantId, id, inviterOf(visit))
        return done(
          at(tenantId),
          `A new link is on its way to ${email}. The previous link no longer works.`,
        )
      },
    ),
    action(
      { path: `${INVITATION}/withdraw`, role: 'tenant', needsFreshSignIn: true },
      async (visit) => {
        const { tenantId } = visit.tenant
        const id = visit.path.invitation_id
        const { email } = await invitations.withdraw(tenantId, id, visit.actor)
        return done(at(tenantId), `Invitation to ${email} withdrawn.`)
      },
    ),
    ...asking(
      {
        path: `${PATH}/{user_id}/role`,
        role: 'tenant',
        form: { read_only: 'flag' },
        body: RoleBody,
        needsFreshSignIn: true,
        here: 'administrators',
      },
      async ({ tenant: { tenantId }, path }) => {
        const question = roleQuestion(await people.get(path.user_id, tenantId), tenantId)
        return { ...question, hidden: {}, cancel: at(tenantId) }
      },
      async ({ tenant: { tenantId }, path, actor, viewer }, { read_only: isReadOnly }) => {
        const by = roleOf(viewer)
        const person = await people.setRole(path.user_id, tenantId, isReadOnly, actor, by)
        return done(at(tenantId), roleSaid(person.user.name, person.role))
      },
    ),
    ...asking(
      {
        path: `${PATH}/{user_id}/remove`,
        role: 'tenant',
        needsFreshSignIn: true,
        here: 'administrators',
      },
      async (visit) => {
        const { tenantId, name: tenant } = visit.tenant
        const { user } = await people.get(visit.path.user_id, tenantId)
        const isYou = user.userId === visit.viewer.userId
        return {
          title: `Remove ${user.name}?`,
          effects: [
            ...(isYou ? ['This is you. A colleague has to invite you again.'] : []),
            `${user.name} can no longer administer ${tenant}, from their next request on.`,
            WAYS_IN_END,
            'Their entries in the audit trail are kept.',
          ],
          submit: 'Remove',
          cancel: at(tenantId),
          calls: [{ method: 'DELETE', path: `${PEOPLE_API}/${user.userId}?tenant_id=${tenantId}` }],
        }
      },
      async ({ tenant: { tenantId }, path, actor, viewer }) => {
        const by = roleOf(viewer)
        await people.letGo(path.user_id, tenantId, actor, by)
        return done(
          path.user_id === viewer.userId && !viewer.isOperator ? '/console' : at(tenantId),
          'Removed.',
        )
      },
    ),
  ]
}

/** Who may only look at all tenants acts here as an administrator. */
const roleOf = (viewer: Viewer) => (mayChange(viewer) ? 'operator' : 'administrator')

const inviterOf = ({ viewer, actor, request }: TenantVisit): Inviter => ({
  userId: viewer.userId,
  sid: viewer.sid,
  actor,
  language: mailLanguage(request),
})

function invitationTable(visit: TenantVisit, waiting: readonly Invitation[]) {
  const path = `${at(visit.tenant.tenantId)}/invitations`
  return table({
    caption: 'Open invitations',
    rows: waiting,
    columns: [
      { label: 'Email address', isName: true, cell: ({ email }) => email },
      { label: 'Role', cell: ({ role }) => ROLE_NAMES[role] },
      { label: 'Sent', cell: ({ sentAt }) => moment(sentAt) },
      { label: 'Expires', cell: ({ expiresAt }) => moment(expiresAt) },
      {
        label: 'Actions',
        isUnseen: true,
        cell: ({ invitationId, email }) =>
          html`<div class="buttons">${(['resend', 'withdraw'] as const).map((what) =>
            form(visit, {
              action: `${path}/${encodeURIComponent(invitationId)}/${what}`,
              submit: what === 'resend' ? 'Resend' : 'Withdraw',
              about: `the invitation to ${email}`,
              look: 'small',
            }),
          )}</div>`,
      },
    ],
    empty: html``,
  })
}

const inviteForm = (visit: TenantVisit, attempt: Attempt | undefined) =>
  form(visit, {
    action: at(visit.tenant.tenantId),
    submit: 'Send invitation',
    attempt,
    content: html`${textField({
      name: 'email',
      label: 'Email address',
      type: 'email',
      hint: `The link works once, for 7 days. Whoever accepts it gets access to ${visit.tenant.name}.`,
      attempt,
    })} ${readOnlyField(attempt)}`,
  })
