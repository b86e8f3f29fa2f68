/** BitLocker, by volume: what protects, and how far it has come, are two questions. */
import * as v from 'valibot'
import { fact, some, unanswered, type FactOf, type Probe } from '../fact.ts'
import { askWindows, failedFact, list } from './powershell.ts'

/** Protection that is suspended leaves the key in the clear beside the data, which stay encrypted. */
const SCRIPT = `
  $space = 'root/CIMV2/Security/MicrosoftVolumeEncryption';
  $volumes = @(Get-CimInstance -Namespace $space -ClassName Win32_EncryptableVolume |
    ForEach-Object {
      $protection = Invoke-CimMethod -InputObject $_ -MethodName GetProtectionStatus;
      $conversion = Invoke-CimMethod -InputObject $_ -MethodName GetConversionStatus;
      @{ letter = [string]$_.DriveLetter; type = [int]$_.VolumeType;
        protection = [int]$protection.ProtectionStatus;
        conversion = [int]$conversion.ConversionStatus;
        returned = [long]$conversion.ReturnValue } });
  @{ volumes = $volumes; system = [string]$env:SystemDrive }
`

const VolumeSchema = v.object({
  letter: v.string(),
  type: v.number(),
  protection: v.number(),
  conversion: v.number(),
  returned: v.number(),
})
type Volume = v.InferOutput<typeof VolumeSchema>
const AnswerSchema = v.object({ volumes: list(VolumeSchema), system: v.string() })

const FIXED_DATA = 1
const PROTECTED = 1
const LOCKED = 2
const CONVERSION = { decrypted: 0, encrypted: 1 }

export const windowsDisk: Probe<'disk_encrypted'> = async (machine) => {
  const answer = await askWindows(machine, SCRIPT, AnswerSchema)
  if (answer.kind === 'unread') return unanswered(answer.why, 'Win32_EncryptableVolume')
  if (answer.kind === 'error') {
    // editions without BitLocker have no such class
    const isMissing = /0x8004100e|0x80041010/i.test(answer.error.id ?? '')
    return isMissing ? fact(false, 'encryption_not_offered') : failedFact(answer.error)
  }
  const { volumes, system } = answer.output
  return judgeVolumes(volumes, system)
}

function judgeVolumes(volumes: readonly Volume[], system: string): FactOf<'disk_encrypted'> {
  // partitions of the vendor have no letter; what is plugged in is not this machine's disk
  const drive = volumes.find(({ letter }) => letter.toUpperCase() === system.toUpperCase())
  if (drive === undefined) return fact('unknown', 'not_readable', system)
  const data = volumes.filter((one) => {
    return one !== drive && one.type === FIXED_DATA && /^[A-Z]:$/i.test(one.letter)
  })
  const found = [drive, ...data].map(judgeVolume)
  const bad = found.filter(({ value }) => value === false)
  const [first] = bad
  if (first === undefined)
    return found.find(({ value }) => value === 'unknown') ?? fact(true, 'encrypted', system)
  const where = some(bad.flatMap(({ detail }) => detail ?? []))
  const isPartly = first.reason === 'not_encrypted' && bad.length < found.length
  return fact(false, isPartly ? 'partly_encrypted' : first.reason, where)
}

function judgeVolume(volume: Volume): FactOf<'disk_encrypted'> {
  const { letter, protection, conversion, returned, type } = volume
  // nobody can read a locked volume, not even to tell how far it is; it is a volume of data
  if (protection === LOCKED)
    return type === FIXED_DATA
      ? fact(true, 'encrypted', letter)
      : fact('unknown', 'volume_locked', letter)
  if (returned !== 0) return fact('unknown', 'not_readable', letter)
  if (conversion === CONVERSION.decrypted) return fact(false, 'not_encrypted', letter)
  if (conversion !== CONVERSION.encrypted) return fact(false, 'encryption_in_progress', letter)
  return protection === PROTECTED
    ? fact(true, 'encrypted', letter)
    : fact(false, 'encryption_suspended', letter)
}
