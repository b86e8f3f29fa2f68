/** What the firmware says: Secure Boot by its variable, the TPM by its driver. */
import { fact, type Probe } from '../fact.ts'
import { textOf } from '../machine.ts'

const VARIABLES = '/sys/firmware/efi/efivars'
const SECURE_BOOT = 'SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'
/** shim tells that its owner has told it to check no signatures: Secure Boot in name only. */
const SHIM_CHECKS_NOTHING = 'MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23'

export const secureBoot: Probe<'secure_boot'> = async (machine) => {
  if ((await machine.names('/sys/firmware/efi')) === null) return fact(false, 'legacy_boot')
  const names = await machine.names(VARIABLES)
  if (names === null || names.length === 0) return fact('unknown', 'not_readable', VARIABLES)
  if (!names.includes(SECURE_BOOT)) return fact(false, 'not_offered')
  const value = efiByte(await machine.bytes(`${VARIABLES}/${SECURE_BOOT}`))
  if (value === null) return fact('unknown', 'not_readable', 'SecureBoot')
  if (value === 0) return fact(false, 'off')
  const shim = efiByte(await machine.bytes(`${VARIABLES}/${SHIM_CHECKS_NOTHING}`))
  return shim === 1 ? fact(false, 'shim_validation_off') : fact(true, 'on')
}

/** Four bytes of attributes, then the value: one byte, 0 or 1. */
function efiByte(bytes: Uint8Array | null): 0 | 1 | null {
  const value = bytes?.length === 5 ? bytes[4] : undefined
  return value === 0 || value === 1 ? value : null
}

export const tpm: Probe<'tpm'> = async (machine) => {
  const found = (await machine.names('/sys/class/tpm')) ?? []
  const names = found.filter((name) => /^tpm\d+$/.test(name)).sort()
  const versions = await Promise.all(
    names.map((name) => textOf(machine, `/sys/class/tpm/${name}/tpm_version_major`)),
  )
  if (versions.some((version) => version?.trim() === '2')) return fact(true, 'tpm_2')
  if (versions.some((version) => version?.trim() === '1')) return fact(false, 'tpm_1')
  return names.length === 0 ? fact(false, 'no_tpm') : fact('unknown', 'tpm_version_not_known')
}
