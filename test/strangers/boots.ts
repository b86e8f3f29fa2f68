/** How some of them are started: with nothing beside them but a folder for what they keep. */

export interface Boot {
  readonly name: string
  /** Relative to what was unpacked; `data` is a folder of its own. */
  command(port: number, data: string): readonly string[]
  /** Laid into `data` before. */
  readonly files?: Readonly<Record<string, string>>
  readonly path: string
}

const ONE_FILE = { files: { 'a.txt': 'a' }, path: '/a.txt' }

export const BOOTS: readonly Boot[] = [
  {
    name: 'json-server',
    command: (port, data) => ['lib/cli/bin.js', '--port', String(port), `${data}/db.json`],
    files: { 'db.json': '{"posts": [{"id": 1}]}' },
    path: '/posts',
  },
  {
    name: 'fake-smtp-server',
    command: (port) => ['index.js', '--http-port', String(port), '--smtp-port', '0'],
    path: '/api/emails',
  },
  {
    name: 'reveal-md',
    command: (port, data) => [
      'bin/reveal-md.js',
      data,
      '--port',
      String(port),
      '--disable-auto-open',
    ],
    files: { 'slides.md': '# Slides\n' },
    path: '/',
  },
  {
    name: 'swagger-ui-watcher',
    command: (port, data) => [
      'bin/swagger-ui-watcher.js',
      `${data}/api.yaml`,
      '-p',
      String(port),
      '--no-open',
    ],
    files: { 'api.yaml': 'swagger: "2.0"\ninfo: { title: a, version: "1" }\npaths: {}\n' },
    path: '/',
  },
  {
    name: 'dyson',
    command: (port) => ['bin/dyson.js', '../data', String(port)],
    files: { 'get/one.js': "module.exports = { path: '/one', template: { id: 1 } }\n" },
    path: '/one',
  },
  {
    name: 'pouchdb-server',
    command: (port, data) => [
      'bin/pouchdb-server',
      '--port',
      String(port),
      '--in-memory',
      '--config',
      `${data}/config.json`,
      '--no-stdout-logs',
    ],
    path: '/',
  },
  {
    name: 'redis-commander',
    command: (port) => ['bin/redis-commander.js', '--port', String(port), '--nosave'],
    path: '/',
  },
  {
    name: 'oauth2-mock-server',
    command: (port) => ['dist/oauth2-mock-server.mjs', '-a', '127.0.0.1', '-p', String(port)],
    path: '/.well-known/openid-configuration',
  },
  {
    name: 'httpster',
    command: (port, data) => ['bin/httpster', '-p', String(port), '-d', data],
    ...ONE_FILE,
  },
  {
    name: 'anywhere',
    command: (port, data) => ['bin/anywhere', '-s', '-p', String(port), '-d', data],
    ...ONE_FILE,
  },
  {
    name: 'open-api-mocker',
    command: (port, data) => [
      'lib/open-api-mocker-cli.js',
      '-s',
      `${data}/api.json`,
      '-p',
      String(port),
    ],
    files: {
      'api.json': JSON.stringify({
        openapi: '3.0.0',
        info: { title: 'a', version: '1' },
        paths: {
          '/pets': {
            get: {
              responses: {
                200: { description: 'a', content: { 'application/json': { example: { a: 1 } } } },
              },
            },
          },
        },
      }),
    },
    path: '/pets',
  },
  {
    name: 'simplehttpserver',
    command: (port, data) => ['cli.js', data, '-p', String(port)],
    ...ONE_FILE,
  },
  {
    name: 'chii',
    command: (port) => ['bin/chii.js', 'start', '-p', String(port)],
    path: '/',
  },
  {
    name: 'hads',
    command: (port, data) => ['bin/hads', data, '-p', String(port)],
    files: { 'index.md': '# Title\n' },
    path: '/',
  },
  {
    name: 'jsforce-ajax-proxy',
    command: () => ['lib/server.js'],
    path: '/',
  },
  {
    name: 'drakov',
    command: (port, data) => ['drakov', '-f', `${data}/*.md`, '-p', String(port)],
    files: {
      'a.md': 'FORMAT: 1A\n\n# A\n\n## GET /a\n+ Response 200 (text/plain)\n\n        hello\n',
    },
    path: '/a',
  },
  {
    name: 'serve-lite',
    command: () => ['server.js'],
    path: '/package.json',
  },
  {
    name: '@zeit/cosmosdb-server',
    command: (port) => ['lib/cli.js', '--no-ssl', '-p', String(port)],
    path: '/',
  },
  {
    name: 'antigravity-claude-proxy',
    command: () => ['src/index.js'],
    path: '/health',
  },
  {
    name: 'claude-run',
    command: (port) => ['dist/index.js', '--port', String(port), '--no-open'],
    path: '/',
  },
  {
    name: 'traverson-test-server',
    command: () => ['bin/start-test-server.js'],
    path: '/',
  },
  {
    name: 'mountebank',
    command: (port, data) => [
      'bin/mb',
      'start',
      '--port',
      String(port),
      '--pidfile',
      `${data}/mb.pid`,
      '--nologfile',
    ],
    path: '/',
  },
  {
    name: 'json-mock-api',
    command: (port) => ['bin/json-mock-api', '--directory', '../data', '--port', String(port)],
    files: { 'things.json': '[1]' },
    path: '/things',
  },
]
