/** What primary and workers tell each other besides the tenants. */
import type { Worker } from 'node:cluster'
import type { AddressInfo } from 'node:net'

export type FromWorker =
  | { readonly channel: 'life'; readonly type: 'listening'; readonly address: AddressInfo }
  /** One line for the person who started the gateway. */
  | { readonly channel: 'life'; readonly type: 'failed'; readonly line: string }

export type FromPrimary = {
  readonly channel: 'life'
  readonly type: 'drain'
  /** A connection that has been idle for so long is closed; the others get one more answer. */
  readonly graceMs: number
}

export function onLife<Message extends { channel: 'life' }>(
  emitter: Worker | NodeJS.Process,
  listener: (message: Message) => void,
) {
  emitter.on('message', (message: unknown) => {
    if ((message as { channel?: unknown } | null)?.channel === 'life') listener(message as Message)
  })
}
