import t from 'tap'
import { controlPlaneSettings } from '../../../control-plane/config.ts'
import { parseConfig } from '../../../shared/config/config.ts'
import { SECRETS } from '../../support/programs.ts'

const FIRST = 'https://acme.example.com/directory'
const SECOND = 'https://other.example.com/acme/dv'

function read(acme: string, accounts?: string, edgeUrl = 'https://{hostname}') {
  const text = `control_plane: { acme: ${acme} }\nedge_url: "${edgeUrl}"\n`
  const config = parseConfig(text, 'config.yaml')
  const secrets = SECRETS as Required<typeof SECRETS>
  const environment = accounts === undefined ? {} : { SERVICE_ACME_EAB: accounts }
  const flags = new Set<string>()
  const read = { config, secrets, previous: {}, keyFiles: [], environment, flags }
  return controlPlaneSettings({ ...read, configFile: undefined }).acme
}

void t.test('nothing is ordered unless an authority is named', (t) => {
  t.equal(read('{}'), null)
  t.equal(read('{ email: ops@example.com }'), null)
  t.end()
})

void t.test('one authority, or several in order, with the accounts that they know', (t) => {
  t.strictSame(read(`{ directory: "${FIRST}" }`), {
    authorities: [{ directory: FIRST, externalAccount: undefined }],
    email: null,
    profile: null,
    wildcards: [],
    dns: null,
  })
  const both = `{ directory: ["${FIRST}", "${SECOND}"], email: ops@example.com, profile: shortlived }`
  t.strictSame(read(both, ' other.example.com=kid=1:AA-_==\n'), {
    authorities: [
      { directory: FIRST, externalAccount: undefined },
      { directory: SECOND, externalAccount: { keyId: 'kid=1', hmacKey: 'AA-_' } },
    ],
    email: 'ops@example.com',
    profile: 'shortlived',
    wildcards: [],
    dns: null,
  })
  t.end()
})

void t.test('what cannot be meant is refused, and no key repeated', (t) => {
  const wish = 'expected an https:// address of an ACME directory'
  t.throws(() => read('{ directory: "http://acme.example.com/directory" }'), new RegExp(wish))
  t.throws(() => read('{ directory: [] }'), /at least one address/)
  const plain = 'http://{hostname}:8000'
  t.throws(() => read(`{ directory: "${FIRST}" }`, undefined, plain), /without TLS/)
  const six = Array.from({ length: 6 }, () => `"${FIRST}"`).join()
  t.throws(() => read(`{ directory: [${six}] }`), /at most 5 addresses/)
  t.throws(() => read(`{ directory: "${FIRST}", email: "a b" }`), /acme\.email: expected/)
  t.throws(() => read(`{ directory: "${FIRST}", profile: "a b" }`), /acme\.profile: expected/)
  for (const accounts of ['secret', 'acme.example.com=secret', 'acme.example.com=kid:sec/ret'])
    t.throws(() => read(`{ directory: "${FIRST}" }`, accounts), {
      message:
        'SERVICE_ACME_EAB: expected host=key_id:hmac_key for each authority, separated by spaces',
    })
  t.throws(() => read(`{ directory: "${FIRST}" }`, 'third.example.com=kid:AAAA'), {
    message: 'SERVICE_ACME_EAB: no control_plane.acme.directory is at third.example.com',
  })
  t.end()
})

void t.test('a zone for proofs by DNS has servers outside of it, and something to order', (t) => {
  const dns = (text: string) => read(`{ directory: "${FIRST}", ${text} }`)
  const zone = 'zone: acme.example.com, servers: [ns1.example.com]'
  t.match(dns(`dns: { ${zone}, listen: "0.0.0.0:53" }, wildcards: [apps.example.com]`), {
    dns: { name: 'acme.example.com', servers: ['ns1.example.com'] },
    wildcards: ['apps.example.com'],
  })
  for (const [text, problem] of [
    ['dns: { zone: acme.example.com }', /dns\.servers: expected the name servers/],
    ['dns: { zone: a.example, servers: [ns.a.example] }', /ns\.a\.example is inside of the zone/],
    ['dns: { listen: "0.0.0.0:53" }', /acme\.dns: .* so set control_plane\.acme\.dns\.zone too/],
    ['wildcards: [apps.example.com]', /acme\.wildcards: .* so set control_plane\.acme\.dns\.zone/],
    [`dns: { ${zone} }, wildcards: ["*.example.com"]`, /expected a domain like example\.com/],
    ['dns: { zone: ACME.example.com, servers: [] }', /expected a domain like example\.com/],
    ['dns: { zone: single, servers: [] }', /expected a domain like example\.com/],
  ] as const)
    t.throws(() => dns(text), problem, text)
  t.throws(() => read(`{ dns: { ${zone} } }`), /so set control_plane\.acme\.directory too/)
  t.end()
})
