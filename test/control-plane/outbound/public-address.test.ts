/** No tenant can name an address inside: not by spelling, not by a name, not by a second answer. */
import t from 'tap'
import {
  createReceiverAddresses,
  isPublicAddress,
  readReceiverUrl,
} from '../../../control-plane/outbound/public-address.ts'
import { createAddressCheck } from '../../../control-plane/webhooks/receiver-client.ts'
import { LIMITS } from '../../../shared/limits.ts'

const INSIDE = [
  ['0.0.0.0', 'this host'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'shared by a provider'],
  ['100.100.100.200', 'metadata of Alibaba'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'Azure’s host'],
  ['169.254.169.254', 'metadata'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'metadata of Oracle'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'benchmarks'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'compatible'],
  ['::ffff:127.0.0.1', 'mapped'],
  ['::ffff:8.8.8.8', 'mapped, whatever it maps'],
  ['::ffff:0:127.0.0.1', 'translated'],
  ['64:ff9b::7f00:1', 'NAT64'],
  ['64:ff9b::808:808', 'NAT64, whatever it leads to'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['100::1', 'discard'],
  ['2001::1', 'Teredo'],
  ['2001:2::1', 'benchmarks'],
  ['2001:10::1', 'Orchid'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', '6to4 to loopback'],
  ['2002:808:808::', '6to4'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'not allocated'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata of AWS'],
  ['fe80::1', 'link-local'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['localhost', 'no address'],
  ['', 'nothing'],
] as const

t.test('only global unicast is reached', async (t) => {
  for (const [address, why] of INSIDE)
    t.equal(isPublicAddress(address), false, `${address}: ${why}`)
  for (const address of ['8.8.8.8', '1.1.1.1', '100.63.255.255', '172.32.0.1', '198.20.0.1'])
    t.equal(isPublicAddress(address), true, address)
  for (const address of ['2606:4700:4700::1111', '2a00:1450:4001:82f::200e'])
    t.equal(isPublicAddress(address), true, address)
})

const SPELLINGS = [
  'https://127.1/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://017700000001/',
  'https://127.0.0.1:8443/',
  'https://①②⑦.0.0.1/',
  'https://１２７.0.0.1/',
  'https://127。0。0。1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://169.254.169.254/latest/meta-data',
  'https://0/',
]

t.test('an inside address is refused in whatever way it is spelled', async (t) => {
  const check = createAddressCheck({ allowPrivate: [] })
  for (const url of SPELLINGS) t.match(await check(url), /not public/, url)
})

t.test('what is not https and a host, and nothing that names a person, is refused', async (t) => {
  const bad = [
    'http://example.com/',
    'ftp://example.com/',
    'javascript:alert(1)',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https://',
    'https://?x',
    '//example.com',
    'example.com',
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'https://:secret@example.com/',
    'https://example.com/#part',
    'https://example.com./',
    'https://example.com:0/',
    'https://example.com:99999/',
    'https://exa mple.com/',
    'https://example.com\\@10.0.0.1/',
    'https:\\\\example.com/',
    'https://example.com/\r\nX: y',
    'https://exa\tmple.com/',
    ' https://example.com/',
    `https://example.com/${'x'.repeat(LIMITS.webhookUrlCharactersMax)}`,
  ]
  for (const url of bad) t.throws(() => readReceiverUrl(url), { name: 'AddressRefused' }, url)
  t.throws(() => readReceiverUrl('https://user:secret@x.example/'), /^(?!.*secret)/s)
  t.equal(readReceiverUrl('HTTPS://Hooks.Example:443/a?b=c').href, 'https://hooks.example/a?b=c')
  const longest = `https://example.com/${'x'.repeat(LIMITS.webhookUrlCharactersMax - 20)}`
  t.equal(readReceiverUrl(longest).href, longest)
})

t.test('all addresses of a name must be public, not one of them', async (t) => {
  const answers = new Map([
    ['public.example', ['8.8.8.8', '2606:4700::1']],
    ['mixed.example', ['8.8.8.8', '10.0.0.1']],
    ['mapped.example', ['::ffff:10.0.0.1']],
    ['many.example', Array.from({ length: LIMITS.webhookAddressesMax + 1 }, () => '8.8.8.8')],
    ['most.example', Array.from({ length: LIMITS.webhookAddressesMax }, () => '8.8.8.8')],
  ])
  const resolve = async (name: string) => answers.get(name) ?? []
  const addresses = createReceiverAddresses({ resolve, allowPrivate: [] })
  t.same(await addresses.find('public.example'), ['8.8.8.8', '2606:4700::1'])
  t.ok(await addresses.find('most.example'))
  for (const name of ['mixed.example', 'mapped.example', 'many.example'])
    await t.rejects(addresses.find(name), /leads to a network that is not public/, name)
  await t.rejects(addresses.find('nobody.example'), /does not resolve/)
  const opened = createReceiverAddresses({ resolve, allowPrivate: ['10.0.0.0/8'] })
  t.same(await opened.find('mixed.example'), ['8.8.8.8', '10.0.0.1'], 'unless an operator opens it')
  await t.rejects(opened.find('127.0.0.1'), /not public/, 'and nothing else')
})
