/** The first public applications that were held out, and that detection is developed with since. */
import type { Expected } from '../expected.ts'

export const FIRST_HELD_OUT: readonly Expected[] = [
  {
    name: 'cloudcmd',
    version: '19.19.1',
    integrity:
      'sha512-cAZk+HJkaKkV4RfFNPm4CMhI2bZeXTNIYPuoxhiRE++ScU1FoAaZ1XzHiu65VVKygCl7FKwircefnJg/RsFOTA==',
    framework: 'express',
    mount: 'server/server.js:43',
    entries: ['bin/cloudcmd.js'],
    port: 8000,
    health: null,
  },
  {
    name: 'droppy',
    version: '10.0.0',
    integrity:
      'sha512-IQXDZw86JFZeHRnv1RYfjMSNLfF5j9E0Zv1RzRgWjxjp4vuoIR9c53YIofFUxTkX36nfmR0hTi+s26UeTUehpg==',
    framework: 'node',
    mount: 'server/server.js:355',
    entries: ['droppy.js'],
    port: 8989,
    health: null,
  },
  {
    name: 'ep_etherpad-lite',
    version: '1.8.14',
    integrity:
      'sha512-w3TRnwsozofewLCRkHV8/Afzyc4yXmQfoYSGEy/aGkGWFtgFYu/VDyPYDedvFQtANqPsHNArtmUPNVuw8nSLKg==',
    framework: 'express',
    mount: 'node/hooks/express.js:88',
    entries: ['node/server.js'],
    port: 9001,
    health: null,
  },
  {
    name: 'fake-smtp-server',
    version: '0.8.0',
    integrity:
      'sha512-HH6VlMdv1JyydyWItQm6C7eTm10eExpgFiWWkFbtMEuObM9rI2BsnjcnCT/mIPekLSDrZ9VMzNF80XiGFgT2UQ==',
    framework: 'express',
    mount: 'index.js:97',
    entries: ['index.js'],
    port: 1080,
    health: null,
  },
  {
    name: 'json-server',
    version: '0.17.4',
    integrity:
      'sha512-bGBb0WtFuAKbgI7JV3A864irWnMZSvBYRJbohaOuatHwKSRFUfqtQlrYMrB6WbalXy/cJabyjlb7JkHli6dYjQ==',
    framework: 'express',
    mount: 'lib/server/index.js:5',
    entries: ['lib/cli/bin.js'],
    port: 3000,
    health: null,
  },
  {
    name: 'live-server',
    version: '1.2.2',
    integrity:
      'sha512-t28HXLjITRGoMSrCOv4eZ88viHaBVIjKjdI5PO92Vxlu+twbk6aE0t7dVIaz6ZWkjPilYFV6OSdMYl9ybN2B4w==',
    framework: 'node',
    mount: 'index.js:239',
    entries: ['live-server.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'magicmirror',
    version: '2.35.0',
    integrity:
      'sha512-ZyijnO6mtXkla7UTktI60XuzBTG+t6sdK+GcpUYAsVLtOZIeLcDu3S0wVrbPJktlDl1YKAz8Zglkdg0EoHIHLQ==',
    framework: 'express',
    mount: 'js/server.js:23',
    entries: ['js/electron.js', 'serveronly/index.js'],
    port: 8080,
    health: null,
  },
  {
    name: 'mongo-express',
    version: '1.0.2',
    integrity:
      'sha512-Vdxe7Etjsfyej1TU6iJ4wL5HQUYpvVQWQqzDzr9f6B/FTZsoaNev8L30fJmg0bGQfAkTCez4oN4upG0VMnjH9g==',
    framework: 'express',
    mount: 'app.js:15',
    entries: ['app.js'],
    port: 8081,
    health: '/status',
  },
  {
    name: 'node-media-server',
    version: '4.4.3',
    integrity:
      'sha512-b/p1NQv/OSWrVidnrnGHCbX2oDwjJ4wZquMVHD0AlNjDn8en2GCxSg1qeEVUNOJy0Pdj4hzC6LDL4XEkr30NTA==',
    framework: 'express',
    mount: 'src/server/http_server.js:29',
    entries: ['bin/app.js'],
    port: 8000,
    health: '/api/v1/health',
  },
  {
    name: 'parse-dashboard',
    version: '5.4.0',
    integrity:
      'sha512-HBBkPbKcsBYUQcm8HCNsPe+Su1SoDDDHe2QfglMK/SqwMeSeSczFCKSBYhJa77P4U6E3utcIF6he9rqQtEUpfQ==',
    framework: 'express',
    mount: 'Parse-Dashboard/server.js:144',
    entries: ['Parse-Dashboard/index.js'],
    port: 4040,
    health: null,
  },
  {
    name: 'pouchdb-server',
    version: '4.2.0',
    integrity:
      'sha512-5dES3H3oet3cqrC6amYUwJ05E03n3eWTg6obb/o94nZNc8sEBl8m6DM0p5ah9/3WGfaRRWS9U2BCEsEkf16hhg==',
    framework: 'express',
    mount: 'lib/index.js:154',
    entries: ['bin/pouchdb-server', 'lib/index.js'],
    port: 5984,
    health: null,
  },
  {
    name: 'redis-commander',
    version: '0.9.0',
    integrity:
      'sha512-AMLY0sJm3iekK1UD3ZzIhjF9ZRcnOx/Tmjs83C12cyxPkd6ZQ9PDnxCv0zgmGSTwGUoHlraufJUpn80a8ADjdA==',
    framework: 'express',
    mount: 'lib/app.js:134',
    entries: ['bin/redis-commander.js'],
    port: 8081,
    health: null,
  },
  {
    name: 'rsshub',
    version: '1.0.0',
    integrity:
      'sha512-bsuc+C/7XiucothnaiKAYRjUkAwFzmBlkNaK2wE7z97AB7sxj2o3kkMDsTxNuak1gUQrsgcSXBtGApqO859YkA==',
    framework: 'koa',
    mount: 'lib/app.js:33',
    entries: ['lib/index.js'],
    port: 1200,
    health: null,
  },
  {
    name: 'signalhub',
    version: '4.9.0',
    integrity:
      'sha512-qi5uv7vYIbpVyIeDH5tJdIAmrQkXdK1D75QL4otFgJNGBVACE6/pYh9Dl8NQexCy8J2XWtK+TJjQRJptkE1cpw==',
    framework: 'node',
    mount: 'server.js:110',
    entries: ['bin.js'],
    port: 80,
    health: null,
  },
  {
    name: 'solid-server',
    version: '6.0.0',
    integrity:
      'sha512-MReYeJl9171aLjkMgdgG9tI6yMPBDOQGiKe/KvQblgHUf06ABZyzvVjNKCuYL13SwR8oEGnwCJ/vSgZgWWxDnA==',
    framework: 'express',
    mount: 'lib/create-app.mjs:75',
    entries: ['bin/solid'],
    port: 8443,
    health: null,
  },
  {
    name: 'statsd',
    version: '0.9.0',
    integrity:
      'sha512-DwQDAZ3osm5ZaQshq7Z/C8nxpqWjj7NVBmHkxZLta9lDOYelPZ8vR976OU1TCHRgGA1bSBuB6glOw9cFkxlyzA==',
    framework: null,
    mount: null,
    entries: [],
    port: null,
    health: null,
  },
  {
    name: 'tileserver-gl-light',
    version: '5.6.0',
    integrity:
      'sha512-a/jmgtTHRM2k9+uyPGsXXo8LsuES7Kjyx9hNWd8c575Y04Jr9VEpKneD0tlc3w+6jNodenrsA1BmB4vm+LK4AA==',
    framework: 'express',
    mount: 'src/server.js:50',
    entries: ['src/main.js'],
    port: 8080,
    health: '/health',
  },
  {
    name: 'wiki-server',
    version: '0.27.0',
    integrity:
      'sha512-zhPIVCeMAh2Yfpjl0Fm1IiX0YfaYiqmfOywW4SKpsJ/GWiMftnEK/KT5H4QcSk00rXuTJk7xYDWuoIAUS5/uiA==',
    framework: 'express',
    mount: 'lib/server.js:126',
    entries: ['index.js'],
    port: 3000,
    health: null,
  },
]
