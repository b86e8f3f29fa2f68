/** What lies between two ends of a connection, and may fall silent without a word. */
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { listening } from './wire.ts'

export async function startRelay(t: Pick<Test, 'teardown'>, port: number) {
  const sockets = new Set<Socket>()
  let isSilent = false
  let held: (() => void)[] | undefined
  function carry(from: Socket, to: Socket): void {
    sockets.add(from)
    from.on('close', () => sockets.delete(from))
    from.on('error', () => undefined)
    from.on('data', (chunk: Buffer) => {
      if (held !== undefined) held.push(() => to.write(chunk))
      else if (!isSilent) to.write(chunk)
    })
    from.on('end', () => {
      if (held !== undefined) held.push(() => to.end())
      else if (!isSilent) to.end()
    })
  }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    carry(near, far)
    carry(far, near)
  })
  const address = `127.0.0.1:${await listening(server)}`
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    address,
    /** From now on nothing comes through, and nobody is told. */
    fallSilent: () => void (isSilent = true),
    /** What comes waits, until it is let go. */
    holdBack: () => void (held = []),
    letGo(): void {
      const before = held ?? []
      held = undefined
      for (const go of before) go()
    },
  }
}
