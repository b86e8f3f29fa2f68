/** Drawn by lot, written before anything was run on them, and read since: 12 of 22 were right at first. */
import type { Expected } from '../expected.ts'

export const ELEVENTH_HELD_OUT: readonly Expected[] = [
  {
    name: '@0x/coordinator-server',
    version: '1.0.5',
    integrity:
      'sha512-tR9OHa5QPejezSfjO++CorNF72jTKROGxqjSJ+7/Yk3w/RJFItUcAEJKgSQLMJpjJPKG7vbLkl53lzd9xuN+yw==',
    framework: 'express',
    mount: 'ts/src/app.ts:38',
    entries: ['ts/src/server.ts', 'ts/lib/src/server.js'],
    port: 3000,
    health: '/v2/ping',
  },
  {
    name: '@36node/mock-server',
    version: '0.1.20',
    integrity:
      'sha512-PZtkB4J6izNHU7t5cB/pVlTZrvMV8OsTM/usSM6nIdWZZYrfxlWeV92OFXFKMngV3rVEyTpl8f1/Pz6b8rXB3Q==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'agendash2',
    version: '0.8.2',
    integrity:
      'sha512-czHvgnRYTFi2Dg41/cbDN33Oa1vR02CIXRLDZFoPU/qzJD37eVeGYnISuOSgp5tgyjhWxiBP/H5hHelxQKU5mg==',
    framework: 'express',
    mount: 'bin/agendash-standalone.js:20',
    entries: ['bin/agendash-standalone.js'],
    port: 3000,
    health: null,
  },
  {
    name: 'auspice',
    version: '3.0.0',
    integrity:
      'sha512-39UrNQwN56AvTH4NUHNMBI0bDWpVbKdWgneGNN6xLXriZ1hujVqqiPECHBf/4/1898DqWvdgAaj4H5+eKVeNFw==',
    framework: 'express',
    mount: 'cli-build/view.js:118',
    entries: ['auspice.js'],
    port: 4000,
    health: null,
  },
  {
    name: 'basisjs-tools-server',
    version: '1.0.2',
    integrity:
      'sha512-G/q+vPHsnRfV8pZ/mkxoHwtIVvXmPrnvEmoy+QHWKM0DzLEjG/Euj3mbYQTjosgEYxFQxFFiQzxH7ZsDY5193Q==',
    framework: 'node',
    mount: 'lib/modules/http-server.js:48',
    entries: ['lib/index.js', 'bin/server'],
    port: 8000,
    health: null,
  },
  {
    name: 'browserify-server',
    version: '2.1.18',
    integrity:
      'sha512-v5iNMEnHbzFjm0IbfsQGXmx5jGeaV6PneqHyrrQ24EYxRBORMS4lmSz6FVdFTmwwVEORdxcQld+FCYBLLitsCA==',
    framework: 'node',
    mount: 'server.js:9',
    entries: ['bin/browserify-server.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'canary',
    version: '0.5.5',
    integrity:
      'sha512-EbXwvWswFaeXPWLrnVG0C1UEIKTH2+pjZy+QCbuKDcA5DpUSUtf5grJB0D2wnodvph4SFWhODK4B3pxIsEdI/A==',
    framework: 'express',
    mount: 'server.js:22',
    entries: ['server.js'],
    port: 3689,
    health: null,
  },
  {
    name: 'configurable-http-proxy',
    version: '5.3.0',
    integrity:
      'sha512-5au4O12dEFFHWNm9Y7Exm06TYc1CnMOvvptPTU83Vw7Nz9j0jUqQQwKDR1xT52gqX+X6D8UuO754dQdUkeBYuQ==',
    framework: 'node',
    mount: 'lib/configproxy.js:273',
    entries: ['bin/configurable-http-proxy'],
    port: 8000,
    health: '/_chp_healthz',
  },
  {
    name: '@hippy/debug-server-next',
    version: '0.5.7',
    integrity:
      'sha512-Q6s+pM/LEMGsASQXwC5R9qq/pKejjpzx0Qk/tkJrVWJqq5vYtuKmremhOte2L0KYZw6vEt44gE3CJ1o7Mf9+Nw==',
    framework: 'koa',
    mount: 'dist/app-debug.js:48',
    entries: ['dist/index-debug.js'],
    port: 38989,
    health: null,
  },
  {
    name: 'http-server-proxy',
    version: '0.14.5',
    integrity:
      'sha512-Wr/246id/OEs64T4nUh2dgSXsc8sPStLV9xyatKHAfyg7k9n+U4iuGMSRsZySUX31lXitWkIjJbmFVMwQ7RPwQ==',
    framework: 'node',
    mount: 'lib/http-server.js:182',
    entries: ['bin/http-server-proxy'],
    port: 8080,
    health: null,
  },
  {
    name: '@jiggai/kitchen',
    version: '0.6.3',
    integrity:
      'sha512-HVodEc4WYdJWDSYUctCdpaN2AYzAdx2padIv2vtnxOYTexVLhialwWclk41cUFVBZq/ul+NB6kJt1JyuKHlhhA==',
    framework: 'next',
    mount: null,
    entries: [''],
    port: 3000,
    health: null,
  },
  {
    name: '@magento/upward-js',
    version: '5.4.3',
    integrity:
      'sha512-QC/CKZbYhLepoXMYqboXZROl5RhU/ZoHL3UechRlhjQmobFgUnws1ZYiLOXH2mY9L95yPi8CUMPxCrIF8L/H0A==',
    framework: 'express',
    mount: 'lib/createUpwardServer.js:49',
    entries: ['bin/server'],
    port: null,
    health: null,
  },
  {
    name: 'nci-static-server',
    version: '2.0.1',
    integrity:
      'sha512-3V6GcVBFtaY3z0XrWxMf9TA08YD0iXQWrBRhcSobt3az5Lg+mUuogQ7nm57Y3mBEHzuReR3qD4HOn+DxvWX1Fw==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: '@newrelic/proxy',
    version: '2.0.0',
    integrity:
      'sha512-xJOlsnn1UazcVF1EZ104/tU4Gn+m7yeDFA+2SRS2O+dZs2LKtkSil05ADA9Z0+GIimHuO0/z+agsL1mrY9wHZw==',
    framework: 'node',
    mount: 'bin/proxy.js:29',
    entries: ['bin/proxy.js'],
    port: 3128,
    health: null,
  },
  {
    name: 'serve-lite',
    version: '1.6.1',
    integrity:
      'sha512-39opnTf2HVSAH90m5mK+pGBuQuIK+sFytOLz38NfBz2Lt1fbukGZCED5ClUbxSdCaIZhMoePXS9Zz9QEq0o9aA==',
    framework: 'node',
    mount: 'server.js:214',
    entries: ['server.js'],
    port: 8080,
    health: null,
  },
  {
    name: '@simulacrum/server',
    version: '0.5.0',
    integrity:
      'sha512-yTxft59afTaJJxdK1gBpAezktbCMKPq25WdRIeKVXQb0DN1M/Xlny9Nd5+75eebI5oHPUEM9u7czcWVYbcQTHA==',
    framework: 'express',
    mount: 'src/server.ts:38',
    entries: ['src/start.ts', 'dist/start.js'],
    port: null,
    health: null,
  },
  {
    name: 'startserver',
    version: '2.0.1',
    integrity:
      'sha512-ZDPUR5+0iHlKyROTUi8edPE0cjIclARYjYZbfs6A8kP4/Wr01ysFoitDVX+QGReMdPEmRl1JMSw4RkOlbDyL5A==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'stubmatic',
    version: '5.4.1',
    integrity:
      'sha512-hH56ele7MATkWYgRF1YwHdJx9z4XubUy560mOHajq3XcLh94N3lfIE3iguQOIS/lP3Il9H0OE1Lgy5vgWcUrCQ==',
    framework: 'node',
    mount: 'lib/server.js:48',
    entries: ['index.js'],
    port: 7777,
    health: null,
  },
  {
    name: '@tiledesk/tiledesk-kaleyra-proxy',
    version: '0.1.7',
    integrity:
      'sha512-gg9S92x8MoVH32dFxV3Q71cX0lAZj8saeaovqiOAUylGlE74TvId0MEv5VaebqWqIyRXdiqUz3QicD+L69/omg==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: '@userdashboard/dashboard',
    version: '1.0.392',
    integrity:
      'sha512-oBBYjCYRLu4DlRIZ7hOPlXQUbh6RfAdeQ8J+pNI2kc5afy6EdKa3uECDQ2eLAZCXJuXmN1X9L8KBI6Kg5gE/Dg==',
    framework: 'node',
    mount: 'src/server.js:72',
    entries: ['main.js'],
    port: 8000,
    health: null,
  },
  {
    name: '@zeit/cosmosdb-server',
    version: '0.13.4',
    integrity:
      'sha512-BbcpTajuKdGmmqNTDylZPSDlz7yltfu9Duebcsqqs7ii7jAJzGh1mZGN26HSR9cosoL9YdE377w8vdpJ18SX5Q==',
    framework: 'node',
    mount: 'lib/index.js:100',
    entries: ['lib/cli.js'],
    port: null,
    health: null,
  },
  {
    name: 'zerver',
    version: '1.0.11',
    integrity:
      'sha512-4ZGfqRnvk0xdx/vPqqoBxlNF++KokdMb4K45kJjZEw8hBblaux/Q0/Nq9ERAUpdXyiJI+zK3tt26nMkT8YdSwg==',
    framework: 'node',
    mount: 'src/zerver.js:64',
    entries: ['src/index.js'],
    port: 5000,
    health: null,
  },
]
