/** People who have asked for an account and wait: each is approved, or refused behind a question. */
import { html } from 'hono/html'
import { LIMITS } from '../../../../shared/limits.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { emptyState, pager, table } from '../../blocks/table.ts'
import { moment } from '../../blocks/text.ts'
import { tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, fromAddress, SIGN_UPS, signUpsPath } from './paths.ts'

const SIGN_UP = `${SIGN_UPS}/{sign_up_id}` as const
const DAYS = LIMITS.signUpKeptMs / 86_400_000

export function signUpsRoutes({ signUps }: ConsoleWorld): readonly ConsoleRoute[] {
  return [
    page({ path: SIGN_UPS, role: 'tenant', query: PAGE_QUERY }, async (visit) => {
      const { tenant, query, address, proofs } = visit
      const { tenantId, name } = tenant
      const { items, next } = await signUps.list(tenantId, query)
      const path = signUpsPath(tenantId)
      return {
        title: 'Account requests',
        here: 'users',
        intro: `People who confirmed their email address and want an account at ${name}. Requests are deleted after ${DAYS} days.`,
        buttons: [linkButton(tenantPath(tenantId, 'users'), 'Users', 'quiet')],
        content: html`${table({
          caption: 'Account requests',
          rows: items,
          columns: [
            {
              label: 'Name',
              isName: true,
              cell: (one) => html`${one.name} <span class="hint">${one.email}</span>`,
            },
            { label: 'Requested', cell: ({ createdAt }) => moment(createdAt) },
            { label: 'From', cell: ({ ip }) => (ip === '' ? null : fromAddress(tenantId, ip)) },
            {
              label: 'Approve',
              isUnseen: true,
              cell: ({ signUpId, email }) =>
                form(visit, {
                  action: `${path}/${signUpId}/approve`,
                  submit: 'Approve',
                  about: email,
                  look: 'small',
                }),
            },
            {
              label: 'Refuse',
              isUnseen: true,
              cell: ({ signUpId }) =>
                proofs.isReadOnly
                  ? ''
                  : linkButton(`${path}/${signUpId}/refuse`, 'Refuse', 'small'),
            },
          ],
          empty: emptyState(
            'No requests are waiting',
            html`People appear here after they create an account and confirm their email address. Turn this on in the <a href="${tenantPath(tenantId, 'policies')}/password">password policy</a>.`,
          ),
        })}
        ${pager(address, { next, isFirst: query.cursor === undefined })}`,
        calls: [
          { method: 'GET', path: `${apiOf(tenantId)}/sign-ups` },
          {
            method: 'POST',
            path: `${apiOf(tenantId)}/sign-ups/SIGN_UP_ID/approve`,
            label: 'Approve a request',
          },
          {
            method: 'DELETE',
            path: `${apiOf(tenantId)}/sign-ups/SIGN_UP_ID`,
            label: 'Refuse a request',
          },
        ],
      }
    }),
    action(
      { path: `${SIGN_UP}/approve`, role: 'tenant' },
      async ({ tenant: { tenantId }, path, actor }) => {
        const { email } = await signUps.approve(tenantId, path.sign_up_id, actor)
        return done(signUpsPath(tenantId), `${email} is approved and gets an email.`)
      },
    ),
    ...asking(
      { path: `${SIGN_UP}/refuse`, role: 'tenant', here: 'users' },
      async ({ tenant: { tenantId }, path }) => {
        const { name, email } = await signUps.get(tenantId, path.sign_up_id)
        return {
          title: `Refuse ${name}?`,
          effects: [
            `${email} gets no account, and an email that says so.`,
            'What they entered is deleted. They can ask again.',
          ],
          submit: 'Refuse request',
          cancel: signUpsPath(tenantId),
        }
      },
      async ({ tenant: { tenantId }, path, actor }) => {
        const { email } = await signUps.refuse(tenantId, path.sign_up_id, actor)
        return done(signUpsPath(tenantId), `The request of ${email} is refused.`)
      },
    ),
  ]
}
