/** Routes that shadow the service's, cookies by its names, proxies that are believed too much. */
import t, { type Test } from 'tap'
import type { FrameworkName } from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import { check } from './project-here.ts'

type Row = readonly [file: string, text: string]

async function expectAll(
  test: Test,
  name: string,
  status: string,
  rows: readonly Row[],
  framework: FrameworkName = 'express',
) {
  for (const [file, text] of rows) {
    const found = await check(test, name, { [file]: text }, { application: { framework } })
    test.match(found, { status }, `${file}: ${text} → ${found.detail}`)
    if (status === 'fail' || status === 'warn') {
      test.match(found.nextAction, /\w{3}/)
      if (!found.detail.startsWith('No ') && !found.detail.startsWith('gin'))
        test.ok(found.detail.startsWith(file), found.detail)
    }
  }
}

t.test('a route at a path of the service is found in every language', async (t) => {
  await expectAll(t, 'callback_free', 'fail', [
    ['a.js', "app.get('/service/callback', f)"],
    ['a.ts', 'router.all("/service/login", f)'],
    ['src/a.controller.ts', "@Get('service/me')"],
    ['urls.py', "path('service/logout', view)"],
    ['app.py', "@app.route('/service/callback')"],
    ['config/routes.rb', "  get '/service/login', to: 'x#y'"],
    ['routes/web.php', "Route::get('/service/callback', F::class);"],
    ['A.java', '@GetMapping("/service/login")'],
    ['B.java', '@RequestMapping(value = "/service/logout")'],
    ['Program.cs', 'app.MapGet("/service/me", () => 1);'],
    ['main.go', 'mux.HandleFunc("/service/callback", f)'],
    ['pages/service/callback.tsx', ''],
    ['app/service/me/page.tsx', ''],
  ])
  await expectAll(t, 'callback_free', 'warn', [
    ['a.js', "app.use('/service', router)"],
    ['src/a.controller.ts', "@Controller('service')"],
    ['b.js', "app.all('/service/*', f)"],
  ])
  await expectAll(t, 'callback_free', 'pass', [
    ['a.js', "response.redirect('/service/login?returnTo=/')\nfetch('/service/me')"],
    ['a.html.erb', '<a href="/service/logout">'],
    ['b.js', "app.get('/services/login', f)\napp.get('/api/service/login', f)"],
    ['c.js', "// app.get('/service/login', f)"],
    ['test/c.js', "app.get('/service/login', f)"],
  ])
})

t.test('a cookie by a name of the service is found in every language', async (t) => {
  await expectAll(t, 'session_cookie_free', 'fail', [
    ['a.js', "session({ name: 'service_session', secret })"],
    ['a.ts', 'response.cookie("service_seen", value)'],
    ['b.ts', "cookies().set('service_session', x)"],
    ['c.ts', "setCookie(c, 'service_session', x)"],
    ['settings.py', "SESSION_COOKIE_NAME = 'service_session'"],
    ['app.py', "response.set_cookie('service_session', x)"],
    ['config/a.rb', "Rails.application.config.session_store :cookie_store, key: 'service_session'"],
    ['b.rb', 'cookies[:service_session] = 1'],
    ['config/session.php', "'cookie' => env('SESSION_COOKIE', 'service_session'),"],
    ['application.properties', 'server.servlet.session.cookie.name=service_session'],
    ['Program.cs', 'options.Cookie.Name = "service_session";'],
    ['main.go', 'http.SetCookie(w, &http.Cookie{Name: "service_session"})'],
  ])
  await expectAll(t, 'session_cookie_free', 'pass', [
    ['a.js', "session({ name: 'app_session' })\nconst token = request.cookies['service_session']"],
    ['b.js', "// session({ name: 'service_session' })"],
    ['c.py', "token = request.cookies.get('service_session')"],
    ['d.js', "session({ name: 'my_service_session' })"],
  ])
})

