/** What a port comes to where nobody tells the program anything, through all that code does with it. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { projectWith } from './project-with.ts'

const MANIFEST = JSON.stringify({ scripts: { start: 'node a.js' }, dependencies: { express: '5' } })
const APP = `const app = require('express')()\n`

async function portIn(files: Readonly<Record<string, string>>) {
  const { applications } = await detectNode(projectWith({ 'package.json': MANIFEST, ...files }))
  const said = applications[0]?.findings.find(({ about }) => about === 'port')
  return `${said?.value} ${said?.confidence}`
}

t.test('a port is worked out as the program would', async (t) => {
  const shapes: Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>> = {
    'the first port that a package tries, of those that are free': [
      '8005 likely',
      {
        'a.js': `${APP}const finder = require('portfinder')\nfinder.basePort = 8005
const own = Number(process.argv[2])\nif (own) app.listen(own)\nelse finder.getPort((error, port) => app.listen(port))`,
      },
    ],
    'a later object goes before an earlier one': [
      '8006 sure',
      {
        'a.js': `${APP}const custom = { port: 80 }\nconst config = { ...custom, host: 'x', ...{ port: 8006 } }
app.listen(config.port)`,
      },
    ],
    'what a function is given by the call that asks': [
      '8007 sure',
      {
        'a.js': `${APP}const { number } = require('./environment')
const delay = number('DELAY', 80)\nconst { port } = { port: number('HTTP_PORT', 8007) }\napp.listen(port, delay)`,
        'environment.js': `exports.number = function (name, custom) {
  const value = process.env[name]\n  return value === undefined ? custom : parseInt(value, 10)\n}`,
      },
    ],
    'a file of settings that is chosen by the environment': [
      '8008 sure',
      {
        'a.js': `${APP}const config = require('./settings/' + (process.env.NODE_ENV || 'development'))\napp.listen(config.port)`,
        'settings/development.json': '{ "port": 8008, "redis": { "port": 6379 } }',
        'settings/production.json': '{ "port": 80 }',
      },
    ],
    'what the package config reads first': [
      '8009 sure',
      {
        'a.js': `${APP}const config = require('config')\nconst start = require('./start')\nstart(app, config.get('server.port'))`,
        'start.js': 'module.exports = (app, port) => app.listen(port)',
        'config/default.yml': 'database:\n  port: 5432\nserver:\n  port: 8009\n',
      },
    ],
    'settings that nothing names, by the whole way to them': [
      '8010 likely',
      {
        'a.js': `${APP}const settings = load()\napp.listen(settings.router.httpPort)`,
        'config/default.json': '{ "httpPort": 1, "router": { "httpPort": 8010 } }',
      },
    ],
    'settings that are copied on each machine': [
      '8011 likely',
      {
        'a.js': `${APP}app.listen(require('./config').port)`,
        'config.example.js': 'module.exports = { port: 8011 }',
      },
    ],
    'the first of a list that is there': [
      '8012 sure',
      {
        'a.js': `${APP}const port = [process.env.MY_PORT, process.env.PORT, 8012].map((one) => parseInt(one)).find((one) => !isNaN(one))\napp.listen(port)`,
      },
    ],
    'what a test of the environment comes to': [
      '8013 sure',
      {
        'a.js': `${APP}app.listen(process.env.NODE_ENV !== 'development' ? 8013 : 3002)`,
      },
    ],
    'the one that is tried first, and not the next': [
      '8014 sure',
      {
        'a.js': `${APP}const listen = (port) => app.listen(port).on('error', () => listen(Number(port) + 1))\nlisten(8014)`,
      },
    ],
    'what a caller gives goes before what is custom': [
      '8015 sure',
      {
        'a.js': `async function main() {\n  const { serve } = await Promise.resolve().then(() => require('./serve.js'))\n  serve('.', portOf())
}\nconst portOf = (said) => {\n  if (!said) return 8015\n  return said\n}\nmain()`,
        'serve.js': `const app = require('express')()\nexports.serve = (folder, port = 3344) => app.listen(port)`,
      },
    ],
    'the part of a file of settings that the environment names': [
      '8017 sure',
      {
        'a.js': `${APP}const kind = process.env.NODE_ENV || 'development'\napp.listen(require('./all')[kind].port)`,
        'all.js': `module.exports = { production: { port: 80 }, development: { port: 8017 } }`,
      },
    ],
    'a variable by whatever name the code asks for it': [
      '8018 likely',
      {
        'a.js': `${APP}const read = (key) => process.env[key]\napp.listen(Number(read('APP_PORT')))`,
        '.env.example': 'DB_PORT=5432\nAPP_PORT=8018\n',
      },
    ],
    'a server whose class was compiled': [
      '8019 sure',
      {
        'a.js': `const express = require('express')
const Server = (function (Base) {
  function Server() {\n    var _this = Base.call(this) || this\n    _this.app = express()\n    return _this\n  }
  _createClass(Server, [{ key: 'start', value: function start() { this.app.listen(8019) } }])
  return Server\n})(Object)\nnew Server().start()`,
      },
    ],
    'a default behind many ways that say nothing': [
      '8020 likely',
      {
        'a.js': `${APP}const read = (file) => {\n${Array.from({ length: 60 }, () => '  if (file) return file.options').join('\n')}
  return {}\n}\nmodule.exports = (options) => {\n  const { port = 8020 } = { ...read(options), ...options }\n  app.listen(port)\n}`,
      },
    ],
    'one that may come from elsewhere is not sure': [
      '8016 likely',
      { 'a.js': `${APP}module.exports = (options) => app.listen(options.port || 8016)` },
    ],
  }
  for (const [name, [expected, files]] of Object.entries(shapes))
    t.equal(await portIn(files), expected, name)
})
