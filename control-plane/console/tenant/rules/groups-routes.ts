/** Groups: who is in which, by whose word, and what rules make of it. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { NewGroupBody } from '../../../requests/access-fields.ts'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { freshSignInNotice } from '../../access/fresh-sign-in.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { emptyState, pager, table } from '../../blocks/table.ts'
import { badge, card, moment } from '../../blocks/text.ts'
import { tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { userPath } from '../people/paths.ts'
import { peopleOf } from '../people/session-table.ts'
import { typedPeople } from '../people/typed-people.ts'
import { GROUPS } from './paths.ts'

type GroupsWorld = Pick<ConsoleWorld, 'groups' | 'users'>

const ONE = `${GROUPS}/{group}` as const
const FORM_OF_ONE = { role: 'tenant', needsFreshSignIn: true } as const
const SOURCES: Readonly<Record<string, string>> = {
  local: 'Added here',
  scim: 'Provisioning',
  connection: 'Connection',
}

const base = ({ tenant }: TenantVisit) => tenantPath(tenant.tenantId, 'groups')
const at = (visit: TenantVisit, group: string) => `${base(visit)}/${encodeURIComponent(group)}`
const apiOf = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}/groups`

export function groupsRoutes({ groups, users }: GroupsWorld): readonly ConsoleRoute[] {
  async function listView(
    visit: TenantVisit & {
      readonly query?: { readonly limit?: number; readonly cursor?: string | undefined }
    },
    attempt?: Attempt,
  ): Promise<View> {
    const { tenantId } = visit.tenant
    const { isReadOnly } = visit.proofs
    const { limit = GROUPS_SHOWN, cursor } = visit.query ?? {}
    const all = await groups.list(tenantId)
    const from = cursor === undefined ? 0 : all.findIndex(({ name }) => name === cursor) + 1
    const shown = await groups.counted(tenantId, all.slice(from, from + limit))
    const next = from + limit < all.length ? (shown.at(-1)?.name ?? null) : null
    return {
      title: 'Groups',
      here: 'groups',
      intro:
        'Access rules open paths to groups. Provisioning can fill them, or you add people here.',
      content: html`${freshSignInNotice(visit)}
        ${table({
          caption: 'Groups',
          rows: shown,
          columns: [
            {
              label: 'Group',
              isName: true,
              cell: ({ name }) => html`<a href="${at(visit, name)}">${name}</a>`,
            },
            { label: 'Description', cell: ({ description }) => description },
            {
              label: 'Members',
              isNumber: true,
              cell: ({ members }) => members.toLocaleString('en'),
            },
          ],
          empty: emptyState(
            'No groups yet',
            'Create one for each set of people that opens the same paths, such as finance.',
          ),
        })}
        ${all.length <= limit ? '' : pager(visit.address, { next, isFirst: from === 0 })}
        ${
          isReadOnly
            ? ''
            : card(
                'Create a group',
                form(visit, {
                  action: base(visit),
                  submit: 'Create group',
                  attempt,
                  content: html`${textField({ name: 'name', label: 'Name', charactersMax: 64, attempt })}
                  ${textField({ name: 'description', label: 'Description', isOptional: true, attempt })}`,
                }),
                'create',
              )
        }`,
      calls: [
        { method: 'GET', path: apiOf(tenantId) },
        { method: 'POST', path: apiOf(tenantId), body: { name: 'finance' } },
      ],
    }
  }

  async function oneView(
    visit: TenantVisit & {
      readonly path: { readonly group: string }
      readonly query?: { readonly limit?: number; readonly cursor?: string | undefined }
    },
    attempt?: Attempt,
  ): Promise<View> {
    const { tenantId } = visit.tenant
    const { group } = visit.path
    const { limit = MEMBERS_SHOWN, cursor } = visit.query ?? {}
    const { items, next } = await groups.members(tenantId, group, { limit, cursor })
    const ids = items.map(({ userId }) => userId)
    const people = await peopleOf(users, tenantId, ids)
    const { isReadOnly } = visit.proofs
    const path = at(visit, group)
    return {
      title: group,
      here: 'groups',
      buttons: isReadOnly ? [] : [linkButton(`${path}/delete`, 'Delete group', 'quiet')],
      content: html`${freshSignInNotice(visit)}
        ${table({
          caption: `Members of ${group}`,
          rows: items,
          columns: [
            {
              label: 'Person',
              isName: true,
              cell: ({ userId }) =>
                html`<a href="${userPath(tenantId, userId)}">${people.get(userId)?.name ?? userId}</a>
                  <span class="hint">${people.get(userId)?.email ?? ''}</span>`,
            },
            { label: 'Source', cell: ({ source }) => badge(SOURCES[source] ?? source) },
            { label: 'Since', cell: ({ createdAt }) => moment(createdAt) },
            ...(isReadOnly
              ? []
              : [
                  {
                    label: 'Actions',
                    isUnseen: true,
                    cell: ({ userId, source }: (typeof items)[number]) =>
                      source === 'local'
                        ? form(visit, {
                            action: `${path}/remove`,
                            submit: 'Remove',
                            about: people.get(userId)?.name ?? userId,
                            look: 'small',
                            hidden: { user_id: userId },
                          })
                        : null,
                  },
                ]),
          ],
          empty: emptyState('No members yet', 'Add the first person below.'),
        })}
        ${pager(visit.address, { next, isFirst: cursor === undefined })}
        ${
          isReadOnly
            ? ''
            : card(
                'Add a person',
                form(visit, {
                  action: `${path}/add`,
                  submit: 'Add to group',
                  attempt,
                  content: textField({
                    name: 'person',
                    label: 'Person',
                    hint: 'Username or email.',
                    attempt,
                  }),
                }),
                'add',
              )
        }`,
      calls: [
        { method: 'GET', path: `${apiOf(tenantId)}/${encodeURIComponent(group)}/members` },
        {
          method: 'PUT',
          path: `${apiOf(tenantId)}/${encodeURIComponent(group)}/members/{user_id}`,
        },
      ],
    }
  }

  return [
    page({ path: GROUPS, role: 'tenant', query: PAGE_QUERY }, (visit) => listView(visit)),
    action(
      {
        path: GROUPS,
        role: 'tenant',
        form: { name: 'text', description: 'optional' },
        body: NewGroupBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { name, description }) => {
        const wished = description === undefined ? { name } : { name, description }
        const made = await groups.create(visit.tenant.tenantId, wished, visit.actor)
        return done(at(visit, made.name), `${made.name} created.`)
      },
      listView,
    ),
    page({ path: ONE, role: 'tenant', query: PAGE_QUERY }, (visit) => oneView(visit)),
    action(
      {
        path: `${ONE}/add`,
        ...FORM_OF_ONE,
        form: { person: 'text' },
        body: v.strictObject({ person: v.string() }),
      },
      async (visit, { person }) => {
        const { tenantId } = visit.tenant
        const { group } = visit.path
        const userId = await typedPeople(users).idOf(tenantId, person.trim(), 'person')
        const membership = { tenantId, group, userId, source: 'local' } as const
        const { enforced } = await groups.add(membership, visit.actor)
        return done(at(visit, group), 'Person added.', { changed: tenantId, enforced })
      },
      (visit, attempt) => oneView(visit, attempt),
    ),
    action(
      {
        path: `${ONE}/remove`,
        ...FORM_OF_ONE,
        form: { user_id: 'text' },
        body: v.strictObject({ user_id: v.string() }),
      },
      async (visit, { user_id: userId }) => {
        const { tenantId } = visit.tenant
        const { group } = visit.path
        const membership = { tenantId, group, userId, source: 'local' } as const
        const { enforced } = await groups.take(membership, visit.actor)
        const said = 'Person removed. Their session goes on, without what the group opened.'
        return done(at(visit, group), said, { changed: tenantId, enforced })
      },
    ),
    ...asking(
      { path: `${ONE}/delete`, here: 'groups', ...FORM_OF_ONE },
      async (visit) => {
        const { tenantId } = visit.tenant
        const { group } = visit.path
        await groups.members(tenantId, group, { limit: 1 })
        return {
          title: `Delete ${group}?`,
          effects: [
            'Everyone leaves it. Accounts and sessions are not affected.',
            'A group that access rules name can’t be deleted: change the rules first.',
          ],
          submit: 'Delete group',
          cancel: at(visit, group),
          calls: [{ method: 'DELETE', path: `${apiOf(tenantId)}/${encodeURIComponent(group)}` }],
        }
      },
      async (visit) => {
        await groups.remove(visit.tenant.tenantId, visit.path.group, visit.actor)
        return done(base(visit), 'Group deleted.')
      },
    ),
  ]
}

const GROUPS_SHOWN = 50
const MEMBERS_SHOWN = 50
