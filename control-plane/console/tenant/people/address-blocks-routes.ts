/** Addresses that have failed too often and have to wait; each can be let in again. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import type { AddressBlocks } from '../../../accounts/address-blocks.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { emptyState, pager, table } from '../../blocks/table.ts'
import { moment } from '../../blocks/text.ts'
import { tenantPath } from '../../navigation.ts'
import { action, done, page } from '../../route.ts'
import { apiOf, BLOCKS, blocksPath, fromAddress } from './paths.ts'

const LiftBody = v.strictObject({
  address: v.pipe(
    v.string(),
    v.nonEmpty('an address'),
    v.maxLength(LIMITS.addressTextMax, 'an address'),
  ),
})

export function addressBlocksRoutes({ addressBlocks }: { readonly addressBlocks: AddressBlocks }) {
  return [
    page({ path: BLOCKS, role: 'tenant', query: PAGE_QUERY }, async (visit) => {
      const { tenant, query, address } = visit
      const { tenantId } = tenant
      const { items, next } = await addressBlocks.list(tenantId, query)
      return {
        title: 'Blocked addresses',
        here: 'users',
        intro: 'Too many failed sign-ins came from these addresses. Each block ends on its own.',
        buttons: [linkButton(tenantPath(tenantId, 'users'), 'Users', 'quiet')],
        content: html`${table({
          caption: 'Blocked addresses',
          rows: items,
          columns: [
            {
              label: 'IP address',
              isName: true,
              cell: ({ address: one }) => fromAddress(tenantId, one),
            },
            { label: 'Failures', isNumber: true, cell: ({ failures }) => failures },
            { label: 'Since', cell: ({ createdAt }) => moment(createdAt) },
            { label: 'Until', cell: ({ blockedUntil }) => moment(blockedUntil) },
            {
              label: 'Actions',
              isUnseen: true,
              cell: ({ address: one }) =>
                form(visit, {
                  action: `${blocksPath(tenantId)}/lift`,
                  submit: 'Unblock',
                  about: one,
                  look: 'small',
                  hidden: { address: one },
                }),
            },
          ],
          empty: emptyState(
            'No blocked addresses',
            html`An address is listed here after too many failed sign-ins. The limit is set in the <a href="${tenantPath(tenantId, 'policies')}/lockout">lockout policy</a>.`,
          ),
        })}
        ${pager(address, { next, isFirst: query.cursor === undefined })}`,
        calls: [
          { method: 'GET', path: `${apiOf(tenantId)}/address-blocks` },
          {
            method: 'DELETE',
            path: `${apiOf(tenantId)}/address-blocks/192.0.2.7`,
            label: 'Unblock an address',
          },
        ],
      }
    }),
    action(
      { path: `${BLOCKS}/lift`, role: 'tenant', form: { address: 'text' }, body: LiftBody },
      async ({ tenant: { tenantId }, actor }, { address }) => {
        await addressBlocks.lift(tenantId, address, actor)
        return done(blocksPath(tenantId), `${address} is unblocked.`)
      },
    ),
  ]
}
