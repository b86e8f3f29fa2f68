/** Where a program in another language starts and listens, when that is said in another file of it. */
import t from 'tap'
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

t.test('what is run, where it listens and what answers a probe are followed further', async (t) => {
  const shop = (files: Files) => only({ 'requirements.txt': 'flask\n', ...files })
  const run = await shop({
    'shop/__init__.py': FLASK,
    'shop/routes.py':
      'from shop import app\nimport waitress\ndef run():\n  waitress.serve(app, port=8090)\n',
    'shop/__main__.py': 'from .routes import run\nrun()\n',
  })
  t.equal(run.entry?.path, 'shop/__main__.py', 'a package is run by its __main__.py')
  t.equal(run.port, 8090)
  const led = await shop({
    'shop/__init__.py': FLASK,
    'shop/main.py': 'def main():\n  from . import app\n',
    'shop.py': "from shop.main import main\nif __name__ == '__main__':\n  main()\n",
  })
  t.equal(led.entry?.path, 'shop.py', 'a file that runs another is what is started')

  const custom = { 'app.py': FLASK, 'mail.py': 'MAIL_PORT = 2525\n' }
  const set = await shop({ ...custom, 'constants.py': 'DEFAULT_PORT = 8083\n' })
  t.equal(set.port, 8083, 'the only port that settings give')
  t.equal(confidenceOf(set, 'port'), 'likely')
  const unclear = await shop({ ...custom, 'constants.py': 'PORT = 8083\nDEFAULT_PORT = 8084\n' })
  t.equal(unclear.port, 5000, 'of two that disagree none')

  const pinged = `${FLASK}@app.route('/settings/queue/ping')\ndef ping(): return 'ok'\n`
  t.equal((await shop({ 'app.py': pinged })).healthPath, null, 'a page of administrators is none')
})

t.test('in Go the plain server goes before one over TLS and one that sends on', async (t) => {
  const app = await only({
    'go.mod': 'module m\n',
    'main.go': `package main
import "net/http"
const defaultHttpPort uint16 = 8081
func main() {
  s := &http.Server{Addr: ":https", Handler: r, TLSConfig: &tls.Config{}}
  go http.ListenAndServe(":80", m.HTTPHandler(nil))
  s.ListenAndServeTLS("", "")
  http.Serve(listener, r)
}
`,
  })
  t.match(app, { mount: { line: 8 }, port: 8081 })
  const field = await only({
    'go.mod': 'module m\n',
    'main.go':
      'package main\nimport "net/http"\nfunc main() {\n  s := S{http: &http.Server{Handler: r}}\n  s.http.Serve(ln)\n}\n',
  })
  t.equal(field.mount?.line, 4, 'a field that is called http is not the package')
})

t.test('settings and libraries of a program lie beside it', async (t) => {
  const spring = await only({
    'pom.xml': POM.replace(
      '</dependencies>',
      '<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-actuator</artifactId></dependency></dependencies>',
    ),
    'src/main/java/A.java': BOOT,
    'src/main/resources/config/application.yml': `spring: { config: { activate: { on-profile: dev } } }
server: { port: 1 }
---
management: { endpoints: { web: { base-path: /management } } }
server: { port: 8082 }
`,
  })
  t.match(spring, { port: 8082, healthPath: '/management/health' })
  const { applications } = await detected({
    'Web/Web.csproj': WEB_CSPROJ.replace(
      '></',
      '><ItemGroup><ProjectReference Include="..\\Shared\\Shared.csproj" /></ItemGroup></',
    ),
    'Web/Program.cs': 'var app = builder.Build();\napp.MapShared();\n',
    'Shared/Shared.csproj': '<Project Sdk="Microsoft.NET.Sdk"></Project>',
    'Shared/Shared.cs':
      'class Settings { int Port = 9117; void Map(WebApplication app) { app.MapHealthChecks("/health"); } }\n',
    'Other/Other.csproj': '<Project Sdk="Microsoft.NET.Sdk"></Project>',
    'Other/Other.cs': 'class Settings { int Port = 9118; }\n',
  })
  t.match(applications, [{ folder: 'Web', port: 9117, healthPath: '/health' }])
})
