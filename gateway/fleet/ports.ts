/** The lines that the relay runs on: node:cluster's, or a pair inside one process. */
import type { Worker } from 'node:cluster'
import type { Port, PrimaryPort, ToPrimary, ToWorker, WorkerPort } from './relay-messages.ts'

/** In the primary. Other parts may use the same worker's channel for messages of their own. */
export function clusterWorkerPort(worker: Worker): WorkerPort {
  return {
    send(message) {
      // A worker that dies at this moment is noticed by its exit, not by a failed send.
      if (worker.isConnected()) worker.send(message, () => {})
    },
    onMessage: (listener) =>
      void worker.on('message', (message: ToPrimary) => {
        if (isOurs(message)) listener(message)
      }),
    onClose: (listener) => {
      worker.once('exit', listener)
      worker.once('disconnect', listener)
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

/** In a worker: `clusterPrimaryPort(process)`. */
export function clusterPrimaryPort(channel: NodeJS.Process): PrimaryPort {
  return {
    send(message) {
      if (channel.connected) channel.send?.(message, undefined, undefined, () => {})
    },
    onMessage: (listener) =>
      void channel.on('message', (message: ToWorker) => {
        if (isOurs(message)) listener(message)
      }),
    onClose: (listener) => void channel.once('disconnect', listener),
    kill: () => channel.disconnect?.(),
  }
}

/** Both ends in one process, for a gateway without workers. */
export function createPortPair(): { worker: WorkerPort; primary: PrimaryPort; close(): void } {
  const toWorker = createLine<ToWorker>()
  const toPrimary = createLine<ToPrimary>()
  const closing: (() => void)[] = []
  let isClosed = false
  const close = () => {
    if (isClosed) return
    isClosed = true
    for (const listener of closing) listener()
  }
  const end = <Sent, Received>(
    sending: Line<Sent>,
    receiving: Line<Received>,
  ): Port<Sent, Received> => ({
    send: (message) => {
      if (!isClosed) sending.send(message)
    },
    onMessage: (listener) => receiving.listen(listener),
    onClose: (listener) => void closing.push(listener),
    kill: close,
  })
  return { worker: end(toWorker, toPrimary), primary: end(toPrimary, toWorker), close }
}

interface Line<Message> {
  send(message: Message): void
  listen(listener: (message: Message) => void): void
}

/** Delivers later, as a process border would: whoever sends has finished what it was doing. */
function createLine<Message>(): Line<Message> {
  const early: Message[] = []
  let listener: ((message: Message) => void) | undefined
  return {
    send(message) {
      queueMicrotask(() => {
        if (listener === undefined) early.push(message)
        else listener(message)
      })
    },
    listen(given) {
      listener = given
      for (const message of early.splice(0)) given(message)
    },
  }
}

function isOurs(message: unknown): boolean {
  return (message as { channel?: unknown } | null)?.channel === 'tenants'
}
