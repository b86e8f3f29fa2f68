// long: starts programs in other languages
/**
 * Files that are taken out of the contract's programs keep the promises of those programs, mounted by
 * the very lines that are shown to a person.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import t from 'tap'
import type { Application } from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import { aspnetFile } from '../../../../../control-plane/downloads/analyzer/edits/other/csharp.ts'
import type { Plan } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { GO } from '../../../../../shared/integration/snippets/go.ts'
import { PYTHON } from '../../../../../shared/integration/snippets/python.ts'
import type { FrameworkSnippet } from '../../../../../shared/integration/snippets/snippet.ts'
import type { Host } from '../../../../shared/snippets/application.ts'
import { keepsItsPromises } from '../../../../shared/snippets/promises.ts'
import { planned, type Files } from './projects.ts'

/** Debian's: another Python on the PATH has none of its packages. */
const INTERPRETER = '/usr/bin/python3'
const COMPILER = '/usr/bin/go'

function missing(...modules: readonly string[]): string | false {
  try {
    const imports = ['jwt', 'cryptography', ...modules].join(', ')
    execFileSync(INTERPRETER, ['-c', `import ${imports}`], { stdio: 'ignore' })
    return false
  } catch {
    return `${INTERPRETER} has no ${modules.join(', ')} (or no jwt, cryptography)`
  }
}

const FLASK = `import os

from flask import Flask, g


def create_app():
    app = Flask(__name__)
    # mounted here

    @app.get('/')
    def home():
        return f"Hello {g.user['name']}\\n", {'Content-Type': 'text/plain; charset=utf-8'}

    return app


if __name__ == '__main__':
    create_app().run(port=int(os.environ.get('PORT', 3000)))
`

const FASTAPI = `import os

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

app = FastAPI()
app.add_middleware(GZipMiddleware)


@app.get('/', response_class=PlainTextResponse)
def home(request: Request):
    return f"Hello {request.state.user['name']}\\n"


if __name__ == '__main__':
    uvicorn.run(app, port=int(os.environ.get('PORT', 3000)))
`.replace(
  'from fastapi.resp',
  'from fastapi.middleware.gzip import GZipMiddleware\nfrom fastapi.resp',
)

const SERVER = `package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	client := http.NewServeMux()
	client.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "Hello %s\\n", serviceclaims.UserOf(r)["name"])
	})
	addr, handler := ":"+os.Getenv("PORT"), client
	log.Fatal(http.ListenAndServe(addr, handler))
}
`

interface Case {
  readonly what: string
  readonly snippet: FrameworkSnippet | undefined
  readonly files: Files
  readonly application: Partial<Application>
  readonly host: Omit<Host, 'files'>
  /** As a person would who reads the one step. */
  mount(plan: Plan): Files
}

const stepOf = (plan: Plan, path: string) => plan.manual.find((step) => step.path === path)
const lineOf = (text: string, line: number | null | undefined) => text.split('\n')[(line ?? 0) - 1]

const CASES: readonly Case[] = [
  {
    what: 'Flask: a module, and a line behind Flask()',
    snippet: PYTHON['flask'],
    files: { 'app.py': FLASK, 'requirements.txt': 'flask\n' },
    application: {
      ...{ framework: 'flask', language: 'python', packageManager: 'pip', modules: null },
      ...{ entry: { path: 'app.py', line: 18 }, mount: { path: 'app.py', line: 7 } },
    },
    host: { missing: missing('flask'), start: [INTERPRETER, 'app.py'] },
    mount(plan) {
      const [imported = '', , mounted = ''] = (stepOf(plan, 'app.py')?.code ?? '').split('\n')
      const text = FLASK.replace('    # mounted here', mounted)
      return { 'app.py': `${imported}\n${text}` }
    },
  },
  {
    what: 'FastAPI: a module, and a line behind the other middlewares',
    snippet: PYTHON['fastapi'],
    files: { 'main.py': FASTAPI, 'requirements.txt': 'fastapi\n' },
    application: {
      ...{ framework: 'fastapi', language: 'python', packageManager: 'pip', modules: null },
      ...{ entry: { path: 'main.py', line: 1 }, mount: { path: 'main.py', line: 8 } },
    },
    host: { missing: missing('fastapi', 'uvicorn'), start: [INTERPRETER, 'main.py'] },
    mount(plan) {
      const { code, line } = stepOf(plan, 'main.py') ?? { code: '', line: 0 }
      const [imported = '', , mounted = ''] = (code ?? '').split('\n')
      const lines = FASTAPI.split('\n').toSpliced(line ?? 0, 0, mounted)
      return { 'main.py': [imported, ...lines].join('\n') }
    },
  },
  {
    what: 'Go: a package, and a handler around the handler',
    snippet: GO['go'],
    files: { 'main.go': SERVER, 'go.mod': 'module example.test/shop\n\ngo 1.19\n' },
    application: {
      ...{ framework: 'go', language: 'go', variant: null, packageManager: 'go', modules: null },
      ...{ entry: { path: 'main.go', line: 10 }, mount: { path: 'main.go', line: 16 } },
    },
    host: {
      missing: existsSync(COMPILER) ? false : 'Go is not installed here',
      build: [COMPILER, 'build', '-o', 'application', '.'],
      start: ['./application'],
    },
    mount(plan) {
      const [imported = '', , mounted = ''] = (stepOf(plan, 'main.go')?.code ?? '').split('\n')
      const text = SERVER.replace(
        'http.ListenAndServe(addr, handler)',
        mounted.replace(/ \/\/.*/, ''),
      )
      return { 'main.go': text.replace('package main\n', `package main\n\n${imported}\n`) }
    },
  },
]

