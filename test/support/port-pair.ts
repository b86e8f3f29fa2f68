import type {
  Port,
  PrimaryPort,
  ToPrimary,
  ToWorker,
  WorkerPort,
} from '../../gateway/fleet/relay-messages.ts'

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
