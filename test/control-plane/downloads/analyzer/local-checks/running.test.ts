/** What is asked of the application where it runs: its health path, and its sealed ones. */
import t from 'tap'
import { check, listenHere, type Wish } from './project-here.ts'

const world = (port: number | null) => ({ fetch, port })

t.test('the health path is asked on this machine', async (t) => {
  let status = 200
  const asked: string[] = []
  const port = await listenHere(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(status, { Location: 'http://192.0.2.1/' }).end('x'.repeat(1000))
  })
  const look = () => check(t, 'health_path', {}, { world: world(port) })
  t.match(await look(), { status: 'pass', detail: `http://127.0.0.1:${port}/health answers 200.` })
  const told: [number, string, RegExp][] = [
    [204, 'pass', /answers 204/],
    [401, 'pass', /401 to requests without claims/],
    [302, 'warn', /redirects/],
    [404, 'warn', /the path does not exist/],
    [500, 'fail', /answers 500/],
    [503, 'fail', /answers 503/],
  ]
  for (const [next, expected, detail] of told) {
    status = next
    const found = await look()
    t.match(found, { status: expected, detail })
    if (expected !== 'pass') t.match(found.nextAction, /\w{3}/)
  }
  t.ok(
    asked.every((line) => line === 'GET /health'),
    'no redirect is followed',
  )
})

t.test('where nobody listens it says how to start', async (t) => {
  const port = await listenHere(t, () => {})
  const starts: [Wish['application'], string][] = [
    [{ packageManager: 'pnpm' }, 'pnpm start'],
    [{ framework: 'django' }, 'python manage.py runserver'],
    [{ framework: 'flask', entry: { path: 'web.py', line: 1 } }, 'python web.py'],
    [{ framework: 'rails' }, 'bin/rails server'],
    [{ framework: 'laravel' }, 'php artisan serve'],
    [{ framework: 'spring', packageManager: 'gradle' }, './gradlew bootRun'],
    [{ framework: 'spring', packageManager: 'maven' }, './mvnw spring-boot:run'],
    [{ framework: 'aspnet' }, 'dotnet run'],
    [{ framework: 'go' }, 'go run .'],
  ]
  for (const [application = {}, start] of starts) {
    const found = await check(t, 'health_path', {}, { application: { port, ...application } })
    t.match(found, { status: 'skip', detail: `Nothing answers on port ${port} of this machine.` })
    t.ok(found.nextAction.includes(start), found.nextAction)
  }
  t.match(await check(t, 'health_path', {}), {
    status: 'skip',
    detail: /port of the application is unknown/,
  })
})

t.test('the port is what was told, then PORT, then what the code says', async (t) => {
  const port = await listenHere(t, (_request, response) => response.end())
  const application = { port }
  const look = (wish: Wish) => check(t, 'health_path', {}, wish)
  t.match(await look({ world: world(null), application }), { status: 'pass' })
  const environment = { PORT: String(port) }
  t.match(await look({ world: { ...world(null), environment }, application: { port: 1 } }), {
    status: 'pass',
  })
  t.match(await look({ world: { ...world(port), environment: { PORT: '1' } } }), { status: 'pass' })
  for (const PORT of ['', '0', '99999', 'x', '80 81'])
    t.match(await look({ world: { ...world(null), environment: { PORT } }, application }), {
      status: 'pass',
    })
})

t.test('sealed paths are named in the code, and closed once protection is on', async (t) => {
  let status = 401
  const asked: (string | undefined)[] = []
  const port = await listenHere(t, (request, response) => {
    asked.push(request.url)
    response.writeHead(status).end()
  })
  const files = { 'server.js': "app.use('/admin', admin)\napp.get('/internal/:id', f)\n" }
  const sealed = ['/admin', '/internal/metrics']
  const look = (tenant: object, given = world(port)) =>
    check(t, 'sealed_paths', files, { tenant: { sealed, ...tenant }, world: given })
  t.match(await look({}), {
    status: 'pass',
    detail: /No sealed path answers without claims \(2 tried\)/,
  })
  t.strictSame(
    asked.filter((path) => path !== '/health'),
    sealed,
  )
  status = 200
  t.match(await look({}), {
    status: 'pass',
    detail: /until go-live they are open: \/admin \(200\)/,
  })
  t.match(await look({ protection: 'on' }), {
    status: 'fail',
    detail: /bypass the edge get an answer at: \/admin \(200\), \/internal\/metrics \(200\)/,
    nextAction: /Mount the middleware before/,
  })
  t.match(await look({ sealed: ['/admni'] }), {
    status: 'warn',
    detail: /does not mention \/admni/,
  })
  t.match(await look({}, world(null)), { status: 'skip', nextAction: /npm start/ })
  t.match(await look({ sealed: [] }), { status: 'skip', detail: /no sealed paths/ })
})

t.test('an older build that answers without the middleware fails the mount', async (t) => {
  let headers: Record<string, string> = {}
  const port = await listenHere(t, (_, response) => response.writeHead(200, headers).end('hello'))
  const code = `import express from 'express'
import { verifyClaims } from 'service-node'

const service = verifyClaims()
const app = express()
app.use(service.express())
app.get('/', (_, response) => response.send('hello'))
app.listen(${port})
`
  const look = (start: string) => {
    const scripts = { start, build: 'tsc' }
    const files = { 'package.json': JSON.stringify({ scripts }), 'src/server.ts': code }
    const entry = { path: 'src/server.ts', line: 1 }
    const application = { entry, mount: { ...entry, line: 5 }, port }
    return check(t, 'middleware_mounted', files, { application, world: world(port) })
  }
  const found = await look('node dist/server.js')
  t.match(found, { status: 'fail', detail: /answers without it: dist\/server\.js was built/ })
  t.match(found.nextAction, /npm run build/)
  t.match(await look('tsx src/server.ts'), { status: 'pass' })
  headers = { 'x-service-probe-reply': 'refused' }
  t.match(await look('node dist/server.js'), { status: 'pass' })
})
