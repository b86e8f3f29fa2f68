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

const CHECK_MS = 250
const CHECK_MS_MAX = 1000

/** Each request goes to the next; one that has gone is left out, and where it is asked one that is not ready. */
export async function startBalancer(
  t: TestScope,
  port: number,
  places: readonly Pick<Place, 'public'>[],
  { isReadyAsked = false } = {},
) {
  let turn = 0
  const left = new Set<Pick<Place, 'public'>>()
  async function check(place: Pick<Place, 'public'>) {
    const signal = AbortSignal.timeout(CHECK_MS_MAX)
    const asked = fetch(`http://127.0.0.1:${place.public}/health/ready`, { signal })
    const isReady = await asked.then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) left.delete(place)
    else left.add(place)
  }
  const checking = isReadyAsked
    ? setInterval(() => void Promise.all(places.map(check)), CHECK_MS)
    : undefined
  async function balance(asked: IncomingMessage, answer: ServerResponse) {
    const body = await buffer(asked)
    const pass = (others: number) => {
      const ready = places.filter((place) => !left.has(place))
      const among = ready.length > 0 ? ready : places
      const place = among[turn++ % among.length] as Place
      const { method, url: path, headers } = asked
      const on = askNode(
        // of a kept connection nobody knows whether it is still there
        { host: '127.0.0.1', port: place.public, method, path, headers, agent: false },
        (got) => {
          answer.writeHead(got.statusCode ?? 502, got.rawHeaders)
          got.on('error', () => answer.destroy())
          got.pipe(answer)
        },
      )
      on.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' && others > 0) pass(others - 1)
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
    clearInterval(checking)
    server.closeAllConnections()
    server.close()
  })
}
