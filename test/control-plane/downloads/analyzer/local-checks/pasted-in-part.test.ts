/** Pasted code that guards a part of an application: only the shape of the contract is believed. */
import t from 'tap'
import type {
  FrameworkName,
  Place,
} from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import { check } from './project-here.ts'

interface Row {
  readonly framework: FrameworkName
  readonly path: string
  readonly code: string
  readonly status: 'pass' | 'warn' | 'fail'
  /** Where the application is made. */
  readonly mount?: Place
  readonly detail: RegExp
  readonly beside?: Readonly<Record<string, string>>
}

const MAIN = 'func main() {\n\tr := gin.Default()\n'

const ROWS: Readonly<Record<string, Row>> = {
  'Go: one handler of many': {
    framework: 'go',
    path: 'main.go',
    code: 'package main\n\nfunc main() {\n\thttp.Handle("/admin", ServiceClaims(http.HandlerFunc(admin)))\n\thttp.HandleFunc("/", open)\n\thttp.ListenAndServe(":8080", nil)\n}\n',
    status: 'fail',
    detail: /main\.go:4 wraps a handler that is not the one of the server/,
  },
  'Go: a group of routes': {
    framework: 'go',
    path: 'main.go',
    code: `${MAIN}\tadmin := r.Group("/admin")\n\tadmin.Use(ServiceClaims())\n\tr.Run(":8080")\n}\n`,
    status: 'fail',
    detail: /main\.go:4 mounts it on admin, which is only a part/,
  },
  'Go: behind a route of the same router': {
    framework: 'go',
    path: 'main.go',
    code: `${MAIN}\tr.GET("/", open)\n\tr.Use(ServiceClaims())\n}\n`,
    status: 'warn',
    detail: /main\.go:4 mounts it behind line 3/,
  },
  'Go: one server of two': {
    framework: 'go',
    path: 'main.go',
    code: 'func main() {\n\tgo http.ListenAndServe(":9090", metrics)\n\thttp.ListenAndServe(":8080", ServiceClaims(mux))\n}\n',
    status: 'warn',
    detail: /main\.go:3 mounts it, but the server in line 2 is not behind it/,
  },
  'Go: a handler by name, and the server is given it': {
    framework: 'go',
    path: 'main.go',
    code: 'func main() {\n\thandler := ServiceClaims(mux)\n\tserver := &http.Server{\n\t\tHandler: handler,\n\t}\n}\n',
    status: 'pass',
    detail: /main\.go:2 /,
  },
  'Go: a router, and the server is given it': {
    framework: 'go',
    path: 'main.go',
    code: 'func main() {\n\trouter := chi.NewRouter()\n\trouter.Use(ServiceClaims)\n\thttp.ListenAndServe(":8080", router)\n}\n',
    status: 'pass',
    detail: /main\.go:3 /,
  },
  'Flask: a blueprint': {
    framework: 'flask',
    path: 'app.py',
    code: "app = Flask(__name__)\nbp = Blueprint('admin', __name__)\n\n@bp.before_request\ndef sign_in():\n    pass\n",
    status: 'fail',
    detail: /app\.py:4 mounts it on bp, which is only a part/,
  },
  'Flask: a blueprint, by a call': {
    framework: 'flask',
    path: 'admin.py',
    code: 'bp.before_request(sign_in)\n',
    status: 'warn',
    detail: /admin\.py:1 mounts it on bp/,
  },
  'Flask: behind another that is asked before each request': {
    framework: 'flask',
    path: 'app.py',
    code: "app = Flask(__name__)\n\n@app.before_request\ndef earlier():\n    return 'open'\n\n@app.before_request\ndef sign_in():\n    pass\n",
    status: 'warn',
    detail: /app\.py:7 mounts it behind line 3, which answers first/,
  },
  'FastAPI: an application that is mounted in another': {
    framework: 'fastapi',
    path: 'main.py',
    code: 'app = FastAPI()\nrouter.add_middleware(ServiceClaims)\n',
    status: 'warn',
    detail: /main\.py:2 mounts it on router/,
  },
  'FastAPI: the application that line 3 puts into another': {
    framework: 'fastapi',
    path: 'main.py',
    code: "app = FastAPI()\napi = FastAPI()\napp.mount('/api', app=api)\napi.add_middleware(ServiceClaims)\n",
    status: 'fail',
    detail: /main\.py:4 mounts it on api, which line 3 puts into app/,
  },
  'Flask: a part and the whole': {
    framework: 'flask',
    path: 'app.py',
    code: "app = Flask(__name__)\nbp = Blueprint('admin', __name__)\nbp.before_request(sign_in)\napp.before_request(sign_in)\n",
    status: 'pass',
    detail: /app\.py:4 mounts/,
  },
  'Flask: another application than the one that is started': {
    framework: 'flask',
    path: 'tools/app.py',
    code: 'app = Flask(__name__)\napp.before_request(sign_in)\n',
    mount: { path: 'shop/__init__.py', line: 7 },
    status: 'fail',
    detail:
      /tools\/app\.py:2 mounts it on another application than the one created in shop\/__init__\.py:7/,
  },
  'Flask: nothing mounts it': {
    framework: 'flask',
    path: 'shop/__init__.py',
    code: 'app = Flask(__name__)\n',
    mount: { path: 'shop/__init__.py', line: 1 },
    status: 'fail',
    detail:
      /service_claims\.py:1 has the code, but nothing mounts it\. It belongs in shop\/__init__\.py:1\./,
  },
  'ASP.NET: a branch for some paths': {
    framework: 'aspnet',
    path: 'Program.cs',
    code: 'var app = builder.Build();\napp.UseWhen(c => c.Request.Path.StartsWithSegments("/admin"), branch => branch.UseMiddleware<ServiceClaims>());\napp.Run();\n',
    status: 'fail',
    detail: /Program\.cs:2 mounts it on branch, which is only a branch/,
  },
  'ASP.NET: a branch with the name of the application': {
    framework: 'aspnet',
    path: 'Program.cs',
    code: 'var app = builder.Build();\nhost.Map("/admin", app => {\n  app.UseMiddleware<ServiceClaims>();\n});\n',
    status: 'fail',
    detail: /Program\.cs:3 mounts it on app, which is only a branch/,
  },
  'ASP.NET: behind an answer': {
    framework: 'aspnet',
    path: 'Program.cs',
    code: 'var web = builder.Build();\nweb.MapGet("/", () => "open");\nweb.UseMiddleware<ServiceClaims>();\n',
    status: 'warn',
    detail: /Program\.cs:3 mounts it behind line 2/,
  },
  'ASP.NET: Configure of a Startup': {
    framework: 'aspnet',
    path: 'Startup.cs',
    code: 'public void Configure(IApplicationBuilder app)\n{\n  app.UseMiddleware<ServiceClaims>();\n}\n',
    status: 'pass',
    detail: /Startup\.cs:3 /,
  },
  'Django: one of two settings': {
    framework: 'django',
    path: 'x/settings/base.py',
    code: "MIDDLEWARE = ['service_claims.ServiceClaims', 'a.B']\n",
    beside: { 'x/settings/prod.py': "from .base import *\nMIDDLEWARE = ['a.B']\n" },
    status: 'warn',
    detail: /x\/settings\/prod\.py:2 has its own list without it/,
  },
  'Laravel: behind another': {
    framework: 'laravel',
    path: 'bootstrap/app.php',
    code: '<?php\n$middleware->prepend([Other::class, ServiceClaims::class]);\n',
    status: 'warn',
    detail: /bootstrap\/app\.php:2 mounts it after another one/,
  },
  'Spring: a filter that leaves paths out': {
    framework: 'spring',
    path: 'ServiceClaims.java',
    code: '// X-Service-Probe\n@Order(Ordered.HIGHEST_PRECEDENCE)\nclass ServiceClaims {\n  boolean shouldNotFilter(Request r) { return true; }\n}\n',
    status: 'warn',
    detail: /ServiceClaims\.java:2 mounts it, and line 4 excludes paths/,
  },
}

