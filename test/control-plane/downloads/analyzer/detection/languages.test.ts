/** Python, Ruby, PHP, Java, C# and Go: what must not fool detection, and where it says "guess". */
import t from 'tap'
import { detect } from '../../../../../control-plane/downloads/analyzer/detection/detect.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import {
  BOOT,
  confidenceOf,
  detected,
  FLASK,
  only,
  POM,
  WEB_CSPROJ,
  type Files,
} from './only-application.ts'
import { projectWith } from './project-with.ts'

const FASTAPI = 'from fastapi import FastAPI\napp = FastAPI()\n'
const MAIN_GO = 'package main\nimport "net/http"\nfunc main() { http.ListenAndServe(":80", nil) }\n'

t.test('what only reads like an application is none', async (t) => {
  const decoys: Readonly<Record<string, Files>> = {
    'made in a comment': { 'app.py': 'from flask import Flask\n# app = Flask(__name__)\n' },
    'made in a docstring': { 'app.py': `"""\n${FLASK}"""\nimport flask\n` },
    'made in a string': {
      'app.py': `from flask import Flask\nx = '${FLASK.replaceAll('\n', '\\n')}'`,
    },
    'another thing of that name': { 'app.py': 'from drinks import Flask\napp = Flask(1)\n' },
    'a type only': { 'app.py': 'from flask import Flask\ndef f(app: Flask) -> Flask: ...\n' },
    'in tests': { 'tests/app.py': FLASK, 'test_app.py': FASTAPI, 'api/conftest.py': FLASK },
    'in examples': { 'examples/hello/app.py': FASTAPI, 'docs/app.py': FLASK },
    'for developers only': {
      'pyproject.toml': '[dependency-groups]\ndev = ["flask"]\n',
      'x.py': '',
    },
    'a README': { 'README.md': FLASK, 'requirements.txt': '# flask\n' },
    'Go in a test': {
      'go.mod': 'module m\n',
      'main_test.go': MAIN_GO,
      'testdata/main.go': MAIN_GO,
    },
    'Go without a program': {
      'go.mod': 'module m\n',
      'web.go': MAIN_GO.replace('package main', 'package web'),
    },
    'Go in a raw string': {
      'go.mod': 'module m\n',
      'main.go': `package main\nfunc main() { _ = \`${MAIN_GO}\` }`,
    },
    'a class of a comment': {
      'config/application.rb': '# class A < Rails::Application\n',
      Gemfile: "gem 'rails'",
    },
    'a Rails engine': {
      'spec/dummy/config/application.rb': 'class A < Rails::Application\nend',
      Gemfile: "gem 'rails'",
    },
    'a Laravel package': {
      'composer.json': '{"require":{"laravel/framework":"^11"}}',
      'src/A.php': '<?php',
    },
    'Laravel for developers': {
      'composer.json': '{"require-dev":{"laravel/framework":"^11"}}',
      'bootstrap/app.php': '<?php Application::configure()',
    },
    'an annotation in a comment': {
      'pom.xml': POM,
      'src/main/java/A.java': `/** ${BOOT} */ class A {}`,
    },
    'an annotation in tests': { 'pom.xml': POM, 'src/test/java/A.java': BOOT },
    'a library of .NET': {
      'A.csproj': '<Project Sdk="Microsoft.NET.Sdk" />',
      'A.cs': '// WebApplication.CreateBuilder()',
    },
    'a project of tests': {
      'Shop.Tests/Shop.Tests.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><ItemGroup><PackageReference Include="Microsoft.NET.Test.Sdk" /></ItemGroup></Project>',
      'Shop.Tests/Program.cs': 'var b = WebApplication.CreateBuilder(args);\nvar app = b.Build();',
    },
    'a commented Sdk': {
      'A.csproj': `<!-- ${WEB_CSPROJ} --><Project Sdk="Microsoft.NET.Sdk"></Project>`,
    },
  }
  for (const [name, files] of Object.entries(decoys))
    t.same((await detected(files)).applications, [], name)
})

