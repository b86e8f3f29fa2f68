/** A page's WebSockets come over the connection that its page came over (RFC 8441). */
import t from 'tap'
import { startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { USER_AGENT } from '../support/edge-world.ts'
import { startHttp2Edge } from '../support/http2-websockets.ts'
import { startWebSocketApplication } from '../support/websockets.ts'

/** In the page: what came back over each, and how it ended. */
const TALK = `Promise.all(['/one', '/two'].map((path) => new Promise((resolve) => {
  const socket = new WebSocket('wss://' + location.host + path, ['chat'])
  let heard = ''
  socket.onopen = () => socket.send('hello ' + path)
  socket.onmessage = ({ data }) => { heard = data; socket.close(1000) }
  socket.onclose = ({ code }) => resolve([socket.protocol, heard, code])
})))`

t.test('two of a page, and one connection', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const connections: number[] = []
  const application = await startWebSocketApplication(t, (socket) => {
    connections.push(edge.gateway.server.connections())
    socket.on('message', (message: Buffer) => socket.send(String(message)))
  })
  const { edge, authority, session } = await startHttp2Edge(t, application.url)
  session.destroy()
  const { page, context } = await (
    await startChromium(t)
  ).page({ ignoreHTTPSErrors: true, userAgent: USER_AGENT })
  const url = `https://${authority}`
  const cookies = edge
    .session()
    .split('; ')
    .map((cookie) => cookie.split('='))
  await context.addCookies(
    cookies.map(([name = '', value = '']) => ({ name, value, url, secure: true })),
  )
  await page.goto(`${url}/page`)
  t.equal(await page.textContent('body'), 'ordinary')
  t.same(await page.evaluate(TALK), [
    ['chat', 'hello /one', 1000],
    ['chat', 'hello /two', 1000],
  ])
  t.same(connections, [1, 1])
})