const PASTED: Readonly<Partial<Record<FrameworkName, readonly [string, string]>>> = {
  go: ['claims.go', 'package main\n\nconst probe = "X-Service-Probe"\n'],
  flask: ['service_claims.py', "PROBE = 'X-Service-Probe'\n"],
  fastapi: ['service_claims.py', "PROBE = 'X-Service-Probe'\n"],
  django: ['service_claims.py', "PROBE = 'HTTP_X_SERVICE_PROBE'\n"],
  aspnet: ['ServiceClaims.cs', 'class ServiceClaims { const string Probe = "X-Service-Probe"; }\n'],
  laravel: ['app/ServiceClaims.php', "<?php\n$probe = 'X-Service-Probe';\n"],
}

for (const [
  name,
  { framework, path, code, status, detail, beside, mount = null },
] of Object.entries(ROWS))
  t.test(`${name}: ${status}`, async (t) => {
    const [file, text] = PASTED[framework] ?? []
    const files = { ...(file && { [file]: text ?? '' }), [path]: code, ...beside }
    const wish = { application: { framework, language: 'x', mount } }
    const found = await check(t, 'middleware_mounted', files, wish)
    t.match(found, { status, detail }, found.detail)
    if (status !== 'pass') t.match(found.nextAction, /\w{3}/, 'with what to do')
  })