const plans = new Map<string, Plan>()
for (const { what, files, application, mount } of CASES)
  await t.test(`${what}: shown once, and not again`, async (t) => {
    const { plan, again } = await planned(t, files, application)
    plans.set(what, plan)
    t.equal(plan.edits.length, 2, 'the module and the key')
    const path = application.mount?.path ?? ''
    t.match(lineOf(files[path] ?? '', stepOf(plan, path)?.line), /Flask\(|GZip|ListenAndServe/)

    t.equal((await again()).edits.length, 0)
    const mounted = await planned(t, { ...files, ...textsOf(plan), ...mount(plan) }, application)
    t.same(mounted.plan.edits, [])
    t.equal(stepOf(mounted.plan, path), undefined, 'it is there')
  })

for (const { what, snippet, files, host, mount } of CASES) {
  const plan = plans.get(what)
  const [module] = plan?.edits ?? []
  if (snippet === undefined || plan === undefined || module === undefined) throw new Error(what)
  keepsItsPromises(
    { ...snippet, name: what, edge: { ...snippet.edge, file: module.path, code: module.after } },
    { ...host, files: { ...files, ...mount(plan) } },
  )
}

function textsOf({ edits }: Plan): Files {
  return Object.fromEntries(edits.map(({ path, after }) => [path, after]))
}

t.test(
  'ASP.NET Core: the class alone, where new projects have switched on what it takes',
  async (t) => {
    const code = aspnetFile()
    t.notMatch(code, /WebApplication|app\.Run/)
    t.match(code, /^using System\.Text\.Json;$/m)
    t.match(code, /public sealed class ServiceClaims\n/)
    const files = (project: string) => ({
      'Shop.csproj': `<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup>${project}</PropertyGroup></Project>`,
      'Program.cs':
        'var builder = WebApplication.CreateBuilder(args);\nvar site = builder.Build();\nsite.Run();\n',
    })
    const application = { framework: 'aspnet', language: 'csharp', modules: null } as const
    const place = { entry: { path: 'Program.cs', line: 1 }, mount: { path: 'Program.cs', line: 2 } }
    const usual = files('<ImplicitUsings>enable</ImplicitUsings><Nullable>enable</Nullable>')
    const { plan } = await planned(t, usual, { ...application, ...place })
    t.match(plan.edits, [{ path: 'ServiceClaims.cs' }, { path: 'service_public.pem' }])
    t.match(plan.manual, [
      { path: 'Program.cs', line: 2, code: 'site.UseMiddleware<ServiceClaims>();' },
    ])
    for (const unusual of ['', '<ImplicitUsings>enable</ImplicitUsings>']) {
      const { plan } = await planned(t, files(unusual), { ...application, ...place })
      t.match(plan.edits, [{ path: 'service_public.pem' }], 'it might not compile')
      t.match(plan.manual, [{ path: 'ServiceClaims.cs', code }, { path: 'Program.cs' }])
    }
  },
)

t.test(
  'Spring Boot: the filter lies in the package of the application, if it compiles there',
  async (t) => {
    const main = 'src/main/java/test/example/shop/ShopApplication.java'
    const files = (starter: string) => ({
      'pom.xml': `<artifactId>${starter}</artifactId>`,
      [main]:
        'package test.example.shop;\n\n@SpringBootApplication\npublic class ShopApplication {}\n',
    })
    const application = {
      framework: 'spring',
      language: 'java',
      modules: null,
      variant: '3.2.0',
    } as const
    const place = { entry: { path: main, line: 4 }, mount: null }
    const { plan, again } = await planned(t, files('spring-boot-starter-web'), {
      ...application,
      ...place,
    })
    const [filter] = plan.edits
    t.equal(filter?.path, 'src/main/java/test/example/shop/ServiceClaimsFilter.java')
    t.match(filter?.after, /^package test\.example\.shop;$/m)
    t.same(plan.manual, [])
    t.match(await again(), { edits: [], manual: [] })
    for (const [starter, variant] of [
      ['spring-boot-starter-webflux', '3.2.0'],
      ['spring-boot-starter-web', '2.7.18'],
      ['spring-boot-starter-web', null],
    ] as const) {
      const { plan } = await planned(t, files(starter), { ...application, ...place, variant })
      t.match(plan.edits, [{ path: 'service_public.pem' }])
      t.match(plan.manual, [{ path: filter?.path, line: null }])
    }
  },
)

t.test('Rails and Laravel: a file each, and the place that mounts it', async (t) => {
  const rails = await planned(
    t,
    { Gemfile: "gem 'rails'\n", 'config/application.rb': '' },
    { framework: 'rails', language: 'ruby', modules: null, entry: null, mount: null },
  )
  t.match(rails.plan.edits, [{ path: 'config/initializers/service_claims.rb' }, {}])
  t.match(rails.plan, { manual: [], commands: ['bundle add jwt'] })
  t.same((await rails.again()).edits, [])

  const php = {
    framework: 'laravel',
    language: 'php',
    modules: null,
    entry: null,
    mount: null,
  } as const
  const bootstrap =
    '<?php\nreturn Application::configure()\n    ->withMiddleware(function ($middleware) {\n    })->create();\n'
  const composer = '{"require": {"laravel/framework": "^11"}}'
  const laravel = await planned(
    t,
    { 'composer.json': composer, 'bootstrap/app.php': bootstrap },
    php,
  )
  t.match(laravel.plan.edits, [{ path: 'app/Http/Middleware/ServiceClaims.php' }, {}])
  t.match(laravel.plan.manual, [{ path: 'bootstrap/app.php', line: 3, code: /prepend/ }])
  const kernel = '<?php\nclass Kernel {\n    protected $middleware = [\n    ];\n}\n'
  const older = await planned(t, { 'composer.json': composer, 'app/Http/Kernel.php': kernel }, php)
  t.match(older.plan.manual, [{ path: 'app/Http/Kernel.php', line: 3 }])
})

t.test('Django: first of all middlewares, in every settings module that has a list', async (t) => {
  const settings =
    "from os import environ\n\nMIDDLEWARE = [\n    'django.middleware.security.SecurityMiddleware',\n]\n"
  const files = {
    'src/manage.py': '',
    'src/shop/settings/base.py': settings,
    'src/shop/settings/production.py': 'from .base import *\n',
    'pyproject.toml': '[tool.poetry.dependencies]\ndjango = "^5"\n',
  }
  const application: Partial<Application> = {
    ...{ framework: 'django', language: 'python', packageManager: 'poetry', modules: null },
    ...{ entry: { path: 'src/manage.py', line: 1 }, mount: null },
  }
  const { plan, again } = await planned(t, files, application)
  t.match(plan.edits, [{ path: 'src/service_claims.py' }, { path: 'service_public.pem' }])
  t.match(plan.manual, [{ path: 'src/shop/settings/base.py', line: 3, code: /ServiceClaims/ }])
  t.same(plan.commands, ["poetry add 'pyjwt[crypto]'"])
  t.same((await again()).edits, [])
  t.match(await planned(t, files, application, { mode: 'sdk' }), {
    plan: { edits: [], manual: [{ text: /Choose gateway or connector/ }] },
  })
})

t.test('what is pasted names the service and the tenant that are known', async (t) => {
  const [flask] = CASES
  if (flask === undefined) throw new Error('there is no case')
  const wishes = { tenantId: 'acme' }
  const { plan } = await planned(t, flask.files, flask.application, wishes)
  const [module] = plan.edits
  t.match(module?.after, "'SERVICE_BASE_URL', 'https://service.example.test'")
  t.match(module?.after, "os.environ.get('SERVICE_TENANT_ID', 'acme')")
  t.notMatch(plan.notes.join('\n'), /Set these environment variables where/)
})
