/** A language that nobody has written code for: a table is all that the reader needs. */
import t from 'tap'
import type {
  Application,
  FrameworkName,
} from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import type { Language } from '../../../../../control-plane/downloads/analyzer/detection/reader/language.ts'
import { readLanguage } from '../../../../../control-plane/downloads/analyzer/detection/reader/read-language.ts'
import { inBlockOf } from '../../../../../control-plane/downloads/analyzer/detection/reader/routes.ts'
import { projectWith } from './project-with.ts'

/** Ktor, as far as this test goes. */
const KTOR: Language = {
  name: 'kotlin',
  title: 'Kotlin',
  files: /\.kt$/,
  settings: ['application.yaml'],
  parts: {
    manifest: /(?:^|\/)deps\.txt$/,
    manager: 'deps',
    called: /^called (\w+)/m,
    dependency: /^needs (\S+) (\S+)/,
  },
  several: 'It is one of several.',
  frameworks: [
    {
      name: 'ktor' as FrameworkName,
      title: 'Ktor',
      packages: [/^ktor$/],
      isNamed: true,
      detail: ['Ktor is a dependency, and % is called.'],
      made: [{ code: /\bembeddedServer\b/, confidence: 'sure', detail: 'embeddedServer()' }],
      entry: [{ code: /\bfun main\b/, confidence: 'sure', detail: 'The program starts here.' }],
      mount: [
        {
          code: /\bfun Application\.module\b/,
          value: 'module',
          confidence: 'sure',
          severally: 'guess',
          detail: 'The application is made here.',
        },
      ],
      routes: [{ calls: /\b()get\s*\(\s*/, nested: [inBlockOf(/\b()route\s*(?=\()/)] }],
      port: [
        {
          setting: /^ktor\.deployment\.port$/,
          reads: [/^(\d+)$/],
          confidence: 'sure',
          detail: 'The settings say so.',
        },
        {
          code: /\bport\s*=\s*/,
          reads: /^(\d{2,5})/,
          confidence: 'sure',
          detail: 'The code does.',
        },
      ],
      customaryPort: [8080, 'It listens there.'],
      signIn: { packages: ['jwt'], code: [[/\binstall\(Authentication\)/, 'ktor authentication']] },
    },
  ],
}

const MAIN = `// fun main() in a comment
fun main() { embeddedServer(Netty, port = 9000).start() }
fun Application.module() {
  install(Authentication)
  routing { route("/api", { get("/healthz") { } }) }
}
`

const read = (files: Readonly<Record<string, string>>) => readLanguage(projectWith(files), KTOR)

async function only(files: Readonly<Record<string, string>>): Promise<Application | undefined> {
  const { applications } = await read(files)
  return applications.length === 1 ? applications[0] : undefined
}

t.test('all of an application is found by the rows of a table', async (t) => {
  const files = {
    'a/deps.txt': 'called shop\nneeds ktor 3.1\nneeds jwt 2\n',
    'a/src/Main.kt': MAIN,
  }
  const found = await only(files)
  t.match(found, {
    folder: 'a',
    variant: '3.1',
    language: 'kotlin',
    packageManager: 'deps',
    entry: { path: 'a/src/Main.kt', line: 2 },
    mount: { path: 'a/src/Main.kt', line: 3 },
    healthPath: '/api/healthz',
    port: 9000,
    signIn: ['jwt', 'ktor authentication'],
    integrated: null,
    confidence: 'sure',
  })
  const details = new Map(found?.findings.map(({ about, detail, at }) => [about, { detail, at }]))
  t.same(details.get('framework'), {
    detail: 'Ktor is a dependency, and embeddedServer() is called.',
    at: { path: 'a/deps.txt', line: 2 },
  })
  t.equal(details.has('workspace'), false, 'there is no other')
})

t.test('settings go before code, and what is customary behind it', async (t) => {
  const deps = { 'deps.txt': 'needs ktor 3\n' }
  const yaml = { 'application.yaml': 'ktor:\n  deployment:\n    port: 7000\n' }
  const plain = { 'Main.kt': MAIN.replace('port = 9000', '') }
  t.equal((await only({ ...deps, ...yaml, 'Main.kt': MAIN }))?.port, 7000)
  t.equal((await only({ ...deps, ...plain }))?.port, 8080)
})

t.test(
  'what is not named is none, several mounts are a guess, several parts are told',
  async (t) => {
    t.same((await read({ 'deps.txt': '', 'Main.kt': MAIN })).applications, [])
    const two = {
      'deps.txt': 'needs ktor 3\n',
      'A.kt': MAIN,
      'B.kt': 'fun Application.module() {}',
    }
    t.equal((await only(two))?.confidence, 'guess')
    const parts = { ...two, 'b/deps.txt': 'called other\nneeds ktor 3\n', 'b/C.kt': MAIN }
    const workspaces = (await read(parts)).applications.flatMap(({ findings }) =>
      findings.flatMap(({ about, value }) => (about === 'workspace' ? [value] : [])),
    )
    t.same(workspaces, ['', 'other'])
  },
)

t.test('the middleware of the contract is seen where it is mounted', async (t) => {
  const mounted = MAIN.replace('install(Authentication)', 'install(ServiceClaims)')
  const found = await only({ 'deps.txt': 'needs ktor 3\n', 'Main.kt': mounted })
  t.same(found?.integrated, { path: 'Main.kt', line: 4 })
})
