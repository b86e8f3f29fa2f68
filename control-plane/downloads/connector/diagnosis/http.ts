/** One HTTP request on a connection that is there, and the head of its answer. */
import { request, type IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

interface HttpWish {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Its beginning. */
  readonly text: string
}

const TEXT_MAX = 4096

/** Undefined: no answer of HTTP, or none in time. */
export function speakHttp(
  socket: Socket,
  { method, path, headers, body = '' }: HttpWish,
  signal: AbortSignal,
): Promise<HttpAnswer | undefined> {
  return new Promise((resolve) => {
    const asked = request({ method, path, headers, signal, createConnection: () => socket })
    asked.on('error', () => resolve(undefined))
    // nobody asked for another protocol: it is an answer all the same, and there is none behind it
    asked.once('upgrade', ({ statusCode: status = 0, headers: given }) => {
      resolve({ status, headers: given, text: '' })
      socket.destroy()
    })
    asked.once('response', (response) => {
      let text = ''
      const { statusCode: status = 0, headers: given } = response
      const answer = () => {
        resolve({ status, headers: given, text })
        socket.destroy()
      }
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text = (text + piece).slice(0, TEXT_MAX)
        if (text.length === TEXT_MAX) answer()
      })
      response.on('end', answer)
      response.on('close', answer)
    })
    asked.end(body)
  })
}
