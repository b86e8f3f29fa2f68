/** How some of them are started: with nothing beside them but a folder for what they keep. */

export interface Boot {
  readonly name: string
  /** Relative to what was unpacked; `data` is a folder of its own. */
  command(port: number, data: string): readonly string[]
  /** Laid into `data` before. */
  readonly files?: Readonly<Record<string, string>>
  readonly path: string
}

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
]
