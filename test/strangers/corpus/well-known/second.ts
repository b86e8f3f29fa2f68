/** Well-known applications, answers written in the code before anything was run on them: 14 of 15 were right at first. */
import { answer, NOTHING, type WellKnown } from './answers.ts'

export const SECOND_WELL_KNOWN: readonly WellKnown[] = [
  {
    name: 'AmruthPillai/Reactive-Resume',
    commit: '91c8624d8043fdb78424d4a1641b2fc3efdbd016',
    answers: [
      answer(
        'nest',
        ['apps/server/src/main.ts:17'],
        ['apps/server/src/main.ts', 'dist/apps/server/main.js'],
        [3000],
        ['/api/health'],
      ),
    ],
  },
  {
    name: 'DumbWareio/DumbPad',
    commit: '0213fd811a089f277cabc068e57f8d1ecc03b15f',
    answers: [answer('express', ['server.js:26'], ['server.js'], [3000], ['/health'])],
  },
  {
    name: 'bigcapitalhq/bigcapital',
    commit: 'af80afcf598377d50c819661fa7ae56e19893d2e',
    answers: [
      answer(
        'nest',
        ['packages/server/src/main.ts:15'],
        ['packages/server/src/main.ts', 'packages/server/dist/main.js'],
        [3000],
        ['/api/system_db', '/api/ping'],
      ),
    ],
  },
  {
    name: 'chartbrew/chartbrew',
    commit: '944afa1ac8e900af77a0694fcb577e488a2e2f7f',
    answers: [answer('express', ['server/index.js:55'], ['server/index.js'], [4019], [null])],
  },
  {
    name: 'chibisafe/chibisafe',
    commit: '612e9b5d2d3c29aeddd44147df5b76575e1497c5',
    answers: [
      answer(
        'fastify',
        ['packages/backend/src/main.ts:22'],
        ['packages/backend/src/main.ts', 'packages/backend/dist/main.js'],
        [8000],
        ['/api/health'],
      ),
      answer('next', [null, 'packages/next/src/middleware.ts:3'], [''], [8001], [null]),
    ],
  },
  {
    name: 'cmintey/wishlist',
    commit: '4f4ab0f73af9cb76ec343afe61273b245918c467',
    answers: [NOTHING],
  },
  {
    name: 'electerious/Ackee',
    commit: '32025ae383a268551c6cc1e9618e8caa7df5db15',
    answers: [
      answer(
        'node',
        ['src/server.js:149'],
        ['src/index.js'],
        [3000],
        [null, '/.well-known/apollo/server-health'],
      ),
    ],
  },
  {
    name: 'gothinkster/node-express-realworld-example-app',
    commit: '30b68e1e881462b2f4164ea09ab4c4f5699c7b0b',
    answers: [answer('express', ['src/main.ts:7'], ['src/main.ts'], [3000], [null])],
  },
  {
    name: 'jc21/docker-registry-ui',
    commit: '2643028aeda5b36bd01555e8954b7245017b75d1',
    answers: [
      answer('express', ['src/backend/app.js:11'], ['src/backend/index.js'], [80], [null, '/']),
    ],
  },
  {
    name: 'jorenn92/Maintainerr',
    commit: '60f1756963236e74f3ca8a47868268080f609220',
    answers: [
      answer(
        'nest',
        ['server/src/main.ts:19'],
        ['server/src/main.ts', 'server/dist/main.js'],
        [3001],
        [null],
      ),
      answer('next', ['ui/src/middleware.ts:6', null], [''], [80, 6246], [null]),
    ],
  },
  {
    name: 'lukevella/rallly',
    commit: 'c629b3148024e40a115a731d3660d725c9329b0e',
    answers: [answer('next', ['apps/web/src/proxy.ts:47', null], [''], [3000], ['/api/status'])],
  },
  {
    name: 'lunary-ai/lunary',
    commit: 'a86d6986e0edf7f6f565f9f622f1ab649f86c523',
    answers: [
      answer(
        'koa',
        ['packages/backend/src/index.ts:38'],
        ['packages/backend/src/index.ts'],
        [3333],
        ['/v1/health'],
      ),
      answer('next', [null], [''], [8080], [null]),
    ],
  },
  {
    name: 'mfts/papermark',
    commit: '7ff2e657ed09b56f0afcc863a5db52d0debd2e6a',
    answers: [
      answer('next', ['middleware.ts:36', 'middleware.ts:50', null], [''], [3000], ['/api/health']),
    ],
  },
  {
    name: 'plankanban/planka',
    commit: 'a8dcd7cef3ee8d19ad05b8c734ac43f3103489e8',
    answers: [NOTHING],
  },
  {
    name: 'webtorrent/instant.io',
    commit: 'bc0ce6aa19eaa5d791883c59d773e87bdbb2f719',
    answers: [answer('express', ['server/index.js:25'], ['server/index.js'], [4000], [null])],
  },
]
