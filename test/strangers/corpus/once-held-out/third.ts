/** Held out until what was wrong with them was read. */
import type { Expected } from '../expected.ts'

export const THIRD_HELD_OUT: readonly Expected[] = [
  {
    name: 'canned',
    version: '0.3.13',
    integrity:
      'sha512-15spcZo2slLNHiAy9pRnIq48pE0tsjp7QTHaHTpJP8VvWzpCpPygwVYDP4V/bQnhw5spTiWuRxKNvHWyBz5IIg==',
    framework: 'node',
    mount: 'bin/canned:60',
    entries: ['bin/canned'],
    port: 3000,
    health: null,
  },
  {
    name: 'copilot-api',
    version: '0.7.0',
    integrity:
      'sha512-tzksQgfSlNLth0kmbEzHHSujCN8tMqnGNgTHYoIwFI6vrlzr7MAwvyxLYrJXZ09FqiRfWQc1+cLJ8SlZFpR4PA==',
    framework: 'hono',
    mount: 'dist/main.js:1333',
    entries: ['dist/main.js'],
    port: 4141,
    health: null,
  },
  {
    name: 'file-browser',
    version: '0.0.5',
    integrity:
      'sha512-Ek1gJGJXrBljzGscoKlC9WHrB9iG3H/rQ55xvHO5Bnw23kDt5B6WQ7OeHAcONgwG5Z+qX3il1uKdLan9EWiVWg==',
    framework: 'express',
    mount: 'index.js:23',
    entries: ['index.js'],
    port: 8088,
    health: null,
  },
  {
    name: 'gritty',
    version: '10.1.0',
    integrity:
      'sha512-hX/jya4N+t/0aLLr+22ig1SPObs5PGbLNYzeuWUg8Hmn0/Q0TQCLWya8fPRjvaNOFWfBzco028iEQZrSYsLvPQ==',
    framework: 'express',
    mount: 'bin/gritty.js:77',
    entries: ['bin/gritty.js'],
    port: 1337,
    health: null,
  },
  {
    name: 'httpster',
    version: '1.2.1',
    integrity:
      'sha512-v8WcIszOlfAcNqOA76EagBmEJYhkEFCybnra4e1wnLNwN5bhMEAG3NEka6vX0Fu4hIYJVnhVWOidKTwqLN876Q==',
    framework: 'express',
    mount: 'lib/server.js:99',
    entries: ['bin/httpster'],
    port: 3333,
    health: null,
  },
  {
    name: 'local-npm',
    version: '2.2.2',
    integrity:
      'sha512-7zBOKKwKhhKZnWbvpogHuzRx0kUsvDn6dkDhBFBXe8AoK48RUIZEh9WsUqkmwxkz+myBG4ylU3rICw3++YmrMA==',
    framework: 'express',
    mount: 'lib/index.js:42',
    entries: ['bin/index.js'],
    port: 5080,
    health: null,
  },
  {
    name: '@modelcontextprotocol/inspector-server',
    version: '1.0.3',
    integrity:
      'sha512-hk7K4wCJjfdIiOX/V4OFmqa37aKyVpgXMlFqN3EjaVJw/9G/rgcvJVj9beXkiG0weC0UdRVI8CW21WO/9Gw48Q==',
    framework: 'express',
    mount: 'build/index.js:175',
    entries: ['build/index.js'],
    port: 6277,
    health: '/health',
  },
  {
    name: 'mountebank',
    version: '2.9.1',
    integrity:
      'sha512-NtBIpC4v7Q+jJDUPyo0uFz/ilkbktBwC94vSGuwnZhhAze9/+2+ndjb+yRvhrZy+w9CadyBcPRo5rlagjFH/iQ==',
    framework: 'express',
    mount: 'src/mountebank.js:49',
    entries: ['bin/mb'],
    port: 2525,
    health: null,
  },
  {
    name: 'node-file-manager',
    version: '0.4.6',
    integrity:
      'sha512-MMl0/OzeAuGbgEWsFOZMtBYqy/eiy/mL96BCxEfFTbYZbmcFYDaM+DUZdupl3Fz4PUJpgtobF7rXYA0yeylgVg==',
    framework: 'koa',
    mount: 'lib/index.js:60',
    entries: ['lib/index.js'],
    port: 5000,
    health: null,
  },
  {
    name: 'npm-register',
    version: '2.2.0',
    integrity:
      'sha512-VC7k6Yd83L56FmDS8NYArrulKHfHCb3SFgvfj/nnOJm7FUYNJeAUrqIKGhuN/+5+Y+YoOnR085Bx0OgOy9B1ew==',
    framework: 'koa',
    mount: 'server.js:5',
    entries: ['bin/npm-register', 'start.js'],
    port: 3000,
    health: '/-/ping',
  },
  {
    name: 'ssb-viewer',
    version: '1.0.0',
    integrity:
      'sha512-ZXupBzRtfi2m08B+U1pv0zTGoX1kcSx3NNaURTu2xlaZRo2R384WKXFRTf6n71uwfFp6jyfwGcxK9/p20dDpjg==',
    framework: 'node',
    mount: 'index.js:70',
    entries: ['bin.js'],
    port: 8807,
    health: null,
  },
  {
    name: 'tty.js',
    version: '0.2.15',
    integrity:
      'sha512-yIBtK+Zngg5jvsExYveiAInMxMvf+0BL/gbAWePJMEfhqpG7TjxmzQGCtWmQmb1T0Hb0cv+tjIAUJzmrLaUdYA==',
    framework: 'express',
    mount: 'lib/tty.js:35',
    entries: ['bin/tty.js'],
    port: 8080,
    health: null,
  },
]
