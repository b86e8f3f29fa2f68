import { readFileSync } from 'node:fs'
import t from 'tap'
import { ConfigError, edgeUrlFor, parseConfig } from '../../../shared/config/config.ts'
import { resolveSecrets, SECRET_NAMES } from '../../../shared/config/secrets.ts'

t.test('an empty file has every default of the first run', async (t) => {
  const config = parseConfig('', 'config.yaml')
  t.match(config, {
    base_url: 'http://localhost:8080',
    data_dir: './data',
    control_plane: { listen: { host: '127.0.0.1', port: 8080 }, database: 'sqlite' },
    gateway: { workers: 1, tls_listen: null, timeouts: { head: 10_000, keep_alive: 75_000 } },
  })
  t.same(parseConfig('gateway:\ncontrol_plane:\n', 'config.yaml'), config)
})

t.test('the example shows every setting with its default', async (t) => {
  const example = readFileSync(new URL('../../../config.example.yaml', import.meta.url), 'utf8')
  t.same(parseConfig(example, 'config.example.yaml'), parseConfig('', 'config.yaml'))
  const settings = (value: unknown): string[] =>
    Object.entries(value as object).flatMap(([name, inner]) =>
      inner !== null && typeof inner === 'object' && !Array.isArray(inner) && !('port' in inner)
        ? settings(inner)
        : [name],
    )
  for (const name of settings(parseConfig('', 'x'))) t.match(example, `${name}:`, name)
})

t.test('a mistake is one line that names file, path, value and wish', async (t) => {
  for (const [text, line] of [
    ['gateway: {listen: eighty}', 'gateway.listen: expected host:port, got "eighty"'],
    [
      'gateway: {listen: "127.0.0.1:70000"}',
      'gateway.listen: expected host:port, got "127.0.0.1:70000"',
    ],
    ['gatway: {}', 'gatway: unknown setting, did you mean "gateway"?'],
    [
      'control_plane: {log_level: loud}',
      'control_plane.log_level: expected error, warn, info or debug, got "loud"',
    ],
    [
      'control_plane: {tls_listen: "0.0.0.0:443"}',
      'control_plane.tls_listen: browsers come over TLS, so set base_url to https://…',
    ],
    [
      'base_url: "https://a.example"\ncontrol_plane: {tls_listen: "0.0.0.0:443"}',
      'control_plane.tls_listen: there is no certificate to show; set control_plane.acme.directory or control_plane.tls_certificate',
    ],
    [
      'control_plane: {tls_certificate: a.pem}',
      'control_plane.tls_certificate: it is shown by control_plane.tls_listen, so set that too',
    ],
    [
      'gateway: {timeouts: {haed: 1s}}',
      'gateway.timeouts.haed: unknown setting, did you mean "head"?',
    ],
    ['zzzzzz: 1', 'zzzzzz: unknown setting'],
    ['ai: {provider: other}', 'ai.provider: expected anthropic, openai or null, got "other"'],
    ['ai: {model: "a b"}', 'ai.model: expected the name of a model, got "a b"'],
    [
      'ai: {base_url: "https://x/v1?key=1"}',
      'ai.base_url: expected an http:// or https:// address without a query, got "https://x/v1?key=1"',
    ],
    [
      'ai: {output_tokens: 1}',
      'ai.output_tokens: expected a whole number from 500 to 200000, got 1',
    ],
    ['ai: {api_key: x}', 'ai.api_key: unknown setting'],
    [
      'gateway: {timeouts: {head: 3}}',
      'gateway.timeouts.head: expected a duration like 10s, 250ms or 5m, got 3',
    ],
    [
      'gateway: {access_log: {sample: 1.5}}',
      'gateway.access_log.sample: expected a number from 0 to 1, got 1.5',
    ],
    ['gateway: {proxy_protocol: v2}', 'gateway.proxy_protocol: expected true or false, got "v2"'],
    ['gateway: {workers: 0}', 'gateway.workers: expected a whole number from 1 to 256, got 0'],
    [
      'base_url: ftp://x',
      'base_url: expected an http:// or https:// address without a path, got "ftp://x"',
    ],
    [
      'base_url: http://x/y',
      'base_url: expected an http:// or https:// address without a path, got "http://x/y"',
    ],
    [
      'edge_url: http://x',
      'edge_url: expected an http:// or https:// address with {hostname} in it, got "http://x"',
    ],
    ...['10.0.0.0/33', '999.1.1.1', '::/129', '1.2.3.4/x', 'localhost'].map(
      (cidr) =>
        [
          `gateway: {trusted_proxies: ["${cidr}"]}`,
          `gateway.trusted_proxies.0: expected an address or CIDR like 10.0.0.0/8, got "${cidr}"`,
        ] as const,
    ),
    ['gateway: 5', 'gateway: expected settings, got 5'],
    ['- 1', 'expected settings, got a list'],
  ] as const)
    t.throws(() => parseConfig(text, 'config.yaml'), new ConfigError(`config.yaml: ${line}`), text)
  t.throws(() => parseConfig('a: [', 'config.yaml'), /config\.yaml: not valid YAML/)
})

