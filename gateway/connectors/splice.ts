/** Bytes between another gateway and a connector, each as fast as the other takes them. */
import type { Socket } from 'node:net'
import { breakOff } from '../../shared/connector/break-off.ts'
import { LIMITS } from '../../shared/limits.ts'
import { readLeft } from '../../shared/read-before-end.ts'
import { gatherInTurn } from '../wire/write-turns.ts'

export function splice(guest: Socket, connector: Socket): void {
  carry(guest, connector)
  carry(connector, guest)
}

function carry(from: Socket, to: Socket): void {
  // One side may have come to its end while the other one goes on.
  from.allowHalfOpen = true
  from.on('data', (chunk: Buffer) => {
    if (!to.writable) return // it wants no more, and is still listened to
    gatherInTurn(to, chunk.length)
    if (!to.write(chunk)) from.pause()
  })
  to.on('drain', () => from.resume())
  from.on('end', () => to.end())
  // What has been read goes on, and comes before word of the end.
  from.on('error', () => {
    if (from.readableLength === 0) from.destroy()
    else from.resume()
  })
  from.on('close', () => {
    if (to.destroyed) return
    if (from.readableEnded) return void to.end()
    // What was cut off must not look as if it had come to its end.
    readLeft(from, (chunk) => to.write(chunk))
    to.resume()
    breakOff(to, () => {
      const patience = setTimeout(() => to.destroy(), LIMITS.lingerMsMax)
      to.once('close', () => clearTimeout(patience))
    })
  })
}