t.test('whom each framework believes about addresses', async (t) => {
  const rows: Partial<Record<FrameworkName, { open: Row[]; set: Row[]; unset?: string }>> = {
    express: {
      open: [
        ['a.js', "app.set('trust proxy', true)"],
        ['a.js', "app.enable('trust proxy')"],
      ],
      set: [
        ['a.js', "app.set('trust proxy', 'loopback')"],
        ['a.js', "app.set('trust proxy', 1)"],
        ['a.js', "// app.set('trust proxy', true)\napp.set('trust proxy', ['10.0.0.0/8'])"],
      ],
    },
    fastify: {
      open: [['a.js', 'fastify({ trustProxy: true })']],
      set: [['a.js', "fastify({ trustProxy: '10.0.0.1' })"]],
    },
    koa: {
      open: [
        ['a.js', 'app.proxy = true'],
        ['a.js', 'new Koa({ proxy: true })'],
      ],
      set: [['a.js', 'new Koa({ proxy: true, maxIpsCount: 1 })']],
    },
    django: {
      open: [],
      set: [['settings.py', "SECURE_PROXY_SSL_HEADER = ('HTTP_X_FORWARDED_PROTO', 'https')"]],
    },
    flask: {
      open: [['app.py', 'ProxyFix(app, x_for=2)']],
      set: [['app.py', 'ProxyFix(app, x_for=1, x_proto=1)']],
    },
    fastapi: {
      open: [['main.py', "uvicorn.run(app, forwarded_allow_ips='*')"]],
      set: [['main.py', "uvicorn.run(app, forwarded_allow_ips='10.0.0.1')"]],
    },
    rails: {
      open: [['config/a.rb', "config.action_dispatch.trusted_proxies = [IPAddr.new('0.0.0.0/0')]"]],
      set: [['config/a.rb', 'config.action_dispatch.trusted_proxies = [x]']],
      unset: 'pass',
    },
    laravel: {
      open: [
        ['bootstrap/app.php', "$middleware->trustProxies(at: '*');"],
        ['a.php', "protected $proxies = '*';"],
      ],
      set: [['bootstrap/app.php', "$middleware->trustProxies(at: ['10.0.0.1']);"]],
    },
    spring: {
      open: [['application.properties', 'server.tomcat.remoteip.internal-proxies=.*']],
      set: [['application.yml', 'server:\n  forward-headers-strategy: native']],
    },
    aspnet: {
      open: [['Program.cs', 'options.KnownProxies.Clear();\napp.UseForwardedHeaders();']],
      set: [['Program.cs', 'app.UseForwardedHeaders();']],
    },
    go: {
      open: [['main.go', 'r.Use(middleware.RealIP)']],
      set: [['main.go', 'r.SetTrustedProxies([]string{"10.0.0.1"})']],
      unset: 'pass',
    },
  }
  for (const [framework, { open, set, unset = 'warn' }] of Object.entries(rows) as [
    FrameworkName,
    { open: Row[]; set: Row[]; unset?: string },
  ][]) {
    await expectAll(t, 'proxy_trust', 'fail', open, framework)
    await expectAll(t, 'proxy_trust', 'pass', set, framework)
    await expectAll(t, 'proxy_trust', unset, [['x.txt', '']], framework)
  }
  const sdk = { application: { framework: 'express' }, tenant: { mode: 'sdk' } } as const
  t.match(await check(t, 'proxy_trust', {}, sdk), { status: 'pass' }, 'nobody is in front')
  t.match(await check(t, 'proxy_trust', { 'a.js': "app.set('trust proxy', true)" }, sdk), {
    status: 'fail',
  })
  const connector = {
    application: { framework: 'express' },
    tenant: { mode: 'connector' },
  } as const
  t.match(await check(t, 'proxy_trust', {}, connector), {
    detail: /come from the connector/,
    nextAction: "app.set('trust proxy', ['127.0.0.1'])",
  })
  t.match(await check(t, 'proxy_trust', { 'a.js': "app.set('trust proxy', true)" }, connector), {
    nextAction: /^Trust only the connector .*127/,
  })
  t.match(await check(t, 'proxy_trust', {}, { application: { framework: 'hono' } }), {
    status: 'skip',
  })
  const gin = { application: { framework: 'go', variant: 'gin v1' } } as const
  t.match(await check(t, 'proxy_trust', {}, gin), { status: 'fail', detail: /^gin, until/ })
})
