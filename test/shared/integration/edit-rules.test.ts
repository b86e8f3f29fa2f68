/** What an edit may touch: the table of what attackers and mistakes would like to write to. */
import t from 'tap'
import {
  changeProblem,
  changesProblems,
  editProblem,
  pathProblem,
} from '../../../shared/integration/edit-rules.ts'
import { LIMITS } from '../../../shared/limits.ts'

const RULES = { sdkUrl: 'https://id.example.com/api/v1/sdk/node' }

const HOSTILE: Readonly<Record<string, { says: RegExp; paths: readonly string[] }>> = {
  'paths that leave the project': {
    says: /leaves its folder|not relative|not plain|is empty/,
    paths: [
      '',
      '..',
      '../app.js',
      'src/../../app.js',
      'src/..',
      '/etc/passwd',
      '//server/share/app.js',
      '/',
      'C:/app.js',
      'c:app.js',
      'C:\\Users\\ada\\app.js',
      '\\\\server\\share\\app.js',
      '\\app.js',
      'file:///etc/passwd',
      '~/.ssh/authorized_keys',
      '~root/app.js',
      '~',
      './app.js',
      'src/./app.js',
      'src//app.js',
      'src/',
      '.',
    ],
  },
  'paths that are not what they look like': {
    says: /cannot be seen|normal form|imitation|not valid Unicode|percent|space or dot|out of bounds|".."|imitat/,
    paths: [
      'src/app.js\0.txt',
      'src/app\n.js',
      'src/\x1b[2Kapp.js',
      'src/\x7fapp.js',
      'src/\x85app.js',
      'src/\u202esj.ppa',
      'src/\u2066app.js',
      'src/\u200eapp.js',
      'src/app\u200b.js',
      'src/app\u200d.js',
      'src/\ufeffapp.js',
      'src/\u00adapp.js',
      'src/\u3164app.js',
      'src/app\ufe0f.js',
      'src/\u{e0041}app.js',
      'src/\u00a0app.js',
      'src/\u3000app.js',
      'src/\u2028app.js',
      'src/\ue000app.js',
      'src/\ud800app.js',
      'src/cafe\u0301.js',
      '.g\u200cit/config',
      '.\u200dgit/config',
      '\uff0e\uff0e/app.js',
      '\uff0egit/config',
      'src\uff0f..\uff0fapp.js',
      'src\uff0fapp.js',
      'src/\u2025/app.js',
      'src/%2e%2e/app.js',
      '%2egit/config',
    ],
  },
  'names that Windows reads as others': {
    says: /space or dot|short forms|device|another meaning|out of bounds/,
    paths: [
      'src/app.js.',
      'src/app.js ',
      'src /app.js',
      ' src/app.js',
      '.git./config',
      '.git /config',
      'GIT~1/config',
      'src/PROGRA~1.JS',
      'git~1',
      'con',
      'src/aux.js',
      'NUL',
      'src/nul.txt',
      'com1.js',
      'com\u00b9.js',
      'LPT9',
      'conin$',
      'CLOCK$',
      'src/con .js',
      'src/app.js:stream',
      '.git::$INDEX_ALLOCATION/config',
      'src/app?.js',
      'src/*.js',
      'src/a|b.js',
      'src/<app>.js',
      'src/"app".js',
    ],
  },
  'what runs by itself, or says what is installed': {
    says: /^is out of bounds: it /,
    paths: [
      '.git/config',
      '.git/hooks/pre-commit',
      '.GIT/hooks/pre-commit',
      '.G\u0131t/config',
      'sub/.git/config',
      '.git',
      '.gitmodules',
      '.gitattributes',
      '.gitconfig',
      '.hg/hgrc',
      '.svn/entries',
      'docs/HEAD',
      '.husky/pre-commit',
      '.githooks/pre-commit',
      'githooks/pre-push',
      'git-hooks/pre-push',
      'lefthook.yml',
      'LeftHook-Local.yaml',
      '.pre-commit-config.yaml',
      '.lintstagedrc.json',
      'lint-staged.config.mjs',
      'commitlint.config.js',
      '.npmrc',
      'apps/web/.npmrc',
      '.yarnrc',
      '.yarnrc.yml',
      '.yarn/releases/yarn.cjs',
      '.pnpmfile.cjs',
      'pnpmfile.js',
      'pnpm-workspace.yaml',
      '.pnp.cjs',
      'bunfig.toml',
      'package.json5',
      'package.yaml',
      'lerna.json',
      'deno.json',
      'node_modules/express/index.js',
      'NODE_MODULES/express/index.js',
      'packages/a/node_modules/b/c.js',
      'vendor/autoload.php',
      'venv/lib/site.py',
      'package-lock.json',
      'yarn.lock',
      'pnpm-lock.yaml',
      'bun.lockb',
      'Gemfile.lock',
      'go.sum',
      'npm-shrinkwrap.json',
      'composer.json',
      'pyproject.toml',
      'setup.py',
      'setup.cfg',
      'requirements.txt',
      'requirements-dev.txt',
      'dev-requirements.in',
      'Pipfile',
      'Gemfile',
      'service.gemspec',
      'Cargo.toml',
      'go.mod',
      'pom.xml',
      'build.gradle',
      'settings.gradle.kts',
      'gradle.properties',
      'gradlew',
      'mvnw',
      '.mvn/extensions.xml',
      'Web.csproj',
      'Directory.Build.props',
      'nuget.config',
      '.github/workflows/ci.yml',
      '.github/actions/build/action.yml',
      '.GitHub/Workflows/ci.yml',
      '.gitlab-ci.yml',
      'deploy.gitlab-ci.yml',
      '.circleci/config.yml',
      'Jenkinsfile',
      'jenkinsfile.prod',
      '.travis.yml',
      'azure-pipelines.yml',
      '.drone.yml',
      '.buildkite/pipeline.yml',
      'bitbucket-pipelines.yml',
      'appveyor.yml',
      'cloudbuild.yaml',
      'vercel.json',
      'netlify.toml',
      'Procfile',
      'app.json',
      'Dockerfile',
      'deploy/Dockerfile.prod',
      'api.Dockerfile',
      'docker-compose.override.yml',
      'compose.yaml',
      'Makefile',
      'GNUmakefile',
      'justfile',
      'Rakefile',
      'lib/tasks/db.rake',
      'gulpfile.js',
      'noxfile.py',
      'tox.ini',
      '.vscode/tasks.json',
      '.vscode/settings.json',
      '.idea/workspace.xml',
      '.devcontainer/devcontainer.json',
      'app.code-workspace',
      'tsconfig.json',
      'eslint.config.js',
      '.eslintrc.cjs',
      '.exrc',
      '.dir-locals.el',
      'shell.nix',
      'mise.toml',
      '.cursor/mcp.json',
      '.mcp.json',
      'mcp.json',
      'AGENTS.md',
      'docs/CLAUDE.md',
      '.envrc',
      '.env',
      '.env.local',
      '.env.production',
      '.Env',
      '.bashrc',
      '.ssh/authorized_keys',
      '.netrc',
      '.htaccess',
      '.user.ini',
      'web.config',
      'conftest.py',
      'sitecustomize.py',
      'lib/evil.pth',
      '.service/journal.json',
      'npm.cmd',
      'git.bat',
      'node.exe',
      'install.ps1',
      'setup.sh',
      'bin/start.BASH',
      'addon.node',
      'evil.service',
    ],
  },
}

