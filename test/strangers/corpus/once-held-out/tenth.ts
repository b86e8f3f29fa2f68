/** Drawn by lot, written before anything was run on them, and read since: 14 of 17 were right at first. */
import type { Expected } from '../expected.ts'

export const TENTH_HELD_OUT: readonly Expected[] = [
  {
    name: '@atproto/ozone',
    version: '0.1.169',
    integrity:
      'sha512-L9KBs8j71KPMqwmzD2k8aYNVLNgcsvlsH8asa00hskgt8MMKw8isjpSqr+iWrXytRD3l/O0lA4wdPq8KO5SrRw==',
    framework: 'express',
    mount: 'src/index.ts:41',
    entries: ['dist/index.js', 'src/index.ts'],
    port: 3000,
    health: '/xrpc/_health',
  },
  {
    name: 'autosave',
    version: '1.0.3',
    integrity:
      'sha512-WeDNg3WEGcRT1UubF+8ix8vGsd9CTcdouaPkX3wflGWuIFQIRqV/Kk9PRlQUKp03+Ct89VHSz5G6cHr73ilsmw==',
    framework: 'node',
    mount: 'index.js:37',
    entries: ['bin/autosave'],
    port: 9104,
    health: null,
  },
  {
    name: 'buffet',
    version: '1.0.11',
    integrity:
      'sha512-NVfwsPJgg6pL3tw7wPEMRtEN0nenSVXJ0Fb3QqrF1U3tYVRvXrPBVmcUkriGyMe9uU3fM2ssHijESWSuxfQc1g==',
    framework: 'node',
    mount: 'worker.js:8',
    entries: ['bin/buffet.js', 'worker.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'elm-live',
    version: '4.0.2',
    integrity:
      'sha512-4I3UvJxF6MubC14VsgtV11B0zBxaaKtdKKsWquoaa5a3UHBIGW83qgTnt/NxOj4omOLfupaftmDaE4yRMTgTcw==',
    framework: 'node',
    mount: 'lib/src/start.js:259',
    entries: ['bin/elm-live.js'],
    port: 8000,
    health: null,
  },
  {
    name: '@ghostty-web/demo',
    version: '0.4.0',
    integrity:
      'sha512-uQEyDeIi3aVwMWz42j1eyv87eC/RP0PcAqv4aIoF0b9UKnF6uAAW108Qm5z/6EQNwhqT0QDSL9wbVNqSD6de1Q==',
    framework: 'node',
    mount: 'bin/demo.js:340',
    entries: ['bin/demo.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'html-reporter',
    version: '11.17.1',
    integrity:
      'sha512-qoWxPI2Ehx1OExY8cEweCCiagUeUgoZ90IuSgjsJjc3q09oZu5YLBK3ZGcw+OoRruv3Dy2wdYnqpJIc1gVJVGw==',
    framework: 'express',
    mount: 'build/lib/gui/server.js:53',
    entries: ['bin/html-reporter'],
    port: 8000,
    health: null,
  },
  {
    name: 'https-server',
    version: '0.1.2',
    integrity:
      'sha512-jmSTcw4eZxGQllYkJQm1NY65wzzHL2iCZFbOgnexBtYi+oeamLfY/zwc4nHKuEi8Wy16+V2QQTUN9L7sNBh+dw==',
    framework: 'node',
    mount: 'index.js:8',
    entries: ['index.js'],
    port: 8000,
    health: null,
  },
  {
    name: '@iobroker/dev-server',
    version: '0.8.0',
    integrity:
      'sha512-RGJ78dlq68zTcp/hfwlYZvEdau7WPhmPgpeOhkB1ETRNhoJ4HmDvQqEMS8pFLdPK84nlYEygeY5gj4bAutV/nQ==',
    framework: 'express',
    mount: 'dist/index.js:554',
    entries: ['dist/index.js'],
    port: 8081,
    health: null,
  },
  {
    name: 'node-mydomoathome',
    version: '0.3.5',
    integrity:
      'sha512-SQVNp7FUy23cjBqEQT1vX4uhqclDqtk/lwin9hobHJeDJ2rf40pRK7iMMOhjGwRBdHq4Haso+Tc/VdfOGm1CrQ==',
    framework: 'express',
    mount: 'mdah.js:40',
    entries: ['mdah.js'],
    port: 3002,
    health: null,
  },
  {
    name: 'pict-docuserve',
    version: '0.0.32',
    integrity:
      'sha512-DDSkIyihc5Oy0KlqRPqLys1LHXcIPL+DyXrh8Na7WSnsgcu8c45Bshl2ReslybvksJnDyiQgroqqXENgVskRvg==',
    framework: 'node',
    mount: 'source/cli/commands/Docuserve-Command-Serve.js:87',
    entries: ['source/cli/Docuserve-CLI-Run.js'],
    port: 3333,
    health: null,
  },
  {
    name: '@pizzapi/pizza',
    version: '0.52.0',
    integrity:
      'sha512-rr/FQlkejUtEDWyjKKSnRM7B6kJmjSlRLx25+02awfG+Rj70iS+F1BiRZm1D5tgj+ckjGdLY0pdPBDR0E2gMXQ==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'public',
    version: '0.1.5',
    integrity:
      'sha512-ClBRai5dVUVdFzyA8w9Ip47FR8GsL5q+Zz23DazJ7WXWDq2y9zzgJqlt7ihAbptrDeLy88KcK3xqQDrLb/Tx/w==',
    framework: 'node',
    mount: 'bin/public:90',
    entries: ['bin/public'],
    port: 3000,
    health: null,
  },
  {
    name: 'quilltap',
    version: '3.2.1',
    integrity:
      'sha512-XxfyRHCuI4qk28qYPtXPZi/TOq/PagJ7H1wChrTqRIZT/3lgQsPNcrflP42JHY5fNI7RvSa+hvZ6Da8lbFokzA==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'start-dev',
    version: '1.0.0',
    integrity:
      'sha512-AgSsh5mHOrweIHzIfqu6os5V0BoqA5R28v/J8zZBUZlD/GAB6uyWKkTnStvSOyfoqt8SDXQo6J6QyEl3GMjE9g==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: '@surgio/gateway',
    version: '2.2.0',
    integrity:
      'sha512-cnuI04Q0KRj8FiEyRDiirOmw3qOmJ+QvaPrunT/teAy06LgR78i2Ms9zHlX9m/rwo3crr3D6mlvCFKVmkyOlBw==',
    framework: 'nest',
    mount: 'dist/bootstrap.js:13',
    entries: ['dist/main.js'],
    port: 4000,
    health: null,
  },
  {
    name: 'webgme',
    version: '2.49.0',
    integrity:
      'sha512-kzTGt5G44wSStl7B0axSD78JG2cZUsvtjff0bpGFfkFeYji9MMhKvjUsQfaiIdrZsSPvcmIuFJoDps6OQBjUZw==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'zwitterion',
    version: '0.45.0',
    integrity:
      'sha512-uELWHi25/Nf4OyOZV65McrU4wl0TFDv8nZMU0QUySbTZjHz+vEntgKhbLM9n+/h+w7x/FGIGA7pSOir6jD2A5g==',
    framework: 'node',
    mount: 'src/http-server.ts:30',
    entries: ['src/app.ts'],
    port: 5050,
    health: null,
  },
]
