/** An application that answers each message of a WebSocket with itself. `echo.ts PORT` */
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const server = createServer((_request, answer) => answer.end('x'.repeat(1024)))
const sockets = new WebSocketServer({ server, perMessageDeflate: false })
sockets.on('connection', (socket) => {
  socket.on('message', (message, isBinary) => socket.send(message, { binary: isBinary }))
})
server.listen(Number(process.argv[2]), '127.0.0.1')
