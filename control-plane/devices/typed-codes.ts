/**
 * For browsers that cannot reach the agent on their machine: it shows a code, and a person types it
 * into the sign-in. Whoever is talked into giving it away lets somebody else sign in on this machine,
 * so it is off unless the policy allows it (.docs/decisions/0053-on-which-machine-a-browser-runs.md).
 */
import { SECOND_MS } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { newUserCode, readUserCode } from '../keys/user-code.ts'
import type { Vault } from '../keys/vault.ts'
import {
  deleteTypedCode,
  deleteTypedCodesExpiredBefore,
  findTypedCode,
  upsertTypedCode,
} from '../store/queries/device-typed-codes.ts'
import { pruneWith } from '../store/statements.ts'
import type { Store, TenantChange } from '../store/store.ts'
import { policiesIn } from '../tenants/policies.ts'

export type DeviceTypedCodes = ReturnType<typeof createDeviceTypedCodes>

export function createDeviceTypedCodes({
  store,
  vault,
}: {
  readonly store: Store
  readonly vault: Pick<Vault, 'hash'>
}) {
  const hashOf = (tenantId: string, code: string) =>
    vault.hash(`device_typed_codes/${tenantId}/${code}`)

  return {
    /** In the change in which the machine has proven that it is this device; its earlier one is void. */
    async make(
      { queries, nowMs }: TenantChange,
      { tenantId, deviceId }: { readonly tenantId: string; readonly deviceId: string },
    ): Promise<string> {
      const { device } = await policiesIn(queries, tenantId)
      if (!device.typed_code) throw new Refusal('device_code_off')
      const code = newUserCode()
      await upsertTypedCode(queries, {
        ...{ deviceId, tenantId, codeHash: hashOf(tenantId, code) },
        expiresAt: nowMs + LIMITS.deviceTypedCodeSeconds * SECOND_MS,
      })
      return code
    },

    /** Which device has shown it. Once; the sign-in counts what is typed in vain. */
    async take(
      { queries, nowMs }: TenantChange,
      tenantId: string,
      typed: string,
    ): Promise<string | undefined> {
      const code = readUserCode(typed)
      if (code === undefined) return undefined
      const codeHash = hashOf(tenantId, code)
      const known = await findTypedCode(queries, tenantId, codeHash)
      if (known === undefined) return undefined
      await deleteTypedCode(queries, tenantId, codeHash)
      return nowMs < known.expiresAt ? known.deviceId : undefined
    },

    prune: pruneWith(store, deleteTypedCodesExpiredBefore, 0),
  }
}
