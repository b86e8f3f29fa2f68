/** Written before anything was run on them, and read since: 13 of 20 were right at first. */
import type { Expected } from '../expected.ts'

export const SIXTH_HELD_OUT: readonly Expected[] = [
  {
    name: 'apimocker',
    version: '1.1.6',
    integrity:
      'sha512-4oq2FoQKoMBXoZ+2VPwNiP2XpunEE540ldEta+Gt++afhz9PTchWSn4Bhs8m0qJ+ysVBBHlTOIMI8wr5vKCdIg==',
    framework: 'express',
    mount: 'lib/apimocker.js:36',
    entries: ['bin/apimocker.js'],
    port: 7878,
    health: null,
  },
  {
    name: 'camouflage-server',
    version: '0.13.0',
    integrity:
      'sha512-K39wP2tmx5dLVlyw5mnm81cvknAR8jNCZ6az0GMGMzINWSzx6fEMKnD1/Nzv7rzkf1aaksXwC0sJFzZ+BhDbqA==',
    framework: 'express',
    mount: 'dist/index.js:51',
    entries: ['bin/camouflage.js'],
    port: 8080,
    health: '/ping',
  },
  {
    name: 'dailyhot-api',
    version: '2.0.8',
    integrity:
      'sha512-yTWwxHp8PgBEDsYgoyWWfDpKT6lfIEj4MF7OisUSF1Kg2D+k6jMdPAafsQJ9h4DC41/J+XR/zgNuaRwOB2kU/A==',
    framework: 'hono',
    mount: 'dist/app.js:15',
    entries: ['dist/index.js'],
    port: 6688,
    health: null,
  },
  {
    name: 'es-dev-server',
    version: '2.1.0',
    integrity:
      'sha512-Vrq/4PyMzWz33QmOdSncvoWLTJVcv2e96z8FLHQwP9zK7DyLeDZCckII8VTW+btUGtM7aErvLH/d/R2pjjjs8w==',
    framework: 'koa',
    mount: 'dist/create-server.js:28',
    entries: ['dist/cli.js'],
    port: null,
    health: null,
  },
  {
    name: '@galaxyproject/gx-it-proxy',
    version: '0.2.3',
    integrity:
      'sha512-gR7KZkXkrbR5BslTnTKgmflO6hvTWcCzh9chpAakZ1ADJQ8ta3GDZ1jQO8hRsZHmN4CZq6DZEVerWicCfpis6A==',
    framework: 'node',
    mount: 'lib/proxy.js:46',
    entries: ['lib/main.js'],
    port: 8000,
    health: null,
  },
  {
    name: 'git-http-mock-server',
    version: '2.0.0',
    integrity:
      'sha512-LOCls7jjuzwfKmUbcFsqj2yIEqExBzv0rA1tL7j1ULhRLAax4U1Bd/rbU9ebtri1ldzgcPD1VAyuhS1pvDC2pA==',
    framework: 'node',
    mount: 'http-server.js:14',
    entries: ['http-daemon.js', 'http-server.js'],
    port: 8174,
    health: null,
  },
  {
    name: 'hads',
    version: '3.0.3',
    integrity:
      'sha512-bbFWHXRz4OAru6pp/jNXCXHWife4vzAt+SY2KQMa4dvLDzl6fhFKS9TyYjAKlAfCDanTV2FCm9qmfGtTWJrHnQ==',
    framework: 'express',
    mount: 'hads.js:190',
    entries: ['hads.js', 'bin/hads'],
    port: 4040,
    health: null,
  },
  {
    name: 'laravel-echo-server',
    version: '1.6.3',
    integrity:
      'sha512-ZKsTV9210mkXpTKvW6P1L3qu+ZmwjXtcLlpQEZg/DaJB8bMPfgPCX0LjgTQEpEpX1UOA4+NPZxIAJr3ZUdBd3Q==',
    framework: 'express',
    mount: 'dist/server.js:60',
    entries: ['bin/server.js'],
    port: 6001,
    health: null,
  },
  {
    name: 'light-server',
    version: '2.9.1',
    integrity:
      'sha512-8uerqP4ffFbTJZ2QGR1225TqZUWEFkl/kGnJ+vRGiaqnLr6pFj8XLFGyO1XgO8ib9NQKxd7gsq3pEYN3AB+Q2g==',
    framework: 'node',
    mount: 'index.js:119',
    entries: ['bin/light-server'],
    port: 4000,
    health: null,
  },
  {
    name: 'local-npm-registry',
    version: '1.0.1',
    integrity:
      'sha512-qZOj5VoSGLQKMUyQVmuQnOQqNFkN+JjE/PZ/SJYnXD4VbsiWibLpgGSUlRRBd5xuovvhdbh+Vq3L42+z78ENoA==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'open-swagger-ui',
    version: '1.3.0',
    integrity:
      'sha512-4bx3CZpGxHmADHguxZYkE0LBrUFXcyjE7Ncktm/YIGINYv9GYwMAiX1i3U8nkcv7t8xsuX9e/aioTk10TnJakw==',
    framework: 'express',
    mount: 'dist/index.cjs:32',
    entries: ['dist/bin/open-swagger-ui.cjs'],
    port: 3355,
    health: null,
  },
  {
    name: '@opengovsg/mockpass',
    version: '4.3.4',
    integrity:
      'sha512-BIr1EDN5Jail0lEuRyX+NOXvRE1jGcB6Q1GAg+zZlmU4MZiXxCh8/6LmT3kg/DiR2Ltsd2UYkNbFf7YVoytPsQ==',
    framework: 'express',
    mount: 'app.js:49',
    entries: ['index.js'],
    port: 5156,
    health: null,
  },
  {
    name: 'openhim-core',
    version: '4.0.5',
    integrity:
      'sha512-Qv5FB2NcsvslXK84W/qaZO2b0am3hmTiq2IZ3O0ioznEwbqMCICYMFY2kxN1da/nN3+24diTTLwLT9294uYhgg==',
    framework: 'koa',
    mount: 'lib/koaMiddleware.js:129',
    entries: ['lib/server.js'],
    port: 5001,
    health: null,
  },
  {
    name: 'pm2-prometheus-exporter',
    version: '0.1.1',
    integrity:
      'sha512-22UJgmQ4648BEkFX8pq6QOlBTcOWzyES9C3o/pgyjSPVZxQnTYYEyenrKKAJIEMJA8i/v9MfVjbQOm85q9dk0g==',
    framework: 'node',
    mount: 'exporter.js:60',
    entries: ['exporter.js'],
    port: 9209,
    health: null,
  },
  {
    name: 'polyserve',
    version: '0.27.15',
    integrity:
      'sha512-AaFgANt+tUUVgHLw+BnaVYcn649JiwL1ru0TOZUKj1gGGn/Bq2S16gxql+1muGpRaAsgFu13Zu7k5XkwatwwSg==',
    framework: 'express',
    mount: 'src/start_server.ts:349',
    entries: ['bin/polyserve'],
    port: 8081,
    health: null,
  },
  {
    name: 'servez',
    version: '2.4.1',
    integrity:
      'sha512-6Q4TSPjGrXQMnb0Yen6TeI8gMqtpQ6iepG28yQy96JCc7LmM8kvBc9y+iyG2+JlnlzlZBoiHpay9tHj3X5fgyQ==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'static-server',
    version: '3.0.0',
    integrity:
      'sha512-eWUwBKKfugQcY80uMSXnu2enueHGZQAXylJeTdVvny5DtMfcvrQL+MjAf/w2BNc0pkI8NoGHINNuDCbDE1eg5Q==',
    framework: 'node',
    mount: 'server.js:111',
    entries: ['bin/static-server.js'],
    port: 9080,
    health: null,
  },
  {
    name: '@stryker-mutator/dashboard-backend',
    version: '0.20.8',
    integrity:
      'sha512-GtcNOF7AgdOwiLiQ4RMOF81Jg9F/iw7jIzp06oX0Ih/WZAPkHdzIDOi4gwD828WRBUNNErQxVSlGpt4rh4GVdA==',
    framework: 'nest',
    mount: 'dist/index.js:19',
    entries: ['dist/index.js', 'bin/dashboard-backend.js'],
    port: 1337,
    health: null,
  },
  {
    name: 'super-simple-web-server',
    version: '1.1.4',
    integrity:
      'sha512-sQdVXz8ZDBMloocL63mifyVVzhxP55MlO2F0MiYJAJQiHTp42M2C3m2dZBIxGkcC7NUDr1/p0UhvGQvOsxZLpw==',
    framework: 'express',
    mount: 'index.js:17',
    entries: ['index.js'],
    port: 3000,
    health: null,
  },
  {
    name: '@unleash/proxy',
    version: '1.4.9',
    integrity:
      'sha512-pnUB4ucs4kNw7Pncem9LuKUgSmWiTPE9kWEvGGa3Kzh42xuiVqVHCyIRh0OC0mgDdsPb8QvCLRtiRnOTbGArwA==',
    framework: 'express',
    mount: 'src/app.ts:15',
    entries: ['src/start.ts'],
    port: 3000,
    health: '/proxy/health',
  },
]
