/** Drawn by lot, written before anything was run on them, and read since: 10 of 14 were right at first. */
import type { Expected } from '../expected.ts'

export const THIRTEENTH_HELD_OUT: readonly Expected[] = [
  {
    name: '@baseplate-dev/project-builder-server',
    version: '0.6.20',
    integrity:
      'sha512-DLExE0SPQyW+Px12vGFLTVL3cR+9cIoMbYPUpV3bRpZFC6k/Gio+V0tQJ91d7/b2B3AS2hg1KqcRZyqSL9IMkw==',
    framework: 'fastify',
    mount: 'dist/server/server.js:9',
    entries: ['dist/index.js'],
    port: 4400,
    health: null,
  },
  {
    name: '@cedarjs/api-server',
    version: '5.0.3',
    integrity:
      'sha512-Rg2Q3dXoTVMI35+/FPnT8pywL3WOFe17nfU4ggw8/YFwT+2yF3ulwfhOrao67SUUJ7VGbn/0jSmgUWd3yO/y2Q==',
    framework: 'fastify',
    mount: 'dist/cjs/bin.js:207',
    entries: ['dist/cjs/bin.js'],
    port: null,
    health: null,
  },
  {
    name: '@cedarjs/web-server',
    version: '5.0.3',
    integrity:
      'sha512-E4mC3bZp2pC8B8h4OkAYiSOuJOF/jxwT3hIYFKGyIqzF5IiIzdd3PmZxRbsq0THqO4hhHktHr6rAXL1OOLLx6g==',
    framework: 'fastify',
    mount: 'dist/bin.js:53',
    entries: ['dist/bin.js'],
    port: null,
    health: null,
  },
  {
    name: '@constructive-io/knative-job-server',
    version: '2.16.2',
    integrity:
      'sha512-DlO4v7b8AHkLq+2qXAbYPJUrnK2/Qk0t2j+1rAY0+af1NOeqRjCMAnl+Ik/N7bP2lFfsmeVT4uU5QEuDDhZBpA==',
    framework: 'express',
    mount: 'index.js:45',
    entries: ['run.js'],
    port: null,
    health: null,
  },
  {
    name: 'firebase-server',
    version: '1.1.0',
    integrity:
      'sha512-FH0Cy/pquE3klkQYneFh3GZE2ZL81T53wQEi7kHClKxbdnz5+JgUAesJReGs6xXAPM4cKG2HStW6DZh6V17+Zg==',
    framework: 'node',
    mount: 'dist/lib/http-server.js:41',
    entries: ['bin/firebase-server.js'],
    port: 5000,
    health: null,
  },
  {
    name: 'iisexpress-proxy',
    version: '1.7.37',
    integrity:
      'sha512-8ONdLMX+PZYJkOQOsl+n1SkPS/hdbnCe3IGkVpgOOstKIHedjcUoectFWfDogXMNw7uPe+hrvNvi+tYfxKVIPA==',
    framework: 'node',
    mount: 'index.js:109',
    entries: ['index.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'microplatform',
    version: '0.10.6',
    integrity:
      'sha512-PYjI+Q6FS/q6lZEAMYARWqg3uw2vyZ4c54655DE2Ybe8dbqQL4SbaAuXJcv33PKs989inabmabHzC8MQiWRCRw==',
    framework: 'express',
    mount: 'src/core.js:383',
    entries: ['src/cli'],
    port: 9000,
    health: null,
  },
  {
    name: '@mocks-server/main',
    version: '4.1.0',
    integrity:
      'sha512-9wGFbFp6QF/vE05CCgNkicS9o/pbLNhVMD4+mwuBtx3//LqG0QjggRUfG7PqSalRWMt+oma06k6tfygdTPglag==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'owc-dev-server',
    version: '1.0.1',
    integrity:
      'sha512-LZE6D7giZOSw67wPqgTvwDYUGqmjpiNerJqZmfRrdkMzzObI4cYBvgGLa5W+wbnNqgeER6gE/m8dCtT1lKbL4g==',
    framework: 'express',
    mount: 'owc-dev-server.js:20',
    entries: ['owc-dev-server.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'proxy-login-automator',
    version: '1.2.4',
    integrity:
      'sha512-4+9GLuxRgZii6m+EdLrnJXnqEV1nI8rxID/DF6C0aD3soHP7gGbcPRmewwNZ9XoX/phAcFX9s7Hw/OkU4nzLBg==',
    framework: 'node',
    mount: 'proxy-login-automator.js:188',
    entries: ['proxy-login-automator.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'serve-brunch',
    version: '0.2.1',
    integrity:
      'sha512-6KNNdVC2oDvGueSIixbp8vFKg6EJZZfX3Tc9qaI88Bn6m0tg5olxf5yN/0wfILHnDXtiADKmgUheYLzKyqbLhw==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'ssl-proxy',
    version: '1.0.3',
    integrity:
      'sha512-6r+lIs7/aAROH/9+TBc5Mlk9c9z9X9CmP5AMcTOWZbfolOfH5LFpOpIaV1eXf96aLJYBTWqKt8IpI67pTix3eA==',
    framework: 'node',
    mount: 'src/ssl-proxy/index.ts:17',
    entries: ['src/index.js', 'src/index.ts'],
    port: 3001,
    health: null,
  },
  {
    name: 'telegram-test-api',
    version: '4.2.1',
    integrity:
      'sha512-9wjhSSZi4zG0Bnjwbq4gktz9IYHynlXS/fb1rEvI4XcQ/s54xBxpRXEr6g0ArKtZ/9vRl0ZHBhBlSV9MEJUNXA==',
    framework: 'express',
    mount: 'lib/telegramServer.js:36',
    entries: ['lib/index.js'],
    port: 9000,
    health: null,
  },
  {
    name: 'traverson-test-server',
    version: '1.12.1',
    integrity:
      'sha512-DLBSjNf+Mqq+uoDyBRkcu3bKMalbN2SpeOVcyYGFYJOUYNbhBLs8Ox1eGI4RU3rQ+a5nR4CbzayTwSOGcLPOBA==',
    framework: 'express',
    mount: 'app.js:4',
    entries: ['bin/start-test-server.js'],
    port: 2808,
    health: null,
  },
]
