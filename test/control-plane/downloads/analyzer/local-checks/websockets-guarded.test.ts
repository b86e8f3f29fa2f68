/** What `apply` leaves to be done by hand about WebSockets fails until it is done. */
import t from 'tap'
import { check } from './project-here.ts'

const MOUNTED = `import express from 'express'
import { createServer } from 'node:http'
import { verifyClaims } from 'service-node'
export const service = verifyClaims()
const app = express()
app.use(service.express())
export const server = createServer(app)
server.listen(3000)
`
const WS = `import { WebSocketServer } from 'ws'
import { server, service } from './server.js'
`
const files = (ws: string, dependencies: Record<string, string> = {}) => ({
  'package.json': JSON.stringify({ type: 'module', dependencies }),
  'server.js': MOUNTED,
  'ws.js': ws,
})
const websockets = (t: Parameters<typeof check>[0], given: Record<string, string>) =>
  check(t, 'websockets_guarded', given)

t.test('a WebSocket that goes past the middleware fails, with its place', async (t) => {
  const open = await websockets(t, files(`${WS}new WebSocketServer({ server })\n`))
  t.match(open, {
    status: 'fail',
    detail: /^ws\.js:3 accepts WebSockets that bypass the middleware/,
    nextAction: /service-analyzer apply --dry-run/,
  })
  const io = await websockets(t, files("import { Server } from 'socket.io'\nnew Server(80)\n"))
  t.match(io, { status: 'fail', detail: /^ws\.js:2 / })
})

t.test('behind the guard, or without any, it passes', async (t) => {
  const guarded = `${WS}const wss = new WebSocketServer({ noServer: true })
server.on('upgrade', service.upgrade((request, socket, head) => {
  wss.handleUpgrade(request, socket, head, (ws) => wss.emit('connection', ws, request))
}))
`
  t.match(await websockets(t, files(guarded)), { status: 'pass' })
  t.match(await websockets(t, files('')), { status: 'pass' })
})

t.test('what a person leaves open passes, and is named with its reason', async (t) => {
  const mark = '// service-analyzer-open: prices, which everybody may see\n'
  const one = `${WS}${mark}new WebSocketServer({ server })\n`
  t.match(await websockets(t, files(one)), {
    status: 'pass',
    detail: /Open on purpose: ws\.js:4 \(prices, which everybody may see\)/,
  })
  const two = `${one}new WebSocketServer({ server, path: '/b' })\n`
  t.match(await websockets(t, files(two)), { status: 'fail', detail: /^ws\.js:5 / })
  const listener = `import { server } from './server.js'\n${mark}server.on('upgrade', accept)\n`
  t.match(await websockets(t, files(listener)), { status: 'pass', detail: /ws\.js:3/ })
})

t.test('other languages are not looked at', async (t) => {
  const application = { framework: 'flask', language: 'python' } as const
  const found = await check(t, 'websockets_guarded', { 'app.py': '' }, { application })
  t.match(found, { status: 'skip' })
})
