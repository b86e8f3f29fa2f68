/** Bytes between another gateway and a connector, each as fast as the other takes them. */
import type { Socket } from 'node:net'

export function splice(guest: Socket, connector: Socket): void {
  carry(guest, connector)
  carry(connector, guest)
}

function carry(from: Socket, to: Socket): void {
  // One side may have come to its end while the other one goes on.
  from.allowHalfOpen = true
  from.on('data', (chunk: Buffer) => {
    if (!to.writable) return // it wants no more, and is still listened to
    if (!to.write(chunk)) from.pause()
  })
  to.on('drain', () => from.resume())
  from.on('end', () => to.end())
  from.on('close', (hadError: boolean) => {
    // What was cut off must not look as if it had come to its end.
    if (hadError || !from.readableEnded) to.destroy()
    else to.end()
  })
}
