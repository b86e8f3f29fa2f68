/** In front of several control planes, as an operator has one: it knows of no sessions. */
import {
  createServer,
  request as askNode,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { buffer } from 'node:stream/consumers'

/** The ports of one machine. */
export interface Place {
  readonly public: number
  readonly fleet: number
  readonly edge: number
}

interface TestScope {
  after(work: () => void): void
}

/** Each request goes to the next; one that has gone is left out. */
export async function startBalancer(
  t: TestScope,
  port: number,
  places: readonly Pick<Place, 'public'>[],
) {
  let turn = 0
  async function balance(asked: IncomingMessage, answer: ServerResponse) {
    const body = await buffer(asked)
    const pass = (left: number) => {
      const place = places[turn++ % places.length] as Place
      const { method, url: path, headers } = asked
      const on = askNode(
        { host: '127.0.0.1', port: place.public, method, path, headers },
        (got) => {
          answer.writeHead(got.statusCode ?? 502, got.rawHeaders)
          got.on('error', () => answer.destroy())
          got.pipe(answer)
        },
      )
      on.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' && left > 0) pass(left - 1)
        else answer.destroy()
      })
      on.end(body)
    }
    pass(places.length)
  }
  const server = createServer(
    (asked, answer) => void balance(asked, answer).catch(() => answer.destroy()),
  )
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
}
