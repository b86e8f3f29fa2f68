/** Well-known applications, answers written in the code before anything was run on them: 24 of 33 were right at first. */
import { answer, NOTHING, type WellKnown } from './answers.ts'

export const FIRST_WELL_KNOWN: readonly WellKnown[] = [
  {
    name: 'louislam/uptime-kuma',
    commit: '6398a9581d1c3c427a7536559f47ccf45dac08b4',
    answers: [
      answer('express', ['server/uptime-kuma-server.js:86'], ['server/server.js'], [3001], [null]),
    ],
  },
  {
    name: 'requarks/wiki',
    commit: '6f042e97cc2d3acda6b6ff611de8e0faacce91c1',
    answers: [
      answer('express', ['server/master.js:36'], ['server/index.js'], [3000, 80], ['/healthz']),
    ],
  },
  {
    name: 'Lissy93/dashy',
    commit: 'fde99410ff8565bc62160f613a44350352871998',
    answers: [
      answer('express', ['services/app.js:181'], ['server.js'], [4000, 8080], ['/healthz']),
    ],
  },
  {
    name: 'pawelmalak/flame',
    commit: '3e03c25138df4321143c4fbd1a99468ff375ebb2',
    answers: [answer('express', ['api.js:5'], ['server.js'], [5005], [null, '/'])],
  },
  {
    name: 'sct/overseerr',
    commit: '46a9b244efd81e0e70a16a851252114bc2d3c2ca',
    answers: [
      answer(
        'express',
        ['server/index.ts:103'],
        ['server/index.ts', 'dist/index.js'],
        [5055],
        [null],
      ),
    ],
  },
  {
    name: 'advplyr/audiobookshelf',
    commit: '1b46d68027f3dcd88a4ef596fe6d005541fea3c6',
    answers: [
      answer(
        'express',
        ['server/Server.js:226'],
        ['index.js'],
        [3333, 80],
        ['/healthcheck', '/ping', '/audiobookshelf/healthcheck', '/audiobookshelf/ping'],
      ),
    ],
  },
  {
    name: 'NginxProxyManager/nginx-proxy-manager',
    commit: 'a62c2a6dc3ab51e6fedc34d3ea3506bc9373953f',
    answers: [
      answer('express', ['backend/app.js:14'], ['backend/index.js'], [3000], [null, '/', '/api']),
    ],
  },
  {
    name: 'alseambusher/crontab-ui',
    commit: '870d958669d64dca1d27ff7bf5d616d17ee7553b',
    answers: [
      answer('express', ['app.js:25'], ['app.js', 'bin/crontab-ui.js'], [8000], [null, '/']),
    ],
  },
  {
    name: 'caprover/caprover',
    commit: 'c352c9785464caf75166274867f00bc054fa6ce2',
    answers: [
      answer(
        'express',
        ['src/app.ts:28'],
        ['src/server.ts', 'built/server.js'],
        [3000],
        ['/checkhealth'],
      ),
    ],
  },
  {
    name: 'louislam/dockge',
    commit: 'f809ae192b571944ad773e9866d3e67064ae8043',
    answers: [
      answer('express', ['backend/dockge-server.ts:175'], ['backend/index.ts'], [5001], [null]),
    ],
  },
  {
    name: 'thedevs-network/kutt',
    commit: 'fc832d7e7243d5472714e17abfe84b908901e1a7',
    answers: [
      answer(
        'express',
        ['server/server.js:31'],
        ['server/server.js'],
        [3000],
        ['/api/health', '/api/v2/health'],
      ),
    ],
  },
  {
    name: 'diced/zipline',
    commit: 'effe1f9ec1d017b98b1bf7b4a392a84e2461f3dd',
    answers: [
      answer(
        'fastify',
        ['src/server/index.ts:29'],
        ['src/server/index.ts', 'dist/index.js'],
        [3000],
        [null],
      ),
    ],
  },
  {
    name: 'automatisch/automatisch',
    commit: '41f3c56a163103cae761bb44f03638cb84e859ee',
    answers: [
      answer(
        'express',
        ['packages/backend/src/app.js:24'],
        ['packages/backend/src/server.js'],
        [3000],
        ['/healthcheck'],
      ),
    ],
  },
  {
    name: 'Peppermint-Lab/peppermint',
    commit: 'ba6e2179f9409db76abeb9a3007a262160e24628',
    answers: [
      answer(
        'fastify',
        ['apps/api/src/main.ts:21'],
        ['apps/api/src/main.ts', 'apps/api/dist/main.js'],
        [5003],
        [null],
      ),
      answer('next', [null], [''], [3000], [null]),
    ],
  },
  {
    name: 'YMFE/yapi',
    commit: '59bade3a8a43e7db077d38a4b0c7c584f30ddf8c',
    answers: [answer('koa', ['server/app.js:25'], ['server/app.js'], [3000], [null])],
  },
  {
    name: 'usekaneo/kaneo',
    commit: '367132d0ea7101c44924a96ed72aaacfb1831a74',
    answers: [
      answer(
        'hono',
        ['apps/api/src/index.ts:155'],
        ['apps/api/src/index.ts', 'apps/api/dist/index.js'],
        [1337],
        ['/api/health'],
      ),
    ],
  },
  {
    name: 'hackmdio/codimd',
    commit: 'b1188a5648a23d970b9ad58612376e6602431f6f',
    answers: [answer('express', ['app.js:57'], ['app.js'], [3000], [null])],
  },
  {
    name: 'toptal/haste-server',
    commit: 'a56763258b9a4a8fd589484351f027599a4f3515',
    answers: [answer('node', ['server.js:162'], ['server.js'], [7777], [null, '/'])],
  },
  {
    name: 'timvisee/send',
    commit: 'e0a3d2bf2c4f5ec78a1cf656c1ae4b63f3ac1e09',
    answers: [
      answer(
        'express',
        ['server/bin/prod.js:13'],
        ['server/bin/prod.js'],
        [1443],
        ['/__lbheartbeat__', '/__heartbeat__'],
      ),
    ],
  },
  {
    name: 'wg-easy/wg-easy',
    commit: 'bc05e0eac15d894b642a1c0ab44d4c89de64e7da',
    answers: [NOTHING],
  },
  {
    name: 'linkwarden/linkwarden',
    commit: '7550ebb8907e0cd22e8b3e0785bf3da03ab96e3a',
    answers: [answer('next', [null], [''], [3000], [null, '/'])],
  },
  {
    name: 'Mintplex-Labs/anything-llm',
    commit: '72aabbd15481ae405434efd4c83d46026eef1173',
    answers: [
      answer('express', ['server/index.js:50'], ['server/index.js'], [3001], ['/api/ping']),
    ],
  },
  {
    name: 'hedgedoc/hedgedoc',
    commit: 'd706c2b2adc9c066125d08936b9f416ba911ef4e',
    answers: [
      answer(
        'nest',
        ['backend/src/main.ts:23'],
        ['backend/src/main.ts', 'backend/dist/main.js', 'backend/dist/src/main.js'],
        [3000],
        ['/api/v2/monitoring/health'],
      ),
      answer('next', [null], [''], [3001], [null]),
    ],
  },
  {
    name: 'documenso/documenso',
    commit: '75330166cc00b29c14399bc2e391e4b4d8080c00',
    answers: [
      answer(
        'hono',
        ['apps/remix/server/router.ts:51'],
        ['apps/remix/server/main.js', 'apps/remix/build/server/main.js'],
        [3000],
        ['/api/health'],
      ),
    ],
  },
  {
    name: 'hoppscotch/hoppscotch',
    commit: 'afc2cf181c16e56647b099e5d18cfe55710c6cdd',
    answers: [
      answer(
        'nest',
        ['packages/hoppscotch-backend/src/main.ts:43'],
        ['packages/hoppscotch-backend/src/main.ts', 'packages/hoppscotch-backend/dist/main.js'],
        [3170],
        ['/ping', '/health'],
      ),
    ],
  },
  {
    name: 'karakeep-app/karakeep',
    commit: '7ca5ee236b96cd659096b1530c5be3fdcd8e4470',
    answers: [answer('next', [null], [''], [3000], ['/api/health'])],
  },
  {
    name: 'Dokploy/dokploy',
    commit: '772b76821771c53b072c2fbb95cf8876e1a65ae4',
    answers: [
      answer(
        'node',
        ['apps/dokploy/server/server.ts:45'],
        ['apps/dokploy/server/server.ts', 'apps/dokploy/dist/server.mjs'],
        [3000],
        ['/api/health', '/api/trpc/settings.health'],
      ),
      answer(
        'next',
        ['apps/dokploy/server/server.ts:45'],
        ['apps/dokploy/server/server.ts'],
        [3000],
        ['/api/health', '/api/trpc/settings.health'],
      ),
    ],
  },
  {
    name: 'jesec/flood',
    commit: '0fec80c5ded4e3c33b61128b1c65eb9940f27755',
    answers: [
      answer(
        'fastify',
        ['server/bin/web-server.ts:25', 'server/bin/web-server.ts:35'],
        ['server/bin/start.ts', 'dist/index.js'],
        [3000],
        [null],
      ),
    ],
  },
  {
    name: 'schlagmichdoch/PairDrop',
    commit: '31ec776fb304fd7ddf0eeffba41b1631f712887b',
    answers: [answer('express', ['server/server.js:10'], ['server/index.js'], [3000], [null, '/'])],
  },
  {
    name: 'spliit-app/spliit',
    commit: 'edcf11ea1485ef42797728d0dcc97735ea51b547',
    answers: [
      answer(
        'next',
        [null],
        [''],
        [3000],
        ['/api/health', '/api/health/liveness', '/api/health/readiness'],
      ),
    ],
  },
  {
    name: 'gethomepage/homepage',
    commit: 'b2a52ff2a9df1b7e7bc612178f66539606311b84',
    answers: [answer('next', [null, 'src/middleware.js:3'], [''], [3000], ['/api/healthcheck'])],
  },
  {
    name: 'umami-software/umami',
    commit: 'c0ea3aefbee7a3429ee2f824b06dc4a9dbe0b7e1',
    answers: [answer('next', [null], [''], [3000], ['/api/heartbeat'])],
  },
  {
    name: 'ghostfolio/ghostfolio',
    commit: 'c542997d27990365b607c7a6c9fe4bc8835a55c8',
    answers: [
      answer(
        'nest',
        ['apps/api/src/main.ts:55'],
        ['apps/api/src/main.ts', 'dist/apps/api/main.js'],
        [3333],
        ['/api/v1/health'],
      ),
    ],
  },
]
