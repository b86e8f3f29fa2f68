/** Where a program in another language listens and is asked, by what it is deployed with. */
import t from 'tap'
import { confidenceOf, only, type Files } from './only-application.ts'

const shop = (files: Files) =>
  only({
    'requirements.txt': 'flask\n',
    'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    ...files,
  })

t.test('a script that the image starts is read as the image is', async (t) => {
  const started = await shop({
    Dockerfile: 'FROM python\nENV WEB_PORT=8001\nENTRYPOINT ["/srv/bin/boot.sh"]\n',
    'bin/boot.sh': '#!/bin/sh\npython migrate.py\nexec gunicorn -b "0.0.0.0:${WEB_PORT}" app:app\n',
    'other/boot.sh': 'gunicorn -b :9999 app:app\n',
  })
  t.equal(started.port, 8001, 'with what the image sets')
  t.equal(started.entry?.path, 'app.py', 'migrations are run before, and are not the program')
  const assigned = await shop({
    Procfile: 'web: bash run.sh\n',
    'run.sh': 'PORT="${PORT:-8002}"\nuwsgi --http 0.0.0.0:$PORT --module app:app\n',
  })
  t.equal(assigned.port, 8002, 'with what it sets itself')
  const bound = await shop({
    Procfile: 'web: gunicorn -c etc/gunicorn.conf.py app:app\n',
    'etc/gunicorn.conf.py': 'workers = 2\nbind = "0.0.0.0:8003"\n',
  })
  t.equal(bound.port, 8003, 'and the settings of the server that it names')
  const circle = await shop({
    Procfile: 'web: bash a.sh\n',
    'a.sh': 'a.sh\nb.sh\n',
    'b.sh': 'a.sh\n',
  })
  t.equal(circle.port, 5000, 'scripts that call each other end')
})

t.test('a health check of the image is read whatever asks', async (t) => {
  const asked = async (check: string, files: Files = {}) =>
    (await shop({ Dockerfile: `FROM python\nENV P=8004\nHEALTHCHECK ${check}\n`, ...files }))
      .healthPath
  t.equal(await asked('CMD curl -f http://localhost:$P/up || exit 1'), '/up')
  t.equal(await asked('CMD wget -q --spider localhost:8004/up'), '/up', 'without a scheme')
  t.equal(await asked('CMD uwsgi_curl localhost:8004 /up || exit 1'), '/up', 'as two words')
  t.equal(
    await asked('CMD ["/srv/check.sh"]', { 'check.sh': 'curl -sf http://127.0.0.1:$P/alive\n' }),
    '/alive',
    'in a script of the project',
  )
  t.equal(await asked('CMD curl -f http://localhost:8004/'), null, 'the front page is none')
})

t.test('a compose file speaks for the service that is built here', async (t) => {
  const composed = (yaml: string) => shop({ 'compose.yml': yaml })
  const built = await composed(`services:
  db: { image: postgres, ports: ["5432:5432"] }
  worker: { build: . }
  web:
    build: .
    ports: ["\${OUTSIDE:-80}:8005/tcp"]
    healthcheck: { test: [CMD, curl, -f, "http://localhost:8005/ready"] }
`)
  t.equal(built.port, 8005, 'the port inside')
  t.equal(confidenceOf(built, 'port'), 'likely')
  t.equal(built.healthPath, '/ready')
  const elsewhere = await composed(`services:
  one: { image: acme/one, ports: ["1:8006"] }
  two: { image: acme/two, ports: ["2:8007"] }
`)
  t.equal(elsewhere.port, 5000, 'of two images that may be it neither is')
  const image = await composed(`services:
  one: { image: acme/one, ports: ["1:8006"] }
  cache: { image: "redis:7", ports: ["6379:6379"] }
`)
  t.equal(image.port, 8006, 'beside what stands beside applications')
  t.equal((await composed('services: [1, 2]\n')).port, 5000)
})

t.test('a port of FastCGI is none of HTTP', async (t) => {
  const laravel = (dockerfile: string) =>
    only({
      'composer.json': '{"require": {"laravel/framework": "^11"}}',
      'bootstrap/app.php': '<?php return Application::configure()->withMiddleware(fn () => 1);',
      Dockerfile: dockerfile,
    })
  t.equal((await laravel('FROM php:8.4-fpm\nEXPOSE 9000\n')).port, 8000)
  t.equal((await laravel('FROM php:8.4-fpm\nEXPOSE 9000 8080\n')).port, 8080)
  t.equal((await laravel('FROM php:8.4-cli\nEXPOSE 9000\n')).port, 9000)
})

t.test('what an address in Go is made of is followed to its default', async (t) => {
  const serving = (address: string, files: Files = {}) =>
    only({
      'go.mod': 'module m\n',
      'main.go': `package main
import "net/http"
func main() {
	srv := &http.Server{Addr: ${address}, Handler: routes()}
	srv.ListenAndServe()
}
`,
      ...files,
    })
  const portOf = async (address: string, settings: string) =>
    (await serving(address, { 'settings.go': `package main\n${settings}\n` })).port
  const TAGS =
    'type DB struct {\n\tPort int `default:"7001"`\n}\ntype Web struct {\n\tPort int `env:"PORT" envDefault:"7002"`\n}'
  t.equal(await portOf('fmt.Sprintf(":%d", cfg.Web.Port)', TAGS), 7002, 'tags of its own type')
  t.equal(await portOf('addr', 'var addr = flag.String("listen", ":7003", "")'), 7003, 'flags')
  t.equal(
    await portOf(
      'viper.GetString("web.addr")',
      'func i() { viper.SetDefault("web.addr", ":7004") }',
    ),
    7004,
    'settings by their key',
  )
  t.equal(
    await portOf(
      'c.listen()',
      'func (c conf) listen() string { return ":" + env("PORT", "7005") }',
    ),
    7005,
    'functions, by what they give back',
  )
  t.equal(
    await portOf(
      'cfg.Port',
      'var f = &cli.IntFlag{\n\tName: "port",\n\tUsage: "",\n\tValue: 7006,\n}',
    ),
    7006,
    'flags over several lines',
  )
  const unseen = await serving('addr', { 'settings.go': 'package main\nconst peersPort = 7007\n' })
  t.equal(confidenceOf(unseen, 'port'), 'guess', 'what nothing leads to is a guess')
  const agent = await serving('cfg.Addr', {
    'agent.go': 'package main\nfunc runAgent() { net.Listen("tcp", ":7008") }\n',
    Dockerfile: 'FROM scratch\nEXPOSE 7009\n',
  })
  t.equal(agent.port, 7009, 'before it the image is asked')
})

