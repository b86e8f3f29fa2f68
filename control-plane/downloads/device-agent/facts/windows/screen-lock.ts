/** By the machine's own limit, or by the screen saver of each person who is signed in. */
import * as v from 'valibot'
import { LIMITS } from '../../../../../shared/limits.ts'
import { fact, unanswered, type FactOf, type Probe } from '../fact.ts'
import { askWindows, failedFact, list } from './powershell.ts'

/** A hive is loaded for each person who is signed in: of a domain or of this machine, or of Entra ID. */
const SCRIPT = `
  $system = Get-ItemProperty -ErrorAction SilentlyContinue
    -LiteralPath 'HKLM:\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Policies\\System';
  $people = @(Get-ChildItem -LiteralPath 'Registry::HKEY_USERS' -ErrorAction SilentlyContinue |
    Where-Object { $_.PSChildName -match '^S-1-(5-21|12-1)-[-0-9]+$' } | ForEach-Object {
      $key = 'Registry::HKEY_USERS\\' + $_.PSChildName;
      $own = Get-ItemProperty -ErrorAction SilentlyContinue
        -LiteralPath ($key + '\\Control Panel\\Desktop');
      $rule = Get-ItemProperty -ErrorAction SilentlyContinue
        -LiteralPath ($key + '\\Software\\Policies\\Microsoft\\Windows\\Control Panel\\Desktop');
      $values = @{};
      foreach ($name in 'ScreenSaveActive', 'ScreenSaverIsSecure', 'ScreenSaveTimeOut', 'SCRNSAVE.EXE') {
        $value = if ($null -ne $rule.$name) { $rule.$name } else { $own.$name };
        $values[$name] = [string]$value };
      @{ active = $values['ScreenSaveActive']; secure = $values['ScreenSaverIsSecure'];
        after = $values['ScreenSaveTimeOut']; saver = [bool]$values['SCRNSAVE.EXE'] } });
  @{ machine = [long]$system.InactivityTimeoutSecs; people = $people }
`

const PersonSchema = v.object({
  active: v.string(),
  secure: v.string(),
  after: v.string(),
  /** That there is one, not which: its path may hold a person's name. */
  saver: v.boolean(),
})
type Person = v.InferOutput<typeof PersonSchema>
const AnswerSchema = v.object({ machine: v.number(), people: list(PersonSchema) })

type LockFact = FactOf<'screen_lock'>

export const windowsScreenLock: Probe<'screen_lock'> = async (machine) => {
  const answer = await askWindows(machine, SCRIPT, AnswerSchema)
  if (answer.kind === 'unread') return unanswered(answer.why, 'PowerShell')
  if (answer.kind === 'error') return failedFact(answer.error)
  const { people, machine: afterS } = answer.output
  if (afterS > 0 && afterS <= LIMITS.deviceLockSecondsMax) return locksAfter(afterS)
  const found = people.map(ofPerson)
  const [first] = found
  if (first === undefined) return afterS > 0 ? locksAfter(afterS) : fact('unknown', 'no_session')
  const bad = found.find(({ value }) => value !== true)
  if (bad === undefined) return first
  // what the machine does late is more than what a person has turned off
  return afterS > 0 ? locksAfter(afterS) : bad
}

function ofPerson({ active, secure, after, saver }: Person): LockFact {
  const afterS = /^\d{1,9}$/.test(after) ? Number(after) : 0
  if (active !== '1' || !saver || afterS === 0) return fact(false, 'lock_off')
  if (secure !== '1') return fact(false, 'lock_without_password')
  return locksAfter(afterS)
}

function locksAfter(seconds: number): LockFact {
  const minutes = `${Math.round(seconds / 60)} min`
  return seconds > LIMITS.deviceLockSecondsMax
    ? fact(false, 'lock_late', minutes)
    : fact(true, 'locks', minutes)
}
