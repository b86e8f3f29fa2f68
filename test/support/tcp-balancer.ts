/**
 * In front of gateways, as an operator has one: it passes bytes on, to one that says that it is ready,
 * and to the next where nobody listens.
 */
import { connect, createServer, type Socket } from 'node:net'

interface Behind {
  readonly edge: number
  /** Where it is asked whether it is ready. */
  readonly status: number
}

interface TestScope {
  after(work: () => void): void
}

const CHECK_MS = 250
const CHECK_MS_MAX = 1000

export async function startTcpBalancer(t: TestScope, port: number, places: readonly Behind[]) {
  const away = new Set<Behind>()
  const sockets = new Set<Socket>()
  let turn = 0

  async function check(place: Behind) {
    const signal = AbortSignal.timeout(CHECK_MS_MAX)
    const asked = fetch(`http://127.0.0.1:${place.status}/health/ready`, { signal })
    const isReady = await asked.then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) away.delete(place)
    else away.add(place)
  }
  const checking = setInterval(() => void Promise.all(places.map(check)), CHECK_MS)

  function pass(client: Socket, others: number) {
    const ready = places.filter((place) => !away.has(place))
    const among = ready.length > 0 ? ready : places
    const behind = connect({ port: among[turn++ % among.length]!.edge, host: '127.0.0.1' })
    const refused = () => (others > 0 ? pass(client, others - 1) : client.destroy())
    behind.once('error', refused)
    behind.once('connect', () => {
      behind.off('error', refused)
      keep(behind)
      client.pipe(behind)
      behind.pipe(client)
      for (const [one, other] of [
        [client, behind],
        [behind, client],
      ] as const)
        one.once('close', () => other.destroySoon())
    })
  }

  function keep(socket: Socket) {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  }

  const server = createServer({ noDelay: true }, (client) => {
    keep(client)
    pass(client, places.length)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => {
    clearInterval(checking)
    for (const socket of sockets) socket.destroy()
    server.close()
  })
}
