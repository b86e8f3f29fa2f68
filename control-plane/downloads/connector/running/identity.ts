/**
 * Who this connector is, as it lies on the disk: its own key, which it replaces by itself, and those
 * of the service that it believes. Lists of gateways name the next one long before it signs
 * (.docs/decisions/0103-the-key-that-connectors-trust.md).
 */
import type { GatewayList } from '../../../../shared/connector/requests.ts'
import type { Joined, StateFolder } from '../state/state-folder.ts'

type Authorities = NonNullable<GatewayList['authorities']>

export type Identity = ReturnType<typeof createIdentity>

export function createIdentity(first: Joined, state: Pick<StateFolder, 'write'>) {
  let joined = first

  /** What cannot be written down has not happened. */
  async function write(changed: Joined): Promise<void> {
    await state.write(changed)
    joined = changed
  }

  const isAsSaid = ([signs, next]: Authorities) =>
    joined.authority === signs && joined.next_authority === next

  return {
    current: () => joined,
    write,

    /** Whether there is nothing to write down of what a list says. */
    believes: ({ authorities }: GatewayList) => authorities === undefined || isAsSaid(authorities),

    /** Before a list is kept whose key is only believed by the word of another: a start has to read it. */
    async expect({ authorities: [signs] = [] }: GatewayList): Promise<void> {
      if (signs === undefined || [joined.authority, joined.next_authority].includes(signs)) return
      await write({ ...joined, next_authority: signs })
    },

    /** Behind it: nobody else's lists are needed any more. */
    async believe({ authorities }: GatewayList): Promise<boolean> {
      if (authorities === undefined || isAsSaid(authorities)) return false
      const [authority = joined.authority, next] = authorities
      const { next_authority: _next, ...others } = joined
      const isAnother = authority !== joined.authority
      await write({ ...others, authority, ...(next !== undefined && { next_authority: next }) })
      return isAnother
    },
  }
}
