/** The rules of the house that are worth having, as tests. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { ERRORS } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { VERSION } from '../../shared/version.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const sources = globSync('{shared,gateway,control-plane}/**/*.ts', { cwd: ROOT }).sort()
const tests = globSync('test/**/*.ts', { cwd: ROOT }).filter((file) => !file.includes('fixtures'))
/** Is called as the tables of limits are, and is none. */
const RATES = 'shared/rate-limits.ts'
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** `from '…'` and `import('…')`, resolved to paths from the root; packages stay as they are. */
function importsOf(file: string): string[] {
  const specifiers = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)]
  return specifiers.map(([, specifier = '']) =>
    specifier.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), specifier)) : specifier,
  )
}

/** Names and where from; `import('…')` takes all there is. */
const IMPORT =
  /(?:import|export)\s+(?:type\s+)?(\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*'(\.[^']+)'|import\(\s*'(\.[^']+)'/g

function offenders(files: readonly string[], isWrong: (imported: string) => boolean): string[] {
  return files.flatMap((file) =>
    importsOf(file)
      .filter(isWrong)
      .map((imported) => `${file} imports ${imported}`),
  )
}

/** Code for others to paste is text, whatever it imports. */
const isText = (file: string) =>
  file.startsWith('shared/integration/snippets/') || file === GUARD_CALL
const GUARD_CALL = 'control-plane/downloads/analyzer/edits/guard-call.ts'
const under = (room: string) => sources.filter((file) => file.startsWith(room))

t.test('shared imports neither program, and the programs never import each other', async (t) => {
  t.same(
    offenders(under('shared/'), (name) => /^(?:gateway|control-plane)\//.test(name)),
    [],
  )
  t.same(
    offenders(under('gateway/'), (name) => name.startsWith('control-plane/')),
    [],
  )
  t.same(
    offenders(under('control-plane/'), (name) => name.startsWith('gateway/')),
    [],
  )
})

t.test('nothing that is shipped imports a test or a bench', async (t) => {
  t.same(
    offenders(sources, (name) => /^(?:test|bench)\//.test(name)),
    [],
  )
})

t.test('shared does no I/O, and the decision core is pure', async (t) => {
  const io =
    /^(?:node:)?(?:fs|net|http|https|http2|tls|dns|child_process|cluster|process|os)(?:\/|$)/
  /** A type only; and the reading of addresses, for which node:net needs no socket. */
  const isNoIo =
    /^shared\/(?:config\/settings\.ts imports node:fs|(?:client-address|networks|proxy-header|proxy-protocol)\.ts imports node:net)$/
  const code = under('shared/').filter((file) => !isText(file))
  const doesIo = offenders(code, (name) => io.test(name))
  t.same(
    doesIo.filter((line) => !isNoIo.test(line)),
    [],
  )
  t.match(read('shared/networks.ts'), "import { BlockList, isIP } from 'node:net'")
  t.match(read('shared/client-address.ts'), "import { isIP } from 'node:net'")
  t.match(read('shared/proxy-header.ts'), "import { isIPv4, isIPv6 } from 'node:net'")
  t.match(read('shared/proxy-protocol.ts'), "import type { Socket } from 'node:net'")
  t.match(read('shared/config/settings.ts'), "import type * as FileSystem from 'node:fs'")
  const beyond = offenders(
    under('shared/enforcement/'),
    (name) => !name.startsWith('shared/') && name !== 'node:crypto',
  )
  t.same(beyond, [])
  for (const file of [...under('shared/enforcement/'), ...under('control-plane/policy/')])
    t.notMatch(read(file), /Date\.now|new Date\(\)|Math\.random|process\./, file)
})

t.test('policies are pure: they see no store, no clock and no network', async (t) => {
  const allowed = /^(?:shared\/|control-plane\/policy\/|node:net$)/
  t.same(
    offenders(under('control-plane/policy/'), (name) => !allowed.test(name)),
    [],
  )
})

t.test('what runs on other machines imports nothing of the control plane', async (t) => {
  const inside = /^control-plane\/(?!downloads\/)/
  t.same(
    offenders(under('control-plane/downloads/'), (name) => inside.test(name)),
    [],
  )
})

t.test('the wire knows nothing of sessions, and the pipeline nothing of sockets', async (t) => {
  const decides = /^gateway\/(?:session|request)/
  const wire = ['http1', 'http2', 'tls', 'upgrade', 'upstream', 'wire']
  t.same(
    offenders(
      wire.flatMap((room) => under(`gateway/${room}/`)),
      (name) => decides.test(name),
    ),
    [],
  )
  const pipeline = [...under('gateway/request'), ...under('gateway/session/')]
  t.same(
    offenders(pipeline, (name) => /^node:(?:net|tls|http|http2|stream)$/.test(name)),
    [],
  )
})

t.test('only main.ts and config.ts see the environment', async (t) => {
  const isEntrance = (file: string) => /(?:^|\/)(?:main|config)\.ts$/.test(file)
  for (const file of sources.filter((file) => !isEntrance(file) && !isText(file)))
    t.notMatch(read(file), /process\.env/, file)
})

const BANNED: readonly (readonly [RegExp, string])[] = [
  [/console\.(?:log|error|warn)/, 'log through pino, or write to the person at the terminal'],
  [/\beval\(|new Function\(/, 'nothing is evaluated'],
  [/export default/, 'named exports only'],
  [/rejectUnauthorized: false/, 'certificates are verified'],
  [/createHash\('(?:md5|sha1)'\)/, 'no broken hash'],
  [/\.innerHTML/, 'pages are escaped templates'],
  [/(?<!\.)\b(?:TODO|FIXME|XXX)\b/, 'finish it, or file it'],
  [/@ts-ignore|\bas any\b/, 'a type that does not fit is a finding'],
]

/** The lists of breached passwords that exist are lists of SHA-1 hashes. */
const isBreachList = (file: string) => file === 'control-plane/accounts/passwords/breach-list.ts'

/**
 * Who has issued a certificate that is not trusted is asked before it is refused, and is told nothing
 * of ours; an operator may ask for `sslmode=require` by that name; and a certificate that is known
 * beforehand is compared byte by byte.
 */
const LOOKS_AT_STRANGERS = [
  'control-plane/downloads/connector/diagnosis/tls.ts',
  'control-plane/store/engines/postgres-address.ts',
  'shared/connector/pinned-tls.ts',
]
const looksAtStrangers = (file: string, pattern: RegExp) =>
  LOOKS_AT_STRANGERS.includes(file) && pattern.source.startsWith('rejectUnauthorized')

t.test('banned calls do not occur', async (t) => {
  const mayStand = (file: string, pattern: RegExp) =>
    isBreachList(file) || looksAtStrangers(file, pattern)
  for (const [pattern, instead] of BANNED)
    t.same(
      sources.filter((file) => !mayStand(file, pattern) && pattern.test(read(file))),
      [],
      `${String(pattern)}: ${instead}`,
    )
})

/** On other machines a text is their own, and holds up nobody else. */
const isHere = (file: string) => !file.startsWith('control-plane/downloads/')
/** `/ +$/`, which begins anew at each of a thousand spaces: the square of them, wherever they stand. */
const FROM_EACH = /[(=,?:\s]\/(?:\[(?:\\.|[^\]\\\n])+\]|\\.|[^\\/[(^\n])[+*]\$\/[a-z]*/g

/** They compare with times of tokens, files and other machines, or say what time it is. */
const ASK_THE_WALL_CLOCK = [
  'gateway/fleet/figures-outbox.ts',
  'gateway/fleet/replica.ts',
  'gateway/fleet/told-time.ts',
  'gateway/http1/client-connection.ts',
  'gateway/http2/http2-connection.ts',
  'gateway/process/fleet-clock.ts',
  'gateway/session/open-streams.ts',
  'gateway/telemetry/access-log.ts',
  'gateway/telemetry/refusal-sample.ts',
  'gateway/telemetry/trace-export.ts',
  'gateway/tenants/registry.ts',
  'gateway/tls/ticket-keys.ts',
  'gateway/wire/answer.ts',
]

t.test('nothing else at the edge goes by a clock that somebody may set', async (t) => {
  const asks = /\bclock\.nowMs\(\)|\bDate\.now\b|\b(?:nowSeconds|secondsOf)\(clock\)/
  t.same(
    under('gateway/').filter((file) => asks.test(read(file))),
    ASK_THE_WALL_CLOCK,
  )
})

t.test('the end of a text is looked for from its end', async (t) => {
  t.same(' .replace(/ +$/)'.match(FROM_EACH)?.length, 1, 'which is what is looked for')
  const found = sources
    .filter(isHere)
    .flatMap((file) => [...read(file).matchAll(FROM_EACH)].map(([text]) => `${file}: ${text}`))
  t.same(found, [], 'withoutTrailing() takes as long as there is to take away')
})

t.test('queries are awaited, so that both databases can answer them', async (t) => {
  for (const file of under('control-plane/store/queries/'))
    t.notMatch(read(file), /\)\s*\.(?:get|all|run|values)\(\)/, file)
})

t.test('drizzle-orm is loaded once, by the file that says why', async (t) => {
  t.same(
    offenders(sources, (name) => name.startsWith('drizzle-orm')).filter(
      (line) => !line.startsWith('control-plane/store/drizzle.ts '),
    ),
    ['control-plane/store/engine.ts imports drizzle-orm/sqlite-core'],
    'that is a type',
  )
})

t.test('there are no drawers, and a room fits a head', async (t) => {
  const everything = [...sources, ...tests]
  t.same(
    everything.filter((file) =>
      /(?:^|\/)(?:utils?|helpers?|common|lib|misc)(?:\/|\.ts$)/.test(file),
    ),
    [],
  )
  t.same(
    everything.filter((file) => read(file).split('\n').length > 401),
    [],
    'a file over 400 lines is probably two',
  )
  t.same(
    everything
      .map((file) => file.split('/').at(-1) ?? '')
      .filter((name) => !/^[a-z0-9.-]+$/.test(name)),
    [],
    'files are named in kebab-case',
  )
})

t.test('no test is left focused, or for later', async (t) => {
  for (const file of tests.filter((file) => file.endsWith('.test.ts')))
    t.notMatch(read(file), /\.only\(|t\.todo\(/, file)
})

t.test('every limit is asked for somewhere', async (t) => {
  const asked = sources.filter(
    (file) => !/^shared\/[a-z-]*limits\.ts$/.test(file) || file === RATES,
  )
  const text = asked.map(read).join('\n')
  t.same(
    Object.keys(LIMITS).filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
    [],
  )
})

t.test('every error code is asked for somewhere', async (t) => {
  const asked = sources
    .filter((file) => file !== 'shared/errors.ts')
    .map(read)
    .join('\n')
  t.same(
    Object.keys(ERRORS).filter((code) => !asked.includes(`'${code}'`)),
    [],
  )
})

t.test('what is exported is imported by somebody', async (t) => {
  const imported = new Map<string, Set<string>>()
  const importedFrom = (file: string) => imported.get(file) ?? new Set()
  const benches = globSync('bench/**/*.ts', { cwd: ROOT })
  for (const file of [...sources, ...tests, ...benches])
    for (const [, names = '*', by, lazily] of read(file).matchAll(IMPORT)) {
      const from = relative(ROOT, join(ROOT, dirname(file), by ?? lazily ?? ''))
      const all = names.startsWith('*') ? ['*'] : (names.match(/\w+/g) ?? [])
      imported.set(from, new Set([...importedFrom(from), ...all]))
    }
  // browsers and installed packages take theirs in other ways
  const isElsewhere = (file: string) => /\/browser\/|\/package\/|events-page\.ts$/.test(file)
  const unused = sources
    .filter((file) => !isElsewhere(file) && !isText(file) && !importedFrom(file).has('*'))
    .flatMap((file) =>
      [...read(file).matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm)]
        .filter(([, name = '']) => !importedFrom(file).has(name))
        .map(([, name = '']) => `${file}: ${name}`),
    )
  t.same(unused, [])
})

t.test(
  'every room has a heading in ARCHITECTURE.md, and every file named there is one',
  async (t) => {
    const page = read('ARCHITECTURE.md')
    const rooms = new Set(sources.map((file) => file.split('/').slice(0, 2).join('/')))
    for (const room of rooms) if (!room.endsWith('.ts')) t.match(page, `\n### ${room}\n`, room)
    const headed = [...page.matchAll(/^### (.+)$/gm)].map(([, room = '']) => room)
    t.same(
      headed.filter((room) => !rooms.has(room) && room !== 'shared'),
      [],
    )
    const files = globSync('{shared,gateway,control-plane,test,bench}/**/*.{ts,js}', { cwd: ROOT })
    const named = [...page.matchAll(/`([a-z0-9./-]+\.ts)`/g)].map(([, name = '']) => name)
    t.ok(named.length > 80)
    t.same(
      named.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`))),
      [],
    )
    t.ok(page.split('\n').length <= 250, 'and it stays readable')
  },
)

t.test('what a newcomer is told to run or to open is there', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const page of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md']) {
    const text = read(page)
    const commands = [...text.matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name = '']) => name)
    const linked = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)[^)]*\)/g)].map(
      ([, path = '']) => join(dirname(page), path),
    )
    const named = [
      ...text.matchAll(/[` ]((?:gateway|control-plane|shared|test|bench)\/[\w./-]+)/g),
    ].map(([, path = '']) => path.replace(/\.$/, ''))
    t.same(
      commands.filter((name) => !Object.hasOwn(scripts, name)),
      [],
      `${page}: commands`,
    )
    t.notMatch(text, /^\s*node \S+\.ts\b/m, `${page}: the machine's Node may be too old for that`)
    t.same(
      [...linked, ...named].filter((path) => !existsSync(join(ROOT, path))),
      [],
      `${page}: files`,
    )
  }
})

t.test('the version is the same everywhere', async (t) => {
  t.equal((JSON.parse(read('package.json')) as { version: string }).version, VERSION)
})

t.test('the project needs nothing beside itself', async (t) => {
  for (const file of [...sources, ...tests, '.ci/run'])
    if (file !== 'test/tidy/house.test.ts')
      t.notMatch(read(file), /\.\.\/shared\/(?:corpora|spec|design)/, file)
})
