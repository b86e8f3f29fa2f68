/** What docs/ says is there, is there: its calls are made in their order, everything else is looked up. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import type { OpenApiDocument } from '../../../control-plane/api/openapi/document.ts'
import { recoveryCommand } from '../../../control-plane/recovery/commands.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { parseConfig } from '../../../shared/config/config.ts'
import { EVENTS } from '../../../shared/events.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { acme as CERTIFICATE } from '../../support/certificates.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'
import { metadataXml, newSigningKey } from '../realm/connections/saml/saml-peer.ts'

const { certificate } = await newSigningKey()
const SAML_METADATA = metadataXml([certificate])
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const docs = globSync('docs/*.md', { cwd: ROOT }).sort()
const pages = ['README.md', ...docs]
/** Whose links are followed, and who may be linked to. */
const linked = [
  ...pages,
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...globSync('deploy/**/*.md', { cwd: ROOT }),
]

/** Between backticks; what is in a block stands for itself. */
const inlineOf = (file: string) =>
  [
    ...read(file)
      .replaceAll(/^```.*?^```$/gms, '')
      .matchAll(/`([^`\n]+)`/g),
  ].map(([, text = '']) => text)
const blocksOf = (file: string, language: string) =>
  [...read(file).matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , text = '']) => text)

void t.test(
  'every page is in the list of pages, and none is longer than two screens',
  async (t) => {
    const index = read('docs/README.md')
    t.ok(docs.length >= 17)
    for (const file of docs.filter((one) => one !== 'docs/README.md')) {
      t.ok(index.includes(`](${relative('docs', file)})`), `docs/README.md names ${file}`)
      t.ok(read(file).split('\n').length <= 110, `${file} is short`)
    }
  },
)

const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

void t.test('every link leads to a page, and to a heading of it', async (t) => {
  for (const file of linked)
    for (const [, target = ''] of read(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const at = path === '' ? file : join(dirname(file), path)
      t.ok(existsSync(join(ROOT, at)), `${file}: ${target}`)
      if (anchor === undefined || !at.endsWith('.md')) continue
      const headings = [...read(at).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => slugOf(text))
      t.ok(headings.includes(anchor), `${file}: ${target} has no such heading`)
    }
})

type Tree = Readonly<Record<string, unknown>>
const EXAMPLE = parse(read('config.example.yaml')) as Tree

const existsIn = (tree: Tree, path: string): boolean => {
  const [first = '', ...rest] = path.split('.')
  if (!Object.hasOwn(tree, first)) return false
  return rest.length === 0 || existsIn((tree[first] ?? {}) as Tree, rest.join('.'))
}

void t.test('every setting, secret and event that is named exists', async (t) => {
  const secrets = read('config.example.yaml') + read('README.md')
  const sources = globSync('{shared,gateway,control-plane}/**/*.ts', { cwd: ROOT })
    .map(read)
    .join('\n')
  for (const file of pages) {
    for (const yaml of blocksOf(file, 'yaml'))
      t.doesNotThrow(() => parseConfig(yaml.replaceAll('…', 'x'), file), `${file}: ${yaml}`)
    for (const text of inlineOf(file)) {
      const [name = ''] = text.split(/[: ]/)
      const isDotted =
        /^[a-z_]+(?:\.[a-z_]+)+$/.test(name) &&
        !/\.(?:md|ts|js|json|yaml|csv|sh|db|txt|localhost)$/.test(name)
      if (isDotted)
        t.ok(
          existsIn(EXAMPLE, name) || Object.hasOwn(EVENTS, name) || sources.includes(`'${name}'`),
          `${file}: ${name}`,
        )
    }
    for (const [name] of read(file).matchAll(/\bSERVICE_[A-Z_]+\b/g))
      t.ok(
        secrets.includes(name) ||
          sources.includes(name) ||
          sources.includes(name.replace(/_FILE$/, '')),
        `${file}: ${name}`,
      )
  }
})

const CONFIG_FREE = ['restored', 'migrate', 'backup', 'restore', 'copy']

void t.test('every command exists', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const text = (file: string) => [...inlineOf(file), ...blocksOf(file, 'sh')].join('\n')
  for (const file of pages) {
    for (const [call, script = ''] of text(file).matchAll(/\bnpm run ([\w:-]+)/g))
      t.ok(Object.hasOwn(scripts, script), `${file}: ${call}`)
    for (const [call, command = ''] of text(file).matchAll(
      /npm run control-plane -- ([a-z]\w*)/g,
    )) {
      t.ok(CONFIG_FREE.includes(command), `${file}: ${call}`)
      const given = ['--to', 'sqlite:a', '--from', 'postgres://a']
      t.ok(recoveryCommand([command, ...given]) !== undefined, `${file}: ${call}`)
    }
    for (const [call, program = '', command = ''] of text(file).matchAll(
      /\b(service-connector|service-device-agent|service-analyzer) ([a-z-]+)\b/g,
    )) {
      const folder =
        { 'service-connector': 'connector', 'service-device-agent': 'device-agent' }[program] ??
        'analyzer'
      const code = globSync(`control-plane/downloads/${folder}/**/*.{ts,md}`, { cwd: ROOT })
        .map(read)
        .join('\n')
      t.ok(
        code.includes(`${program} ${command}`) || code.includes(`'${command}'`),
        `${file}: ${call}`,
      )
    }
  }
})

void t.test('every path of the API that is named is in its document', async (t) => {
  const { call } = await startApi(t)
  const { body } = await call('GET', '/api/v1/openapi.json', undefined, { key: null })
  const { paths } = body as unknown as OpenApiDocument
  const known = Object.keys(paths).map((path) => path.split('/'))
  /** One of them, or what several begin with. */
  const isKnown = (named: readonly string[]) =>
    known.some((path) => named.every((part, at) => path[at] === part || path[at]?.startsWith('{')))
  for (const file of pages)
    for (const [path] of read(file).matchAll(/\/api\/v1\/[\w/{}.-]*[\w}]/g))
      t.ok(isKnown(path.split('/')), `${file}: ${path}`)
})

const CALL = /^api (GET|POST|PUT|PATCH|DELETE) (\S+)(?: +'([^']*)')?/gm
/** What takes more than an API: an authority, a database of people, a name out there. */
const ELSEWHERE = ['certificate_not_found', 'certificate_not_ordered', 'directory_refused']

async function someoneWaiting(store: Store, signUpId: string): Promise<string> {
  const email = `${signUpId}@acme.example`
  await store.change(({ queries, nowMs }) =>
    queries.insert(schema.signUps).values({
      ...{ signUpId, tenantId: 'acme', email, emailKey: email, name: 'N', passwordHash: '' },
      ...{ language: 'en', applicationUrl: 'https://app.example/', ip: '', provenAt: nowMs },
      ...{ createdAt: nowMs, expiresAt: nowMs + 1_000_000, toldAt: null },
    }),
  )
  return signUpId
}

for (const file of docs)
  void t.test(`${file}: every call is taken`, async (t) => {
    const text = read(file)
    const { call, services } = await startApi(t)
    const { tenants, users, gatewayKeys } = services
    if (!text.includes('api POST /tenants ')) {
      await tenants.create(tenantNamed('acme', { hostnames: ['acme.localhost'] }), ACTOR)
      await tenants.publish('acme', ACTOR)
    }
    const values: Record<string, string> = {
      KEY_ID: (await gatewayKeys.make('edge-1', ACTOR)).keyId,
      CERTIFICATE_PEM: JSON.stringify(CERTIFICATE.certificatePem).slice(1, -1),
      SAML_METADATA: JSON.stringify(SAML_METADATA).slice(1, -1),
      PRIVATE_KEY_PEM: JSON.stringify(CERTIFICATE.privateKeyPem).slice(1, -1),
    }
    const filled = (line: string) =>
      line.replaceAll(/[A-Z]+_[A-Z_]+/g, (name) => values[name] ?? name)
    const ada = {
      username: 'ada',
      email: 'ada@example.com',
      name: 'Ada',
      password: 'correct horse battery',
    }
    if (text.includes('USER_ID') && !text.includes('/tenants/acme/users '))
      values['USER_ID'] = (await users.create('acme', ada, ACTOR)).userId
    for (const name of ['SIGN_UP_ID', 'OTHER_SIGN_UP_ID'])
      if (text.includes(name)) values[name] = await someoneWaiting(services.store, name)
    for (const [line, method = '', path = '', body] of text.matchAll(CALL)) {
      const sent = body === undefined ? undefined : (JSON.parse(filled(body)) as object)
      const at = `/api/v1/operator${filled(path.replaceAll(/^'|'$/g, ''))}`
      const { status, body: said } = await call(method, at, sent)
      const isFine = status < 300 || ELSEWHERE.includes(String(said['error']))
      t.ok(isFine, `${line}: ${status} ${JSON.stringify(said)}`)
      for (const [name, value] of Object.entries(said))
        if (name.endsWith('_id') && typeof value === 'string') values[name.toUpperCase()] = value
    }
  })

const count = (value: number) => value.toLocaleString('en-US')
const UNITS: readonly (readonly [RegExp, readonly (readonly [number, string])[]])[] = [
  [
    /Ms(?:Max|Min)?$|KeptMs$/,
    [
      [86_400_000, 'days'],
      [3_600_000, 'h'],
      [60_000, 'min'],
      [1000, 's'],
      [1, 'ms'],
    ],
  ],
  [
    /Seconds(?:Max|Min|Default)?$/,
    [
      [86_400, 'days'],
      [3600, 'h'],
      [60, 'min'],
      [1, 's'],
    ],
  ],
  [
    /Bytes/,
    [
      [1024 * 1024, 'MiB'],
      [1024, 'KiB'],
      [1, 'bytes'],
    ],
  ],
]

function shown(name: string): string {
  const value: unknown = LIMITS[name as keyof typeof LIMITS]
  if (typeof value === 'object') {
    const { burst, perSecond } = value as { burst: number; perSecond: number }
    return `${count(burst)} at once, then ${perSecond < 1 ? `${count(Math.round(perSecond * 3600))} an hour` : `${count(perSecond)} a second`}`
  }
  const number = value as number
  const [, units = []] = UNITS.find(([pattern]) => pattern.test(name)) ?? []
  const [size, unit] =
    units.find(
      ([one, called]) => number % one === 0 && number / one >= (called === 'days' ? 2 : 1),
    ) ?? []
  return size === undefined || unit === undefined
    ? count(number)
    : `${count(number / size)} ${unit}`
}

void t.test('the table of limits is what the code goes by', async (t) => {
  const rows = [...read('docs/limits.md').matchAll(/^\| .+? \| (.+?) \| `(\w+)` \|$/gm)]
  t.ok(rows.length >= 30)
  for (const [, said, name = ''] of rows) {
    t.ok(Object.hasOwn(LIMITS, name), name)
    t.equal(said, shown(name), name)
  }
})
