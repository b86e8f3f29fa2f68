/** Held out until what was wrong with them was read. */
import type { Expected } from '../expected.ts'

export const FIFTH_HELD_OUT: readonly Expected[] = [
  {
    name: '@11ty/eleventy-dev-server',
    version: '2.1.2',
    integrity:
      'sha512-cwReJlQtIZsFuwMhm2fXwwjj+uUVvRkuoESgDtR5Mg9tY2qRj8UbNC8xhYRBuYVpACd3E09CxGPkk/Qj15Zo+A==',
    framework: 'node',
    mount: 'server.js:717',
    entries: ['cmd.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'actionhero',
    version: '29.3.5',
    integrity:
      'sha512-P1ai1UfQ64s2K4Nv99A1JjQsHHybh+9MRtaE+DVHrT09vUtLIovW1cB/ZlIFplK+++v6BaB2thxIfllVr8MMEg==',
    framework: 'node',
    mount: 'src/servers/web.ts:83',
    entries: ['src/server.ts'],
    port: 8080,
    health: null,
  },
  {
    name: 'bitcore-wallet-service',
    version: '8.25.47',
    integrity:
      'sha512-eG6AnUm5B7b4DnxgGaRTaN4+jLZAzAthggb3evJwWB77hNQFUwv9OEoZ1tviPIYqNO4r70/l5GuIpSF/7s9ysw==',
    framework: 'express',
    mount: 'src/lib/expressapp.ts:24',
    entries: ['src/bws.ts', 'ts_build/bws.js'],
    port: 3232,
    health: null,
  },
  {
    name: 'drakov',
    version: '2.0.1',
    integrity:
      'sha512-ubXjr4S3Dc2oRjFIxG3C91tu8j8AEiOeqlZvFoYahcYI/3bM+137P6IzHjIYp8MLfObv9DglnOccbvAPYuHzOQ==',
    framework: 'express',
    mount: 'lib/drakov.js:19',
    entries: ['drakov'],
    port: 3000,
    health: null,
  },
  {
    name: 'harp',
    version: '0.50.1',
    integrity:
      'sha512-n4enJAyYtgoxJxrO51S5l6dvH83T5mAwaeVgVlyr+jR3NHo95ogFkfZTxy7DJVNPaqE4nCVCksH2gok+OK2PYQ==',
    framework: 'node',
    mount: 'lib/index.js:24',
    entries: ['bin/harp'],
    port: 9000,
    health: null,
  },
  {
    name: 'hotel',
    version: '1.0.0',
    integrity:
      'sha512-VSLEwitq2xeeehHJVeY+bRQxB2PTaFXoYVYFWTbFpoqpdLZNKfad6/mpdT9+QPdBnOqc3r4fJnCNSFdIQ0DmKA==',
    framework: 'express',
    mount: 'lib/daemon/app.js:16',
    entries: ['lib/cli/bin.js', 'lib/daemon/index.js'],
    port: 2000,
    health: null,
  },
  {
    name: 'iframely',
    version: '2.4.3',
    integrity:
      'sha512-5/TET4bd+eq+xz4hqrU7pGUmTrMy5683XE92C6gJjK3TZBADGmSc1X0iSUlxVPWu38ef2cwshLzhOdvyShxzVQ==',
    framework: 'express',
    mount: 'app.js:16',
    entries: ['server.js', 'cluster.js'],
    port: 8061,
    health: '/health_check',
  },
  {
    name: 'intlayer-editor',
    version: '8.9.2',
    integrity:
      'sha512-4Be4GQtFFAL/3IjjzS28w03TO3XgyCKTJS4YTf/orZWqZfcBjwszqHdesrC+IOha2YSQtEgAvHWhowVoKjIEnw==',
    framework: 'fastify',
    mount: 'server/dist/index.mjs:36',
    entries: ['bin/intlayer-editor.mjs', 'server/dist/index.mjs'],
    port: null,
    health: null,
  },
  {
    name: '@ionic/lab',
    version: '3.2.15',
    integrity:
      'sha512-m6vPnrc5iuLe8CkmAYp/BStsVRkGVQw/IhcN1KMbz/OxB+w9NvGJ3CuF089LyeiWlut1/PWqYRyzIWXr5okc5Q==',
    framework: 'express',
    mount: 'dist/index.js:70',
    entries: ['bin/ionic-lab'],
    port: 8200,
    health: null,
  },
  {
    name: 'kresus',
    version: '0.26.0',
    integrity:
      'sha512-3UA2AcjdRmaMTQpAKIgcGHYlQdY/ED3pD24e7n76/m87cK/sqfo6/KRcdN83ME8KAKnkhWvXpyXMHmn074Vscw==',
    framework: 'express',
    mount: 'build/server/index.js:15',
    entries: ['bin/kresus.js'],
    port: 9876,
    health: null,
  },
  {
    name: 'lite-server',
    version: '2.6.1',
    integrity:
      'sha512-d3oyB/C8AU4EwYQHlLxcu6vTQDnCaLb81v1KKNYABmFS5oeJ11A+YxlqtpbTclID1AFddJfcB5klf0q98vYIMw==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'micro-proxy',
    version: '1.1.0',
    integrity:
      'sha512-pOkBfwxQ9ghn0y8Do6CmVoe4taVp/f+InlGqOqDB2DIwlqtDWf1951qRpqn0udLHzqi+A0DwPovxMfmoRCJWjA==',
    framework: 'node',
    mount: 'index.js:30',
    entries: ['bin/micro-proxy'],
    port: 9000,
    health: null,
  },
  {
    name: 'node-http-proxy',
    version: '0.2.4',
    integrity:
      'sha512-Dkh7NwlvDFEJPk/CtCNE1YEVuxbOGqhfYTsdXp7zWdHfViPkwR7OuqpW6boGVJ6gDVSym6z9qC2P7nqFxQiXLg==',
    framework: 'node',
    mount: 'lib/proxy-server.js:20',
    entries: ['bin/node-http-proxy'],
    port: 8845,
    health: null,
  },
  {
    name: 'node-inspector',
    version: '1.1.2',
    integrity:
      'sha512-WAVMOmHOcUdaMfiVLOWOMGFyhOGiPR13DGTJ7WAbrAiOQAOMcMRuO8OPMHIfNmJG7Am2g4ZtpItWYgUVzKFJuw==',
    framework: 'express',
    mount: 'lib/debug-server.js:92',
    entries: ['bin/inspector.js'],
    port: 8080,
    health: null,
  },
  {
    name: '@nullplatform/llm-gateway',
    version: '2.0.11',
    integrity:
      'sha512-Cw1s01eY2nLXBHvEv8GjM5lqc7AQXVU+3+gY/4aqMM9MfOUZikhDXfcEJQaT39Hu3/hMaXa7qKMff0guBeqlvg==',
    framework: 'express',
    mount: 'dist/gateway.js:31',
    entries: ['dist/index.js', 'dist/cli.js'],
    port: 3000,
    health: '/health',
  },
  {
    name: 'pipenet',
    version: '1.4.3',
    integrity:
      'sha512-cZB6xkS2chaUO1h4z2zw3GI0I/Mn3OSMiT9Gc90kbCiiiFFXxvYtE7KQTbeMEpjno1aN8m/03nzs172pjPQ6IQ==',
    framework: 'koa',
    mount: 'src/server/server.ts:76',
    entries: ['src/cli.ts', 'dist/cli.js'],
    port: 3000,
    health: null,
  },
  {
    name: 'remotedev-server',
    version: '0.3.1',
    integrity:
      'sha512-EXgfeTEem2BJOZOkuU/uPiLumgSy1BkXtk0tnvJTeA91TuQ1Q0ipCWZsqBYxSq6CdH4BseuLvLQSbKgrvzzs6w==',
    framework: 'express',
    mount: 'lib/worker.js:3',
    entries: ['bin/remotedev.js'],
    port: 8000,
    health: null,
  },
  {
    name: 'screwdriver-api',
    version: '7.0.262',
    integrity:
      'sha512-mCIHM6ioY7g+b00tBicSjAbylwocAv6UHrAWyvsoIc+nrr1U8IW/EeYUPJ8KlV3j4bMBOGd3C1tpwLYqVRo05w==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'strong-arc',
    version: '1.8.9',
    integrity:
      'sha512-B42a/Ys3+t+ZaIuqBC4DrCO5OacmePGj8I7sEoErDSb/lz6Fe46x/PvdDKbwtld9JGAXCQKkpYgyofwt+exqAQ==',
    framework: 'express',
    mount: 'server/server.js:4',
    entries: ['server/server.js', 'bin/cli.js'],
    port: null,
    health: null,
  },
  {
    name: 'strong-pm',
    version: '6.0.1',
    integrity:
      'sha512-QmuLRwQww519STXEzfTs2ab5qG9bJd0OZnSK9Ztn4KviV05LH7PRwzV55dQe8K2WZjkuqYOgyOJE/0O+D62nCQ==',
    framework: 'express',
    mount: 'lib/server.js:134',
    entries: ['bin/sl-pm.js'],
    port: 8701,
    health: null,
  },
  {
    name: 'superstatic',
    version: '10.0.0',
    integrity:
      'sha512-4xIenBdrIIYuqXrIVx/lejyCh4EJwEMPCwfk9VGFfRlhZcdvzTd3oVOUILrAGfC4pFUWixzPgaOVzAEZgeYI3w==',
    framework: 'node',
    mount: 'lib/server.js:34',
    entries: ['lib/bin/server.js'],
    port: 3474,
    health: null,
  },
]
