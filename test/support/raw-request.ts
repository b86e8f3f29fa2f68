/** Sends text to a port as it is, and gives back what came until the connection was closed. */
import { connect } from 'node:net'

export function rawRequest(
  port: number,
  text: string,
  encoding: BufferEncoding = 'utf8',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, encoding))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      socket.end()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
