/** `10.0.<build>.<revision>`: the revision is what monthly updates raise, and `ver` does not tell it. */
import * as v from 'valibot'
import type { Posture } from '../../../../../shared/device/facts.ts'
import type { Machine } from '../machine.ts'
import { askWindows } from './powershell.ts'

const SCRIPT = `
  $now = Get-ItemProperty -LiteralPath 'HKLM:\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion';
  @{ build = [string]$now.CurrentBuild; revision = [int]$now.UBR }
`

const AnswerSchema = v.object({
  build: v.pipe(v.string(), v.regex(/^\d{1,9}$/)),
  revision: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
})

export async function windowsVersion(machine: Machine): Promise<Posture['os']> {
  const answer = await askWindows(machine, SCRIPT, AnswerSchema)
  if (answer.kind !== 'answer') return { id: 'windows', version: '' }
  const { build, revision } = answer.output
  return { id: 'windows', version: `10.0.${build}.${revision}` }
}
