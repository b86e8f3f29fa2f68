/** What Windows Update knows without asking a network: how long ago it looked, what waits, and a restart. */
import * as v from 'valibot'
import { LIMITS } from '../../../../../shared/limits.ts'
import { fact, some, unanswered, type FactOf, type Probe } from '../fact.ts'
import { askWindows, failedFact, list } from './powershell.ts'

type UpdateFact = FactOf<'up_to_date'>

/** By name, because titles are in the language of the machine: security updates and critical updates. */
const SECURITY = '0fa1201d-4330-4fa8-8ae9-b877473b6441'
const CRITICAL = 'e6cf1350-c01b-414d-a61f-263d14d133b4'

const STATE = `
  $restart = 'HKLM:\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WindowsUpdate\\Auto Update\\RebootRequired';
  $last = (New-Object -ComObject Microsoft.Update.AutoUpdate).Results.LastSearchSuccessDate;
  $hours = $null;
  if ($null -ne $last) { $hours = [long](New-TimeSpan -Start $last -End (Get-Date).ToUniversalTime()).TotalHours };
  @{ restart = [bool](Test-Path -LiteralPath $restart); hours = $hours }
`

const WAITING = `
  $searcher = (New-Object -ComObject Microsoft.Update.Session).CreateUpdateSearcher();
  $searcher.Online = $false;
  $found = $searcher.Search('IsInstalled=0 and IsHidden=0').Updates;
  @{ updates = @($found | ForEach-Object {
    @{ articles = @($_.KBArticleIDs | ForEach-Object { [string]$_ });
      categories = @($_.Categories | ForEach-Object { [string]$_.CategoryID }) } }) }
`

const StateSchema = v.object({ restart: v.boolean(), hours: v.nullable(v.number()) })
const UpdateSchema = v.object({
  articles: list(v.string()),
  categories: list(v.string()),
})
const WaitingSchema = v.object({ updates: list(UpdateSchema) })

export const windowsUpdates: Probe<'up_to_date'> = async (machine) => {
  const state = await askWindows(machine, STATE, StateSchema)
  if (state.kind === 'unread') return unanswered(state.why, 'Windows Update')
  if (state.kind === 'error') return failedFact(state.error)
  const { restart, hours } = state.output
  if (restart) return fact(false, 'restart_needed')
  if (hours === null) return fact('unknown', 'update_data_missing')
  const days = Math.floor(Math.max(0, hours) / 24)
  if (days > LIMITS.deviceUpdateDataDaysMax) return fact('unknown', 'update_data_old', `${days} d`)
  const waiting = await askWindows(machine, WAITING, WaitingSchema)
  if (waiting.kind === 'unread') return unanswered(waiting.why, 'Windows Update')
  if (waiting.kind === 'error') return failedFact(waiting.error)
  return ofUpdates(waiting.output.updates)
}

function ofUpdates(updates: readonly v.InferOutput<typeof UpdateSchema>[]): UpdateFact {
  const counts = (id: string) => [SECURITY, CRITICAL].includes(id.toLowerCase())
  const security = updates.filter(({ categories }) => categories.some(counts))
  if (security.length === 0)
    return fact(true, 'up_to_date', updates.length > 0 ? `(+${updates.length})` : '')
  const articles = security.flatMap((update) => update.articles.slice(0, 1))
  return fact(false, 'security_updates', some(articles.map((id) => `KB${id}`)))
}