for (const [what, { says, paths }] of Object.entries(HOSTILE))
  void t.test(`refused: ${what}`, async (t) => {
    for (const path of paths) t.match(pathProblem(path), says, encodeURI(path.toWellFormed()))
    t.same(new Set(paths).size, paths.length, 'each is told once')
  })

void t.test('refuses at least eighty hostile paths', async (t) => {
  const paths = Object.values(HOSTILE).flatMap(({ paths }) => paths)
  t.ok(paths.length >= 80, String(paths.length))
})

void t.test('lets through what applications are made of', async (t) => {
  const good = [
    'app.js',
    'src/app.js',
    'bin/www',
    'src/hooks/use-session.ts',
    'app/(shop)/[id]/page.tsx',
    'app/@modal/[...slug]/$lang/page.tsx',
    'middleware.ts',
    'next.config.js',
    'vite.config.ts',
    'package.json',
    'apps/web/package.json',
    '.env.example',
    'config/.env.local.sample',
    'public/.well-known/security.txt',
    'service_public.pem',
    'service.js',
    'src/users.service.ts',
    'src/auth/auth.module.ts',
    'src/workspace.js',
    'src/turbo.js',
    'components/head/index.js',
    'head.ejs',
    'manage.py',
    'project/settings.py',
    'config/routes.rb',
    'config/initializers/service.rb',
    'config.ru',
    'app/Http/Middleware/VerifyService.php',
    'src/main/java/com/example/SecurityConfig.java',
    'src/main/resources/application.yml',
    'Program.cs',
    'appsettings.json',
    'main.go',
    'docs/GUIDE.md',
    'src/größe.js',
    'src/日本語.js',
    'src/with space.js',
    'src/a.b.c.d.js',
    'console.js',
    'src/auxiliary.ts',
    'src/common.js',
    'src/nullable.ts',
    'a~b.js',
    '100%.md',
  ]
  for (const path of good) t.equal(pathProblem(path), null, path)
})

