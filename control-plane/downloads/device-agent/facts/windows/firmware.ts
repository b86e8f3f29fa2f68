/** What the firmware says, by Windows' own cmdlets. */
import * as v from 'valibot'
import { fact, unanswered, type Probe } from '../fact.ts'
import { askWindows, failedFact } from './powershell.ts'

const SECURE_BOOT = `@{ on = [bool](Confirm-SecureBootUEFI) }`

export const windowsSecureBoot: Probe<'secure_boot'> = async (machine) => {
  const answer = await askWindows(machine, SECURE_BOOT, v.object({ on: v.boolean() }))
  if (answer.kind === 'unread') return unanswered(answer.why, 'Confirm-SecureBootUEFI')
  if (answer.kind === 'answer') return answer.output.on ? fact(true, 'on') : fact(false, 'off')
  const { error } = answer
  // a machine that has begun by its BIOS
  return error.category === 'NotImplemented' || error.reason === 'PlatformNotSupportedException'
    ? fact(false, 'legacy_boot')
    : failedFact(error)
}

/** Get-Tpm does not tell the version of the specification, `2.0, 0, 1.59`; the class does. */
const TPM = `
  $tpm = Get-Tpm;
  $class = if ($tpm.TpmPresent) {
    Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftTpm -ClassName Win32_Tpm };
  @{ present = [bool]$tpm.TpmPresent; ready = [bool]$tpm.TpmReady; version = [string]$class.SpecVersion }
`

const TpmSchema = v.object({ present: v.boolean(), ready: v.boolean(), version: v.string() })

export const windowsTpm: Probe<'tpm'> = async (machine) => {
  const answer = await askWindows(machine, TPM, TpmSchema)
  if (answer.kind === 'unread') return unanswered(answer.why, 'Get-Tpm')
  if (answer.kind === 'error') return failedFact(answer.error)
  const { present, ready, version } = answer.output
  if (!present) return fact(false, 'no_tpm')
  if (version.startsWith('1.')) return fact(false, 'tpm_1')
  if (!version.startsWith('2.')) return fact('unknown', 'tpm_version_not_known')
  return ready ? fact(true, 'tpm_2') : fact(false, 'tpm_not_ready')
}