t.test('an address of a provider may have a path', async (t) => {
  const { ai } = parseConfig('ai: {base_url: "http://10.0.0.5:8000/v1/"}', 'config.yaml')
  t.equal(ai.base_url, 'http://10.0.0.5:8000/v1')
})

t.test('who moves a listener moves what points to it', async (t) => {
  const text = 'control_plane: {listen: "127.0.0.1:1080", fleet_listen: "127.0.0.1:1081"}'
  const moved = parseConfig(text, 'x')
  t.equal(moved.base_url, 'http://localhost:1080')
  t.same(moved.gateway.control_plane, ['http://127.0.0.1:1081'])
  const several = parseConfig('gateway: {control_plane: ["http://a:1/", "https://b"]}', 'x')
  t.same(several.gateway.control_plane, ['http://a:1', 'https://b'])
  const written = parseConfig(`base_url: https://id.example\n${text}`, 'x')
  t.equal(written.base_url, 'https://id.example')
  for (const cidr of ['10.0.0.0/8', '::1', '2001:db8::/32', '192.0.2.1'])
    t.doesNotThrow(() => parseConfig(`gateway: {trusted_proxies: ["${cidr}"]}`, 'x'), cidr)
})

t.test('browsers reach a tenant as edge_url says, or as the gateway listens', async (t) => {
  const edge = (text: string) => edgeUrlFor(parseConfig(text, 'x'), 'app.test')
  t.equal(edge(''), 'http://app.test:8000')
  t.equal(edge('gateway: {listen: "0.0.0.0:80"}'), 'http://app.test')
  t.equal(edge('gateway: {tls_listen: "0.0.0.0:8443"}'), 'https://app.test')
  t.equal(edge('edge_url: https://{hostname}:9443'), 'https://app.test:9443')
})

t.test('secrets come from the environment, then the file, then are made once', async (t) => {
  const first = resolveSecrets(SECRET_NAMES, {}, undefined, 'secrets.json')
  t.same(Object.keys(first.secrets), SECRET_NAMES)
  const again = resolveSecrets(SECRET_NAMES, {}, first.fileText, 'secrets.json')
  t.same(again.secrets, first.secrets)
  t.equal(again.fileText, undefined, 'nothing to write')
  const given = { SERVICE_OPERATOR_KEY: 'from-the-environment' }
  t.equal(
    resolveSecrets(SECRET_NAMES, given, first.fileText, 'x').secrets.SERVICE_OPERATOR_KEY,
    'from-the-environment',
  )
})

t.test('a damaged secrets file stops the start and is not repeated in the message', async (t) => {
  t.throws(() => resolveSecrets(SECRET_NAMES, {}, '{"SERVICE_FLEET_KEY": "hush', 'secrets.json'), {
    message: 'secrets.json: expected an object of strings; restore it from a backup',
  })
  t.throws(
    () => resolveSecrets(SECRET_NAMES, { SERVICE_FLEET_KEY: 'short' }, undefined, 'x'),
    /at least 16/,
  )
  const spaced = { SERVICE_OPERATOR_KEY: 'with spaces in it 0123' }
  t.throws(() => resolveSecrets(SECRET_NAMES, spaced, undefined, 'x'), /printable ASCII/)
})