void t.test('a path written on Windows is refused with the path that it should be', async (t) => {
  t.match(pathProblem('src\\app.js'), 'is written with "\\": in a guide it is to be src/app.js')
  t.match(pathProblem('.\\src\\\\app.js'), 'it is to be src/app.js')
  t.notMatch(pathProblem('..\\app.js'), 'it is to be', 'and no hint leads out')
  t.notMatch(pathProblem('.git\\config'), 'it is to be', 'or out of bounds')
})

void t.test('the length of a path, of a name and the depth have limits', async (t) => {
  const { guidePathCharactersMax, editNameBytesMax, editPathSegmentsMax } = LIMITS
  const long = (characters: number) => 'a/'.repeat(20) + 'b'.repeat(characters - 40)
  const name = (bytes: number) => `${'é'.repeat((bytes - 3) / 2)}.js`
  t.equal(pathProblem(name(editNameBytesMax)), null)
  t.match(pathProblem(name(editNameBytesMax + 2)), /more than 255 bytes/)
  t.match(pathProblem(long(guidePathCharactersMax)), /more than 255 bytes/)
  t.match(pathProblem(long(guidePathCharactersMax + 1)), /longer than 512 characters/)
  t.equal(pathProblem(`${'a/'.repeat(editPathSegmentsMax - 1)}b`), null)
  t.match(pathProblem(`${'a/'.repeat(editPathSegmentsMax)}b`), /deeper than 32/)
})

void t.test('new text holds nothing that a person does not see in the diff', async (t) => {
  const before = 'const a = 1 // \u202eold\nconst b = 2\n'
  const bad: readonly (readonly [string, string])[] = [
    ['if (isAdmin\u202e) {', 'U+202E'],
    ['const x\u200b = 1', 'U+200B'],
    ['const \u3164 = 1', 'U+3164'],
    ['const s = "\ufe01\ufe02"', 'U+FE01'],
    ['// \u{e0041}', 'U+E0041'],
    ['// comment \u2028 run()', 'U+2028'],
    ['// hidden\rrun()', 'U+000D'],
    ['// \x1b[2K', 'U+001B'],
    ['// \x9b2K', 'U+009B'],
    ['// \x08\x08', 'U+0008'],
    ['const b\ufeff = 1', 'U+FEFF'],
  ]
  for (const [line, code] of bad) {
    const problem = changeProblem({ path: 'a.js', before, after: `${before}${line}\n` }, RULES)
    t.match(problem, `${code}, in line 3`, code)
    t.match(editProblem({ path: 'a.js', action: 'create', content: line, why: '' }), code)
    const edit = { path: 'a.js', action: 'modify', find: 'b', replace: line, why: '' } as const
    t.match(editProblem(edit), code)
  }
  const problemOf = (after: string) => changeProblem({ path: 'a.js', before, after }, RULES)
  t.match(problemOf('a\0b'), /NUL/)
  t.match(problemOf('a\ud800'), /Unicode/)
  t.equal(problemOf(`${before}const c = "\tä 日本 ❤\ufe0f"\r\n`), null)
  t.match(problemOf(before.replace('1', '2')), 'U+202E', 'a line with such a mark stays as it is')
})

void t.test('a file has a limit in bytes', async (t) => {
  const sized = (bytes: number) => ({ path: 'a.js', before: '', after: 'é'.repeat(bytes / 2) })
  t.equal(changeProblem(sized(LIMITS.editedFileBytesMax), RULES), null)
  t.match(changeProblem(sized(LIMITS.editedFileBytesMax + 2), RULES), /larger than 1048576 bytes/)
})

void t.test(
  'changes are judged together: how many, how large, and that none is another',
  async (t) => {
    const change = (path: string, after = 'x') => ({ path, before: null, after })
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => change(`src/${index}.js`))
    t.same(changesProblems(many(LIMITS.guideEditsMax), RULES), [])
    t.match(changesProblems(many(LIMITS.guideEditsMax + 1), RULES), [{ detail: /More than 50/ }])

    const large = Array.from({ length: 8 }, (_, index) =>
      change(`${index}.js`, 'x'.repeat(LIMITS.editedCharactersMax / 8)),
    )
    t.same(changesProblems(large, RULES), [])
    t.match(changesProblems([...large, change('9.js')], RULES), [
      { path: null, detail: /together/ },
    ])

    const pairs = [
      ['src/app.js', 'src/App.js', /same file as src\/app\.js/],
      ['src/app.js', 'src/app.js', /same file/],
      ['straße.js', 'strasse.js', /same file/],
      ['src', 'src/app.js', /a file and a folder/],
      ['SRC/app.js', 'src', /a file and a folder/],
    ] as const
    for (const [first, second, detail] of pairs)
      t.match(changesProblems([change(first), change(second)], RULES), [{ path: second, detail }])
  },
)
