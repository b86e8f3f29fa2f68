/** Whether connections from outside are refused unless a rule lets them in. */
import { fact, unanswered, type FactOf, type Probe } from '../fact.ts'
import { textOf, type Machine } from '../machine.ts'
import { defaultsOf, type Defaults } from './nftables.ts'
import { ask } from './programs.ts'

type FirewallFact = FactOf<'firewall'>

/** Each says what it found, or null: not in charge here. */
const ASKED = [byFirewalld, byUfw, byNftables, byIptables]

export const firewall: Probe<'firewall'> = async (machine) => {
  const found: FirewallFact[] = []
  for (const one of ASKED) {
    const answer = await one(machine)
    if (answer?.value === true) return answer
    if (answer !== null) found.push(answer)
  }
  // who says no knows; who could not be asked might have said yes
  return found.find(({ value }) => value === 'unknown') ?? found[0] ?? fact(false, 'no_firewall')
}

async function byFirewalld(machine: Machine): Promise<FirewallFact | null> {
  const state = await ask(machine, 'firewall-cmd', ['--state'])
  if (state.kind !== 'ended' || state.text.trim() !== 'running') return null
  const zone = await ask(machine, 'firewall-cmd', ['--get-default-zone'])
  if (zone.kind !== 'ended' || zone.code !== 0) return unanswered(zone, 'firewall-cmd')
  const active = await ask(machine, 'firewall-cmd', ['--get-active-zones'])
  if (active.kind !== 'ended' || active.code !== 0) return unanswered(active, 'firewall-cmd')
  const name = zone.text.trim()
  return name === 'trusted' || isTrusting(active.text)
    ? fact(false, 'allows_all', 'firewalld: trusted')
    : fact(true, 'firewalld', name)
}

/** Whatever the default is, an interface or a network of others may be in the zone that lets in all. */
function isTrusting(zones: string): boolean {
  const [, named = ''] = /^trusted\b.*\n((?:[ \t]+.*\n?)*)/m.exec(zones) ?? []
  const members = [...named.matchAll(/^\s+(?:interfaces|sources): (.*)$/gm)]
  return members.some(([, names = '']) => names.split(/\s+/).some((one) => !/^(?:lo)?$/.test(one)))
}

async function byUfw(machine: Machine): Promise<FirewallFact | null> {
  const result = await ask(machine, 'ufw', ['status', 'verbose'])
  if (result.kind === 'missing') return null
  if (result.kind !== 'ended' || result.code !== 0) return unanswered(result, 'ufw')
  return parseUfw(result.text)
}

/** null: it is installed and off. */
function parseUfw(text: string): FirewallFact | null {
  if (/^Status: inactive$/m.test(text)) return null
  const [, incoming] = /^Default: (\w+) \(incoming\)/m.exec(text) ?? []
  if (!/^Status: active$/m.test(text) || incoming === undefined)
    return fact('unknown', 'not_readable', 'ufw')
  // of its rules, the first that is about everything from everywhere is the last that counts
  const [, ruled] =
    /^Anywhere +(ALLOW|DENY|REJECT) IN +Anywhere *(?:\(.*\) *)?(?:#.*)?$/m.exec(text) ?? []
  const isRefused = incoming === 'deny' || incoming === 'reject'
  return (ruled === undefined ? isRefused : ruled !== 'ALLOW')
    ? fact(true, 'ufw')
    : fact(false, 'allows_all', 'ufw')
}

async function byNftables(machine: Machine): Promise<FirewallFact | null> {
  const result = await ask(machine, 'nft', ['-j', 'list', 'ruleset'])
  if (result.kind === 'missing') return null
  if (result.kind !== 'ended' || result.code !== 0) return unanswered(result, 'nft')
  const defaults = defaultsOf(result.text)
  return defaults === null
    ? fact('unknown', 'not_readable', 'nft')
    : await judged(machine, defaults, 'nftables')
}

async function byIptables(machine: Machine): Promise<FirewallFact | null> {
  const four = await ask(machine, 'iptables', ['-S', 'INPUT'])
  const six = await ask(machine, 'ip6tables', ['-S', 'INPUT'])
  if (four.kind === 'missing') return null
  if (four.kind !== 'ended' || four.code !== 0) return unanswered(four, 'iptables')
  const isSixRefused = six.kind === 'ended' && six.code === 0 && refusesByDefault(six.text)
  const defaults = { ipv4: refusesByDefault(four.text), ipv6: isSixRefused }
  return await judged(machine, defaults, 'iptables')
}

/** By the first rule without a condition, or else by the policy of the chain. */
function refusesByDefault(rules: string): boolean {
  const [, verdict] = /^-A INPUT -j (ACCEPT|DROP|REJECT)(?: --reject-with \S+)?$/m.exec(rules) ?? []
  return verdict === undefined ? /^-P INPUT DROP$/m.test(rules) : verdict !== 'ACCEPT'
}

async function judged(
  machine: Machine,
  { ipv4, ipv6 }: Defaults,
  by: 'nftables' | 'iptables',
): Promise<FirewallFact | null> {
  if (!ipv4) return null
  return ipv6 || !(await hasIpv6(machine)) ? fact(true, by) : fact(false, 'ipv6_open', by)
}

/** An address that others can reach: not of loopback. */
async function hasIpv6(machine: Machine): Promise<boolean> {
  const lines = ((await textOf(machine, '/proc/net/if_inet6')) ?? '').trim().split('\n')
  return lines.some((line) => line !== '' && !/\slo$/.test(line))
}
