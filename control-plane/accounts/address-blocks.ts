/** Addresses that lockout refuses, for the operator who looks at them and lifts them. */
import { countedAs, countedWidelyAs } from '../../shared/client-address.ts'
import { Refusal } from '../../shared/errors.ts'
import { LOCKOUT_MEMORY_SECONDS } from '../policy/lockout.ts'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  addressBlocksAfter,
  deleteAddressBlocksBefore,
  liftAddressBlock,
  type AddressBlockRow,
} from '../store/queries/attempts.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Store } from '../store/store.ts'

type AddressBlock = Readonly<AddressBlockRow>
export type AddressBlocks = ReturnType<typeof createAddressBlocks>

export function createAddressBlocks({ store, clock }: { store: Store; clock: Clock }) {
  return {
    async list(tenantId: string, page: PageRequest): Promise<Page<AddressBlock>> {
      const [after] = decodeCursor(page.cursor, 'string') ?? ['']
      const nowMs = clock.nowMs()
      const rows = await addressBlocksAfter(store.read, tenantId, after, nowMs, page.limit + 1)
      return toPage(rows, page.limit, (block) => [block.address])
    },

    /** `address` as the list names it, or any address of that network, or else of that site. */
    async lift(tenantId: string, address: string, actor: Actor): Promise<void> {
      // asked for in an UPDATE, and Postgres takes none with a NUL
      if (address.includes('\0')) throw new Refusal('address_block_not_found')
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const lifted =
          (await liftAddressBlock(queries, tenantId, countedAs(address), nowMs)) ??
          (await liftAddressBlock(queries, tenantId, countedWidelyAs(address), nowMs))
        if (lifted === undefined) throw new Refusal('address_block_not_found')
        const content = { address: lifted.address, failures: lifted.failures }
        await change.emit('ip.block.lifted', tenantId, content)
        await change.audit(actor, { action: 'address_block.lifted', tenantId, content })
      })
    },

    prune: pruneWith(store, deleteAddressBlocksBefore, LOCKOUT_MEMORY_SECONDS * SECOND_MS),
  }
}