t.test('where several could be meant it says "guess"', async (t) => {
  const guesses: Readonly<Record<string, Files>> = {
    'two objects, and nothing starts one': { 'a/one.py': FASTAPI, 'b/two.py': FASTAPI },
    'a list that is put together': {
      'manage.py':
        "from django.core.management import execute_from_command_line\nimport os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 's')\n",
      's.py': 'MIDDLEWARE = FIRST + SECOND\n',
    },
    'servers in two packages': {
      'go.mod': 'module m\n',
      'main.go': 'package main\nimport (\n"m/a"\n"m/b"\n)\nfunc main() { a.Serve(); b.Serve() }\n',
      'a/a.go': MAIN_GO.replace('main', 'a').replace('main', 'Serve'),
      'b/b.go': MAIN_GO.replace('main', 'b').replace('main', 'Serve'),
    },
    'not served by net/http': {
      'go.mod': 'module m\nrequire github.com/gofiber/fiber/v2 v2.52.0\n',
      'main.go':
        'package main\nimport "github.com/gofiber/fiber/v2"\nfunc main() {\napp := fiber.New()\napp.Listen(":3000")\n}\n',
    },
    'two that start': {
      'pom.xml': POM,
      'src/main/java/A.java': BOOT,
      'src/main/java/B.java': BOOT,
    },
    'two Startup classes': {
      'A.csproj': WEB_CSPROJ,
      'Program.cs': 'Host.CreateDefaultBuilder(args)',
      'Startup.cs': 'void Configure(IApplicationBuilder app) {}',
      'StartupForDevelopment.cs': 'void Configure(IApplicationBuilder app) {}',
    },
    'no place at all': { 'A.csproj': WEB_CSPROJ },
  }
  for (const [name, files] of Object.entries(guesses)) {
    const { applications } = await detected(files)
    t.same(
      applications.map(({ confidence }) => confidence),
      ['guess'],
      name,
    )
  }
})

t.test('a path behind a prefix that cannot be read is a guess', async (t) => {
  const python = await only({
    'app.py': `${FASTAPI}from health import router\nimport config\napp.include_router(router, prefix=config.prefix())\n`,
    'health.py':
      "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/healthz')\ndef h(): ...\n",
  })
  t.equal(python.healthPath, '/healthz')
  t.equal(confidenceOf(python, 'health'), 'guess')

  const django = await only({
    'manage.py':
      "from django.core.management import execute_from_command_line\nimport os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 's')\n",
    's.py': "MIDDLEWARE = []\nROOT_URLCONF = 'urls'\n",
    'urls.py':
      "order = [\n  path('healthz', h),\n]\nurlpatterns = [\n  path('orders/<int:id>/', include(order)),\n  path('ping', p),\n]\n",
  })
  t.equal(django.healthPath, '/ping', 'one that is known is taken before one that is not')

  const go = await only({
    'go.mod': 'module m\n',
    'main.go': `package main\nimport "net/http"\nfunc main() { http.ListenAndServe(":80", nil) }\nfunc routes(g *gin.RouterGroup) {\ng.GET("/healthz", h)\n}\n`,
  })
  t.equal(confidenceOf(go, 'health'), 'guess')

  const rails = await only({
    'config/application.rb': 'class A < Rails::Application\nend',
    'config/routes.rb': "draw do\n  resources :shops do\n    get 'health'\n  end\nend\n",
  })
  t.equal(confidenceOf(rails, 'health'), 'guess')
})

t.test('a path with a parameter, and a status of something, is not its health', async (t) => {
  const { healthPath } = await only({
    'app.py': `${FLASK}@app.get('/<name>/health')\ndef a(): ...\n@app.get('/orders')\ndef b(): ...\n`,
  })
  t.equal(healthPath, null)
})

t.test('the package manager is the one whose files lie there', async (t) => {
  const managers: Readonly<Record<string, Files>> = {
    pip: { 'requirements.txt': 'flask' },
    pipenv: { Pipfile: '[packages]\nflask = "*"\n' },
    poetry: { 'pyproject.toml': '[tool.poetry.dependencies]\nflask = "^3"\n' },
    uv: { 'pyproject.toml': '[project]\nname="a"\ndependencies=["flask"]\n', 'uv.lock': '' },
    pdm: { 'pyproject.toml': '[project]\nname="a"\ndependencies=["flask"]\n', 'pdm.lock': '' },
  }
  for (const [name, files] of Object.entries(managers)) {
    const found = await only({ 'app.py': FLASK, ...files })
    t.equal(found.packageManager, name)
    t.equal(confidenceOf(found, 'framework'), 'sure', `${name}: the dependency is read`)
  }
  const setup = { 'setup.py': "setup(install_requires=['flask>=2'])", 'app.py': FLASK }
  t.equal((await only(setup)).variant, '>=2')
  const cfg = {
    'setup.cfg': '[options]\ninstall_requires =\n  click\n  Flask==2.1\n',
    'app.py': FLASK,
  }
  t.equal((await only(cfg)).variant, '==2.1')
})

