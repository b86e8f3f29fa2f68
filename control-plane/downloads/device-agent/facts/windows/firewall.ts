/** Windows' own firewall, as it is in force: what group policy says counts more than what the machine says. */
import * as v from 'valibot'
import { fact, some, unanswered, type Probe } from '../fact.ts'
import { askWindows, failedFact, list } from './powershell.ts'

const SCRIPT = `
  @{ profiles = @(Get-NetFirewallProfile -PolicyStore ActiveStore | ForEach-Object {
    @{ name = [string]$_.Name; enabled = [int]$_.Enabled; inbound = [int]$_.DefaultInboundAction } }) }
`

const AnswerSchema = v.object({
  profiles: v.pipe(
    list(v.object({ name: v.string(), enabled: v.number(), inbound: v.number() })),
    v.minLength(1),
  ),
})

const ON = 1
/** Not configured is to block. */
const ALLOW = 2

export const windowsFirewall: Probe<'firewall'> = async (machine) => {
  const answer = await askWindows(machine, SCRIPT, AnswerSchema)
  if (answer.kind === 'unread') return unanswered(answer.why, 'Get-NetFirewallProfile')
  if (answer.kind === 'error') return failedFact(answer.error)
  const { profiles } = answer.output
  const off = profiles.filter(({ enabled }) => enabled !== ON).map(({ name }) => name)
  if (off.length > 0) return fact(false, 'profile_off', some(off))
  const open = profiles.filter(({ inbound }) => inbound === ALLOW).map(({ name }) => name)
  if (open.length > 0) return fact(false, 'allows_all', some(open))
  return fact(true, 'windows_firewall')
}
