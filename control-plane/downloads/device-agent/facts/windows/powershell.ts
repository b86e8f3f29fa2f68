/**
 * Windows is asked by Windows PowerShell 5.1, which every machine has. Answers are JSON of numbers, truth values
 * and names that are never translated, because all else comes in the language of the machine. Only
 * cmdlets: a machine that allows only signed scripts runs these as well.
 */
import * as v from 'valibot'
import type { DeviceFact } from '../../../../../shared/device/facts.ts'
import { fact, type FactOf } from '../fact.ts'
import type { CommandResult, Machine } from '../machine.ts'

const POWERSHELL = '%SystemRoot%\\System32\\WindowsPowerShell\\v1.0\\powershell.exe'

/** `CategoryInfo` names the kind of an error in English on any machine; the message does not. */
const ErrorSchema = v.object({
  error: v.object({
    id: v.nullable(v.string()),
    category: v.nullable(v.string()),
    reason: v.nullable(v.string()),
  }),
})
type ScriptError = v.InferOutput<typeof ErrorSchema>['error']

type Answer<Output> =
  | { readonly kind: 'answer'; readonly output: Output }
  | { readonly kind: 'error'; readonly error: ScriptError }
  | { readonly kind: 'unread'; readonly why: CommandResult }

export async function askWindows<Output>(
  machine: Machine,
  script: string,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Answer<Output>> {
  const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', framed(script)]
  const result = await machine.run({ file: POWERSHELL, args })
  if (result.kind !== 'ended') return { kind: 'unread', why: result }
  const json = jsonOf(result.text)
  const failed = v.safeParse(ErrorSchema, json)
  if (failed.success) return { kind: 'error', error: failed.output.error }
  const parsed = v.safeParse(schema, json)
  return parsed.success
    ? { kind: 'answer', output: parsed.output }
    : { kind: 'unread', why: { kind: 'failed' } }
}

/** One line without a double quote: so that nothing in between can read it in another way. */
function framed(script: string): string {
  const body = script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
  return (
    `$ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue'; ` +
    `$found = try { & { ${body} } } catch { @{ error = @{ ` +
    `id = [string]$_.FullyQualifiedErrorId; category = [string]$_.CategoryInfo.Category; ` +
    `reason = [string]$_.CategoryInfo.Reason } } }; ` +
    `ConvertTo-Json -InputObject $found -Compress -Depth 4`
  )
}

/** PowerShell 5.1 may write a list as `{"value": […], "Count": 2}`. */
export function list<Item>(item: v.GenericSchema<unknown, Item>) {
  const wrapped = v.pipe(
    v.object({ value: v.array(item), Count: v.number() }),
    v.transform(({ value }) => value),
  )
  return v.union([v.array(item), wrapped])
}

/** What went wrong where nothing else is known of it. */
export function failedFact<Name extends DeviceFact>(error: ScriptError): FactOf<Name> {
  const { id, category, reason } = error
  if (category === 'ObjectNotFound' && reason === 'CommandNotFoundException')
    return fact('unknown', 'tool_missing', id ?? '')
  const isRefused =
    category === 'PermissionDenied' || /Access|0x80041003|0x80070005/i.test(`${id} ${reason}`)
  return fact('unknown', isRefused ? 'not_allowed' : 'not_readable', id ?? '')
}

/** A byte order mark, and whatever a profile of the machine printed before, is no JSON. */
function jsonOf(text: string): unknown {
  const line = text.split('\n').findLast((line) => line.trim() !== '') ?? ''
  try {
    return JSON.parse(line.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}
