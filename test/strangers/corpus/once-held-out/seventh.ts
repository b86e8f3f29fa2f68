/** Drawn by lot, scored before it was read, and then developed with: 14 of 17 were right at first. */
import type { Expected } from '../expected.ts'

export const SEVENTH_HELD_OUT: readonly Expected[] = [
  {
    name: '@amadeus-it-group/kassette',
    version: '1.7.3',
    integrity:
      'sha512-PpkXgwJc1aqlLOu7+0jF4oFJcVG5/VfW5BIT43cuyWBQg8l7ArnwrMXAdTjX65xMH7fODab+/yuQxhmLQrapmg==',
    framework: 'node',
    mount: 'dist/index.js:2999',
    entries: ['bin/index.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'angular-http-server',
    version: '1.12.0',
    integrity:
      'sha512-3aWmyEA95vOjEPjDlV7mg1T7rNffK3IH7ZnApXUberv1cNHW4fW6L0UPOluTLqeIbfWz7F9T6fDLxFxn0UsTsQ==',
    framework: 'node',
    mount: 'lib/angular-http-server.js:71',
    entries: ['lib/angular-http-server.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'asterism',
    version: '1.11.18',
    integrity:
      'sha512-pryLzH1tc1INfGBMQYDaxfgcTIns6Df/O7g0AxB4T3aB2wrKnVIfu899y4nkMsUYJYP17whU+Sy+Jx3Vp0ErWQ==',
    framework: 'express',
    mount: 'dist/server/index.js:32',
    entries: ['dist/index.js'],
    port: null,
    health: null,
  },
  {
    name: 'bull-ui',
    version: '1.2.3',
    integrity:
      'sha512-BjkBZoppU38r/XFl2vi2gdz4aEY1ePvUwktwZVrRWYeewOb4cMYxdTNCoXPxgSQpSAUsuf8aocJWx1eZy3mfoQ==',
    framework: 'express',
    mount: 'lib/server.js:4',
    entries: ['index.js'],
    port: 1337,
    health: null,
  },
  {
    name: '@commercetools-frontend/mc-http-server',
    version: '16.18.0',
    integrity:
      'sha512-vryRdyiaxO/yYEOobYCXakd1Sr3QXOTNCn7T6fttL8OxqoMYC8UbgsNn2IpCciMaVY5V9wgR6FMA6K+q0EKodA==',
    framework: 'express',
    mount: 'server.js:126',
    entries: ['bin/start-mc.js'],
    port: 3001,
    health: null,
  },
  {
    name: 'dbgate-serve',
    version: '7.2.2',
    integrity:
      'sha512-b7IwaO+OLVUmg+bSD1qfnVpJnZghb/LRyvfrjfeo34qn1nr6Zog8wV375aBUtQ+ae/nij/ZmLIty1lKcE4sB8Q==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: '@dwmkerr/mock-llm',
    version: '0.1.29',
    integrity:
      'sha512-5jaaRw+grlCaUvG29K7zbI3SKFs41PaNozalqbvPbw9TtMZIrGTPF1lhmOIJW3guY8epbX5hbh1xVaWU+26IxA==',
    framework: 'express',
    mount: 'src/server.ts:22',
    entries: ['src/main.ts'],
    port: 6556,
    health: '/health',
  },
  {
    name: 'express-mock-server',
    version: '3.5.1',
    integrity:
      'sha512-q8sXcaNU4CYrHocFP2HfkrZMxceBoUtT2UOQVycj2OojSCC7iR1MrwbEnTcywZxqnP5xG1FezIa6IwCLoKF68A==',
    framework: 'express',
    mount: 'dist/app.js:38',
    entries: ['dist/index.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'formio',
    version: '4.8.1',
    integrity:
      'sha512-t1NYUzkbQa4VWqRw3DrIOWSGVnkSXSJlBAGvEXLAwL9TqMsc+sJ3Yj8IeW5osyY7coQE5wKAhgxJQbrTaYXgVg==',
    framework: 'express',
    mount: 'server.js:44',
    entries: ['main.js'],
    port: 3001,
    health: '/health',
  },
  {
    name: 'hfs',
    version: '0.52.9',
    integrity:
      'sha512-nc/gxUzGK0QE+5WjKPs33/Q7KJTw6EUMaXPXufYreeJfJaeumXSLeVGG1c+ovX5JZkI1CDUtOAaHh2ZWXMq2rA==',
    framework: 'koa',
    mount: 'src/index.js:38',
    entries: ['src/index.js'],
    port: 80,
    health: null,
  },
  {
    name: '@merkaly/api',
    version: '0.1.11',
    integrity:
      'sha512-p1cL9G+w6LXclExCvFtp2dohTN/yzhaH0rEpydxHRiEy2S33R4p6rJOm3k7K027zq3F0ezsoT2sUjJ7aDLzCdQ==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: '@minecraft-docker/mcctl-api',
    version: '2.26.3',
    integrity:
      'sha512-RTesZ5GXf+8D2Oh5TLtFuakeOxVV5ze2NtlQd+hR88uQB4kNB6YKGyV9a7VG9NVU1rttRvmdld8sWE7IJGzbng==',
    framework: 'fastify',
    mount: 'dist/app.js:27',
    entries: ['dist/index.js'],
    port: 5001,
    health: '/health',
  },
  {
    name: 'mongo-gui',
    version: '0.0.21',
    integrity:
      'sha512-L9VKN21HeCGCbJRGaLOZP3MADesV0TAjw4CF2lXuhlw59rN09/FX6BVYDJjyCp28z41FOcqNdoSI+dmeE8CDmg==',
    framework: 'express',
    mount: 'server.js:20',
    entries: ['server.js'],
    port: 4321,
    health: null,
  },
  {
    name: 'node-express-mongodb-jwt-rest-api-skeleton',
    version: '9.0.5',
    integrity:
      'sha512-HwEHyPURcggoxZvjLhdc81rmcqCJqlEaUsNt/GRHuZ60+31U4rx5nWoC4hA5PFaUuwrHXXJ8Wvw8gQdmhQksng==',
    framework: 'express',
    mount: 'server.js:9',
    entries: ['server.js'],
    port: 3000,
    health: null,
  },
  {
    name: 'nodejs-restful-jsonapi-seed',
    version: '1.8.4',
    integrity:
      'sha512-SAYm0nqCEHLXJdJ04ruNmXmabFqmq8BreZSspxWyNCdV3a6CYTXxHp+J1nSFC8cNtS0exD4XppyZM4OUiOSQ4A==',
    framework: 'express',
    mount: 'src/app.js:22',
    entries: ['src/app.js'],
    port: 3000,
    health: null,
  },
  {
    name: 'notification-catcher',
    version: '1.2.1',
    integrity:
      'sha512-5I4vzAFGokstwEZ+VgQ23LXVVWiF0LwUCR/kJOc8VOsNskckoW3iDdNT5+2cb308+vQjYDGwVBeGY9DQTHjL9A==',
    framework: 'express',
    mount: 'lib/web.js:75',
    entries: ['bin/maildev'],
    port: 1080,
    health: null,
  },
  {
    name: 'redis-smq-web-server',
    version: '10.1.2',
    integrity:
      'sha512-e4eBe1iVW4cQIAf1vgJIHLqln6GjmFLHSFqTWGzq1lJ+Z9XA7eD286apHR1JCX7CfVS09IDkh6C/kFVB9/fnjg==',
    framework: 'express',
    mount: 'dist/esm/src/index.js:10',
    entries: ['dist/esm/bin/cli.js'],
    port: 8080,
    health: null,
  },
]
