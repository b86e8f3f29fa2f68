/** Drawn by lot, written before anything was run on them, and read since: 13 of 19 were right at first. */
import type { Expected } from '../expected.ts'

export const TWELFTH_HELD_OUT: readonly Expected[] = [
  {
    name: 'aliv',
    version: '1.13.0',
    integrity:
      'sha512-UyB00bsDTGwBzASlr5jXswh6o1izxvUrPbkl4QMoBL2pvp8aqTy4m1wJy8n1oQMYbq6STcYkhOBM1AXZUno42A==',
    framework: 'express',
    mount: 'lib/server.js:37',
    entries: ['bin/index.js'],
    port: 1307,
    health: null,
  },
  {
    name: '@atproto/pds',
    version: '0.5.35',
    integrity:
      'sha512-kFWHLm667MCfBvNR+Zdem+zNsY7TbB2XWDFxq1/rm0ikM/StUho18QhIHsUJ17ZIYwuSY7IHr2f0dhD+F6Vtfw==',
    framework: 'express',
    mount: 'dist/index.js:177',
    entries: ['dist/index.js'],
    port: 2583,
    health: '/xrpc/_health',
  },
  {
    name: '@directus/api',
    version: '39.2.1',
    integrity:
      'sha512-jPm5H7eJFguE956zkWVbA+p+uKWt10kiZXGDCj1YDcc1SzPhAdHo4klMuPbny8UpGZzdASKQOKmznhP6ysso8Q==',
    framework: 'express',
    mount: 'dist/app.js:120',
    entries: ['dist/index.js', 'dist/start.js', 'dist/cli/run.js'],
    port: null,
    health: '/server/health',
  },
  {
    name: 'done-serve',
    version: '3.3.1',
    integrity:
      'sha512-zwG9LKllWAMiBzRKV/mt06moO1talSL2kF+2k6e5mzjK88XIkioKjUzAJJxdLXTkDrDZ+T2LM4aOX/mzSvJUTQ==',
    framework: 'node',
    mount: 'lib/servers.js:85',
    entries: ['bin/done-serve'],
    port: 3030,
    health: null,
  },
  {
    name: 'holesail-server',
    version: '2.4.0',
    integrity:
      'sha512-4iTSK0EVGKGWFoS5aA6g6ErgI8zgPhjnso1swXaPT8GCEbAZmecgetRhfb5nwoF7uHXS6ZJJWVfaFLF3xngZbw==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'http-echo-server',
    version: '2.1.1',
    integrity:
      'sha512-ybEQrtw0fGmSHZHa8W0tjHFz+m9ZBxWT2aYGWTaAlU2fldrxbjOsgs8qfbXBLwJMsToQIg89mTS9kbw44ZRr8A==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'jwt-encde',
    version: '1.1.8',
    integrity:
      'sha512-dubFsLdwZdzlNzXCAx6SVooBTbzptTaam9WoT4Q9XWhxiIxk4qFVE9yaiEf0R6UMhx50U4l7RIQzOKvnEf6J1g==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: '@mcptoolshop/registry-stats',
    version: '3.4.0',
    integrity:
      'sha512-tfLoT0vUGMwInV/LJLG/dLn6hMxnYt1hGV0Tktx115eVij+/dzcZ9Ko82dEffqmyfpwiqpJSikNUnx8NOi1mUg==',
    framework: 'node',
    mount: 'dist/cli.js:806',
    entries: ['dist/cli.js'],
    port: 3000,
    health: null,
  },
  {
    name: '@nebula-services/bare-server-node',
    version: '2.0.4',
    integrity:
      'sha512-Jcr+QtkLJVmppdbBarEbRp1TtCsL4pjFIcX6+KPURRqcsOP7hZfYclhjmCserwEC7jT+WBduXpFd3qwqeRBNew==',
    framework: 'node',
    mount: 'dist/cli.js:54',
    entries: ['bin.js'],
    port: 80,
    health: null,
  },
  {
    name: 'netlify-cms-proxy-server',
    version: '1.3.24',
    integrity:
      'sha512-gYf+HwZ0mio4G6DgBRknRedM/+UoM3Am0zKyzb1ezRcTlqESg0i1ZEkKZ3ubxrqvbZ0UkKilCjP+tY1bEMGHfg==',
    framework: 'express',
    mount: 'src/index.ts:10',
    entries: ['src/index.ts', 'dist/index.js'],
    port: 8081,
    health: null,
  },
  {
    name: '@newmo/graphql-fake-server',
    version: '0.9.7',
    integrity:
      'sha512-f5WEyA8xoBBWoJpQHvzDzMRvikz27tgNm7/EtDLE//XxVhXKCX2tfUStoWO20LJECmX9bC2nUmwi0Qbtn1QpnQ==',
    framework: 'hono',
    mount: 'dist/esm/server.js:109',
    entries: ['dist/esm/bin.js'],
    port: 4000,
    health: null,
  },
  {
    name: 'node-git-lfs',
    version: '0.0.1',
    integrity:
      'sha512-ZzMVZU/wiNalj9dyiFVGzWHpMg5O6t0QWDAL5jQasyWA+zAcnWEKm3AQ1n/zDWh22pYhWQMo0lNoKbHr12zbQg==',
    framework: 'express',
    mount: 'lib/app.js:10',
    entries: ['git-lfs-server.js'],
    port: 3000,
    health: null,
  },
  {
    name: 'node-http-server',
    version: '8.1.6',
    integrity:
      'sha512-D115pVWCh1aVVlB/eq37t2npNFdB5qT8B6mziXT9zf/r4df6r2kd6qUHd6jY94uwAOATzNTnl9eLvt1CfWjuAw==',
    framework: 'node',
    mount: 'server/Server.js:333',
    entries: ['bin/nhs.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'rosid',
    version: '11.0.0',
    integrity:
      'sha512-58HwRDoAWFuTF0lgW9wjvuYIXW/+gkpTdaBirwGI8Jzf4/6vFOmMxTgE2w/VXUcSF7pUCpo5P9KkpA17hm70Aw==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: '@shgysk8zer0/http-server',
    version: '1.1.1',
    integrity:
      'sha512-IeHPOUX6/YjyahPIolfsxPP0CuV+jH1oPpGz/A8TnwKX41tIRjPMI96b+Mbwsxe5MTEBNQgh7C+teLgvzusfqQ==',
    framework: 'node',
    mount: 'server.js:39',
    entries: ['cli.js'],
    port: 8000,
    health: null,
  },
  {
    name: 'simple-hot-reload-server',
    version: '1.2.0',
    integrity:
      'sha512-Xnmq9Nq26gpzarfWBxJAhhdpdRS+QDGriutsASbeciAXyGVZq+PRSDyOiFvMmjFQdpfwkA48uTvPt8EwpbM/LQ==',
    framework: 'express',
    mount: 'dist/libs/http-server.js:19',
    entries: ['dist/bin/hrs.js'],
    port: 8082,
    health: null,
  },
  {
    name: 'tokencanary',
    version: '0.1.7',
    integrity:
      'sha512-O/FOB9pyvwuBs5UPJoGWqaGJUpTRWuW7yLrGws6yATZ42oxfFC4T2dp+YxDBSjvY25J46Bbks8JQmy94UomXVA==',
    framework: 'node',
    mount: 'dist/daemon.js:278',
    entries: ['dist/cli.js', 'dist/daemon.js'],
    port: 3847,
    health: '/health',
  },
  {
    name: 'ultralytics',
    version: '1.1.1',
    integrity:
      'sha512-QCLt+lDIDIKWiF2CT/Tyr4SIkp37bujIKBQUsBIbtwZIWnFCXIub+eaokwELi5eRX+4woE6kZPGExF4KBuZJXw==',
    framework: 'express',
    mount: 'src/server.ts:24',
    entries: ['src/server.ts', 'dist/server.js'],
    port: 3000,
    health: '/health',
  },
  {
    name: 'websocketdjs',
    version: '0.0.2',
    integrity:
      'sha512-6e2rpFSnPBbzpXeHPc6VUByv4BCS8011Dhh7utdz/uPSJULDwyyXCRVIhVh66yQJiqgimw9UNEaYJeH+euEgag==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
]
