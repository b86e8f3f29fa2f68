/** The firewall of a Linux machine, from what nft, ufw, firewalld and iptables say. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { firewall } from '../../../../../control-plane/downloads/device-agent/facts/linux/firewall.ts'
import { pretendedMachine, type Pretended } from './pretended-machine.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../../../fixtures/device-facts/${name}`, import.meta.url), 'utf8')
const failed = { kind: 'ended', code: 1, text: '' } as const

const askedFirewall = (commands: Pretended['commands'] = {}, inet6 = '') =>
  firewall(pretendedMachine({ commands, files: { '/proc/net/if_inet6': inet6 } }), new Map())
const IPV6 = 'fe800000000000005054fffe123456 02 40 20 80     eth0\n'
const LOOPBACK = '00000000000000000000000000000001 01 80 10 80       lo\n'

t.test('nftables: refused by policy, or by a last rule without a condition', async (t) => {
  const nft = (name: string) => ({ nft: fixture(`nftables/${name}.json`) })
  for (const name of ['workstation', 'firewalld', 'counted-drop', 'iptables-nft'])
    t.strictSame(await askedFirewall(nft(name), IPV6), { value: true, reason: 'nftables' }, name)
  for (const name of ['debian-example', 'one-condition', 'accepts-all'])
    t.strictSame(
      await askedFirewall(nft(name), IPV6),
      { value: false, reason: 'no_firewall' },
      name,
    )
  t.strictSame(await askedFirewall(nft('ipv4-only'), IPV6), {
    value: false,
    reason: 'ipv6_open',
    detail: 'nftables',
  })
  t.match(await askedFirewall(nft('ipv4-only'), LOOPBACK), { value: true })
  const before = {
    family: 'inet',
    table: 'nat',
    name: 'in',
    type: 'nat',
    hook: 'input',
    policy: 'drop',
  }
  const nat = JSON.stringify({ nftables: [{ chain: before }] })
  t.match(await askedFirewall({ nft: nat }), { value: false, reason: 'no_firewall' })
  t.match(await askedFirewall({ nft: 'Operation not permitted' }), { value: 'unknown' })
  t.match(await askedFirewall({ nft: failed }), { value: 'unknown', reason: 'not_readable' })
})

t.test('ufw, firewalld and iptables', async (t) => {
  const ufw = (incoming: string) => `Status: active
Logging: on (low)
Default: ${incoming} (incoming), allow (outgoing), disabled (routed)
New profiles: skip
`
  t.strictSame(await askedFirewall({ ufw: ufw('deny') }), { value: true, reason: 'ufw' })
  t.match(await askedFirewall({ ufw: ufw('reject') }), { value: true })
  t.match(await askedFirewall({ ufw: ufw('allow') }), { value: false, reason: 'allows_all' })
  t.match(await askedFirewall({ ufw: 'Status: inactive\n' }), {
    value: false,
    reason: 'no_firewall',
  })
  t.match(await askedFirewall({ ufw: 'Zustand: Aktiv\n' }), { value: 'unknown' })
  const ruled = (...rules: readonly string[]) => `${ufw('deny')}
To                         Action      From
--                         ------      ----
${rules.join('\n')}
`
  const ssh = '22/tcp                     LIMIT IN    Anywhere                   # SSH Rate Limited'
  const all = 'Anywhere                   ALLOW IN    Anywhere                  '
  const none = 'Anywhere                   DENY IN     Anywhere                  '
  for (const allowing of [
    [all],
    [ssh, `${all} # temporary`],
    [ssh, all, none],
    ['Anywhere                   ALLOW IN    Anywhere                   (log)'],
  ])
    t.match(
      await askedFirewall({ ufw: ruled(...allowing) }),
      { value: false, reason: 'allows_all' },
      allowing.join(),
    )
  for (const refusing of [
    [ssh, '443                        ALLOW IN    Anywhere'],
    [none, all],
    ['Anywhere                   ALLOW IN    10.0.0.0/8'],
    ['Anywhere on wg0            ALLOW IN    Anywhere'],
    ['Anywhere/udp               ALLOW IN    Anywhere/udp'],
    [
      '80/tcp                     ALLOW IN    Anywhere',
      '9000/tcp                   ALLOW OUT   Anywhere',
    ],
  ])
    t.match(await askedFirewall({ ufw: ruled(...refusing) }), { value: true }, refusing.join())
  t.match(await askedFirewall({ ufw: `${ufw('allow')}\n${none}\n` }), { value: true })

  const zone = 'firewall-cmd --get-default-zone'
  const active = 'firewall-cmd --get-active-zones'
  const zones = (trusted: string) => `docker\n  interfaces: docker0\n${trusted}`
  const running = {
    ...{ 'firewall-cmd --state': 'running\n', [zone]: 'FedoraWorkstation\n' },
    [active]: zones('FedoraWorkstation (default)\n  interfaces: wlp2s0\n'),
  }
  t.strictSame(await askedFirewall(running), {
    value: true,
    reason: 'firewalld',
    detail: 'FedoraWorkstation',
  })
  t.match(await askedFirewall({ ...running, [zone]: 'trusted\n' }), {
    value: false,
    reason: 'allows_all',
  })
  for (const others of [
    'interfaces: lo eth0',
    'sources: 10.0.0.0/8',
    'interfaces: lo\n  sources: ::/0',
  ])
    t.match(await askedFirewall({ ...running, [active]: zones(`trusted\n  ${others}\n`) }), {
      value: false,
      reason: 'allows_all',
    })
  for (const own of ['interfaces: lo', 'interfaces: lo\npublic\n  interfaces: eth0'])
    t.match(await askedFirewall({ ...running, [active]: zones(`trusted\n  ${own}\n`) }), {
      value: true,
    })
  t.match(await askedFirewall({ ...running, [active]: failed }), { value: 'unknown' })
  t.match(await askedFirewall({ 'firewall-cmd --state': 'not running\n' }), { value: false })

  const drop = '-P INPUT DROP\n-A INPUT -i lo -j ACCEPT\n'
  const reject =
    '-P INPUT ACCEPT\n-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -j REJECT --reject-with icmp-host-prohibited\n'
  for (const iptables of [drop, reject])
    t.match(await askedFirewall({ iptables, ip6tables: iptables }, IPV6), {
      value: true,
      reason: 'iptables',
    })
  t.match(await askedFirewall({ iptables: drop, ip6tables: '-P INPUT ACCEPT\n' }, IPV6), {
    reason: 'ipv6_open',
  })
  const behind = '-P INPUT DROP\n-A INPUT -i lo -j ACCEPT\n-A INPUT -j ACCEPT\n-A INPUT -j DROP\n'
  t.match(await askedFirewall({ iptables: behind, ip6tables: behind }), { reason: 'no_firewall' })
  const open = '-P INPUT ACCEPT\n-A INPUT -p tcp --dport 23 -j DROP\n'
  t.match(await askedFirewall({ iptables: open, ip6tables: open }), {
    value: false,
    reason: 'no_firewall',
  })
  t.match(await askedFirewall({ iptables: failed }), { value: 'unknown' })
})