t.test(
  'middleware that is there already is found where it is mounted, not where it is made',
  async (t) => {
    const boot = 'config/application.rb'
    const integrated: readonly (readonly [Files, string | null])[] = [
      [
        {
          [boot]: 'class A < Rails::Application\nend',
          'config/initializers/s.rb':
            'class ServiceClaims\nend\nmiddleware.insert_before 0, ServiceClaims',
        },
        'config/initializers/s.rb:3',
      ],
      [
        {
          [boot]: 'class A < Rails::Application\nend',
          'config/initializers/s.rb': '# insert_before 0, ServiceClaims',
        },
        null,
      ],
      [
        {
          'app.py': `${FASTAPI}from service_claims import ServiceClaims\napp.add_middleware(ServiceClaims)\n`,
        },
        'app.py:3',
      ],
      [
        {
          'requirements.txt': 'flask\n',
          'app.py': `from flask import Flask\napp = Flask(__name__)\napp.before_request(sign_in)\n`,
        },
        'app.py:3',
      ],
      [
        {
          'requirements.txt': 'flask\n',
          'app.py': `from flask import Flask\napp = Flask(__name__)\n\n\n@app.before_request\ndef sign_in():\n    pass\n`,
        },
        'app.py:5',
      ],
      [
        { 'go.mod': 'module m\n', 'main.go': MAIN_GO.replace('nil', 'ServiceClaims(nil)') },
        'main.go:3',
      ],
      [
        { 'go.mod': 'module m\n', 'main.go': `${MAIN_GO}func ServiceClaims(next http.Handler) {}` },
        null,
      ],
      [
        {
          'A.csproj': WEB_CSPROJ,
          'Program.cs':
            'var b = WebApplication.CreateBuilder(args);\nvar app = b.Build();\napp.UseMiddleware<ServiceClaims>();',
        },
        'Program.cs:3',
      ],
      [
        {
          'pom.xml': POM,
          'src/main/java/A.java': BOOT,
          'src/main/java/F.java': 'class ServiceClaimsFilter {}',
        },
        'src/main/java/F.java:1',
      ],
      [
        {
          'composer.json': '{"require":{"laravel/framework":"^11"}}',
          'bootstrap/app.php':
            '<?php\nreturn Application::configure()\n->withMiddleware(fn ($m) => $m->prepend(ServiceClaims::class))',
        },
        'bootstrap/app.php:3',
      ],
    ]
    for (const [files, expected] of integrated) {
      const { integrated: at } = await only(files)
      t.equal(at === null ? null : `${at.path}:${at.line}`, expected)
    }
  },
)

t.test('a manifest that cannot be read is told, and stops nothing', async (t) => {
  const garbage = '\u0000[[[<<<{{{"\n'
  const files: Files = {
    'pyproject.toml': garbage,
    Pipfile: garbage,
    'setup.cfg': garbage,
    'requirements.txt': garbage,
    'app.py': FLASK,
    'web/composer.json': garbage,
    'web/bootstrap/app.php': garbage,
    'rails/Gemfile': garbage,
    'rails/config/application.rb': 'class A < Rails::Application\nend',
    'rails/config/routes.rb': garbage,
    'rails/config/puma.rb': garbage,
    'java/pom.xml': garbage,
    'java/src/main/java/A.java': BOOT,
    'java/src/main/resources/application.yml': garbage,
    'gradle/build.gradle': garbage,
    'gradle/gradle/libs.versions.toml': garbage,
    'dotnet/A.csproj': garbage,
    'dotnet/B.csproj': WEB_CSPROJ,
    'dotnet/appsettings.json': garbage,
    'dotnet/Properties/launchSettings.json': garbage,
    'go/go.mod': garbage,
    'go/main.go': MAIN_GO,
    Dockerfile: garbage,
    Procfile: garbage,
  }
  const { applications, remarks } = await detected(files)
  t.same(
    applications.map(({ framework }) => framework).sort(),
    ['aspnet', 'flask', 'go', 'rails'],
    'no web server is to be seen in what cannot be read of Maven',
  )
  for (const path of ['pyproject.toml', 'Pipfile', 'web/composer.json'])
    t.ok(
      remarks.some((remark) => remark.startsWith(`${path} cannot be read: `)),
      path,
    )
})

t.test('an empty project is nothing, and what was not looked at is said', async (t) => {
  t.same(await detected({}), { applications: [], remarks: [] })
  const project = {
    ...projectWith({ a: '' }),
    isCut: true,
    unread: [{ path: 'b', reason: 'cannot be read: permission denied' }],
  }
  t.same((await detect(project)).remarks, [
    'Only 1 files were looked at: the project is larger than that.',
    'b cannot be read: permission denied.',
  ])
})

t.test('of each language so many files are read and no more', async (t) => {
  const many = (count: number, path: (n: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [path(n), '']))
  const max = LIMITS.detectionSourcesMax
  const languages: readonly (readonly [string, Files, (n: number) => string])[] = [
    ['Python', {}, (n) => `m${n}.py`],
    ['Go', { 'go.mod': 'module m\n' }, (n) => `p/f${n}.go`],
    ['Java and Kotlin', { 'pom.xml': POM }, (n) => `src/main/java/C${n}.java`],
    ['C#', { 'A.csproj': WEB_CSPROJ }, (n) => `C${n}.cs`],
  ]
  for (const [name, files, path] of languages) {
    t.same((await detected({ ...files, ...many(max, path) })).remarks, [])
    const { remarks } = await detected({ ...files, ...many(max + 1, path) })
    t.same(remarks, [`Only ${max} of ${max + 1} ${name} files were looked at.`])
  }
})
