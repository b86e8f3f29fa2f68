/** Access rules as people read them. Pure; the result is plain text. */
import type { AccessRule, AllowClause } from '../../../../shared/fleet/access-rules.ts'
import { durationText } from '../../durations.ts'

/** What machines are called, by their id. */
export type MachineNames = ReadonlyMap<string, string>

/** «On app.example.com, /admin and everything below it (GET only): open to members of admins with a second factor.» */
export function ruleSentence(rule: AccessRule, machines: MachineNames): string {
  const { allow, deny = [], widen = false } = rule
  const open = `open to ${listed(allow.map((clause) => clauseText(clause, machines)))}`
  const closed =
    deny.length === 0
      ? ''
      : `, and never to ${listed(deny.map((clause) => clauseText(clause, machines)))}`
  return `${placeText(rule)}: ${open}${closed}.${widen ? ' This also holds for people whom a rule above this path would refuse.' : ''}`
}

export function placeText({ host, path, methods }: AccessRule): string {
  const where = path === '/' ? 'Every path' : `${path} and everything below it`
  const on = host === undefined ? '' : ` on ${host}`
  const how = methods === undefined ? '' : ` (${methods.join(', ')} only)`
  return `${where}${on}${how}`
}

export function clauseText(clause: AllowClause, machines: MachineNames): string {
  const { service, group, not_group, attr = {}, network, not_network, strength, max_age } = clause
  const who =
    service !== undefined
      ? `the machine ${machines.get(service) ?? service}`
      : group !== undefined
        ? `members of ${group}`
        : 'anyone who is signed in'
  const more = [
    ...Object.entries(attr).map(([name, value]) => `with ${name} “${value}”`),
    ...(not_group === undefined ? [] : [`not in ${not_group}`]),
    ...(network === undefined ? [] : [`from the network ${network}`]),
    ...(not_network === undefined ? [] : [`from outside the network ${not_network}`]),
    ...(strength === undefined ? [] : ['with a second factor']),
    ...(max_age === undefined ? [] : [`who signed in within the last ${durationText(max_age)}`]),
  ]
  return [who, ...more].join(' ')
}

/** `a`, `a or b`, `a, b or c`: each is one way. */
function listed(items: readonly string[]): string {
  const [last = ''] = items.slice(-1)
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} or ${last}`
}
