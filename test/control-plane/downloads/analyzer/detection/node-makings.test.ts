/** What packages other than the framework's own way make: older versions, and those that wrap it. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { projectWith } from './project-with.ts'

/** `koa a.js:1 :1000 sure`, an application each. */
async function found(code: string, dependencies: Readonly<Record<string, string>>) {
  const scripts = { start: 'node a.js' }
  const manifest = JSON.stringify({ scripts, dependencies })
  const { applications } = await detectNode(projectWith({ 'package.json': manifest, 'a.js': code }))
  return applications.map(
    ({ framework, mount, port, confidence }) =>
      `${framework} ${mount?.path}:${mount?.line} :${port} ${confidence}`,
  )
}

t.test('what Koa 1 makes is found, which is called without new', async (t) => {
  const code = `var app = module.exports = require('koa')()
app = require('http').createServer(app.callback())
app.listen(1000)`
  t.strictSame(await found(code, { koa: '1' }), ['koa a.js:1 :1000 sure'])
})

t.test('what routing-controllers makes is found, with its routes in it', async (t) => {
  const code = `const { createExpressServer } = require('routing-controllers')
createExpressServer({ controllers: [] }).listen(1000)`
  t.strictSame(await found(code, { 'routing-controllers': '0.11', express: '5' }), [
    'express a.js:2 :1000 sure',
  ])
})

t.test(
  'what Connect makes is the application where it listens, and not beside a server',
  async (t) => {
    const made = `const http = require('http')\nconst app = require('connect')()\n`
    t.strictSame(await found(`${made}app.listen(1000)`, { connect: '3' }), [
      'node a.js:2 :1000 sure',
    ])
    t.strictSame(await found(`${made}http.createServer(app).listen(1000)`, { connect: '3' }), [
      'node a.js:3 :1000 sure',
    ])
  },
)

t.test('what Express 2 makes by its createServer is an application', async (t) => {
  const code = `const express = require('express')\nexpress.createServer().listen(1000)`
  t.strictSame(await found(code, { express: '2' }), ['express a.js:2 :1000 sure'])
})