t.test('what stands in front of a file of routes is what its provider says', async (t) => {
  const laravel = async (provider: string, files: Files = {}) =>
    (
      await only({
        'composer.json': '{"require": {"laravel/framework": "^9"}}',
        'bootstrap/app.php': '<?php $app = new Illuminate\\Foundation\\Application();',
        'app/Providers/RouteServiceProvider.php': `<?php class P { function map() { ${provider} } }`,
        'routes/api.php': "<?php Route::get('service/health', 'H@get');",
        ...files,
      })
    ).healthPath
  const grouped = (prefix: string) =>
    `Route::middleware('web')->group(base_path('routes/web.php'));
     Route::${prefix}middleware('api')->group(base_path('routes/api.php'));`
  t.equal(await laravel(grouped("prefix('v9')->")), '/v9/service/health')
  t.equal(await laravel(grouped('')), '/service/health', 'no prefix, if it gives none')
  t.equal(await laravel(''), '/api/service/health', "Laravel's own, if it does not name the file")
  const older = await laravel('', {
    'routes/api.php': '<?php',
    'app/Http/Routes/System.php':
      "<?php class S { function map($router) { $router->group(['prefix' => 'api/v1'], function ($router) { $router->get('ping', 'G@ping'); }); } }",
  })
  t.equal(older, '/api/v1/ping', 'a router that was handed in')
})

t.test('a route in Go is followed to the group that its function was given', async (t) => {
  const chi = (main: string) =>
    only({
      'go.mod': 'module m\nrequire github.com/go-chi/chi/v5 v5.0.0\n',
      'main.go': `package main
import ("net/http"; "github.com/go-chi/chi/v5")
func main() {
	root := chi.NewRouter()
	api := chi.NewRouter()
	health := NewHealthHandler()
	users := NewUserHandler()
	${main}
	http.ListenAndServe(":8010", root)
}
`,
      'health.go':
        'package main\nfunc (h *HealthHandler) Register(r chi.Router) {\n\tr.Get("/health", h.get)\n}\n',
      'users.go':
        'package main\nfunc (h *UserHandler) Register(r chi.Router) {\n\tr.Get("/", h.get)\n}\n',
    })
  const handed = await chi(
    'root.Mount("/api", api)\n\tusers.Register(root)\n\thealth.Register(api)',
  )
  t.equal(handed.healthPath, '/api/health')
  t.equal(confidenceOf(handed, 'health'), 'sure')
  const unknown = await chi('for _, one := range all(users, health) { one.Register(root) }')
  t.equal(confidenceOf(unknown, 'health'), 'guess', 'on nobody knows what: a guess')
})

t.test(
  'what a supervisor runs, and settings that a program is started with, are read',
  async (t) => {
    const supervised = await shop({
      'docker/Dockerfile': 'FROM python\nCMD ["supervisord","-c","supervisor.conf"]\n',
      'docker/supervisor.conf': '[program:shop]\ncommand=shop start -b 0.0.0.0:8011\n',
      'routes.py': 'ROUTES = []\n',
      'plugins/mail/setup.py': 'setup()\n',
      'plugins/mail/mail.py': 'SENDER = 1\n',
    })
    t.equal(supervised.port, 8011, 'although parts lie below it')
    const go = await only({
      'go.mod': 'module m\n',
      'main.go':
        'package main\nimport "net/http"\nfunc main() {\n\thttp.HandleFunc(withBase("/healthz"), h)\n\thttp.ListenAndServe(c.Web.HTTP, nil)\n}\n',
      Dockerfile: 'FROM scratch\nCMD ["m", "serve", "/etc/m/config.docker.yaml"]\n',
      'config.docker.yaml': 'storage:\n  port: 5432\nweb:\n  http: "0.0.0.0:8012"\n',
    })
    t.equal(go.port, 8012)
    t.equal(confidenceOf(go, 'port'), 'likely')
    t.equal(go.healthPath, '/healthz', 'behind a prefix of its own')
    t.equal(confidenceOf(go, 'health'), 'likely')
  },
)

t.test('of two programs of ASP.NET in one file the one that is run is meant', async (t) => {
  const run = await only({
    'Web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
    'Program.cs': `var first = WebApplication.CreateBuilder(args);
var migrations = first.Build();
await migrations.MigrateAsync();
var builder = WebApplication.CreateBuilder(args);
var app = builder.Build();
app.MapHealthChecks(Paths.Health);
app.Run();
`,
    'Paths.cs': 'class Paths { public const string Health = "/health"; }',
  })
  t.equal(run.mount?.line, 5)
  t.equal(run.healthPath, '/health', 'a path by its name')
})
