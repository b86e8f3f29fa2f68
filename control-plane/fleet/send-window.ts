/**
 * How much may be on its way to one gateway. What the kernel and the gateway have queued cannot be
 * overtaken any more, so a bulk of tenants is kept here, where a revocation still passes it.
 */
interface SendWindow {
  /** Waits until so many bytes fit; one message always fits into an empty window. */
  room(bytes: number): Promise<void>
  sent(bytes: number): void
  /** The gateway has dealt with the oldest ones. */
  consumed(messages: number): void
  close(): void
}

export function createSendWindow(messagesMax: number, bytesMax: number): SendWindow {
  let underway: number[] = []
  let underwayBytes = 0
  let isClosed = false
  let waiting: { bytes: number; go: () => void } | undefined

  const fits = (bytes: number) =>
    isClosed ||
    underway.length === 0 ||
    (underway.length < messagesMax && underwayBytes + bytes <= bytesMax)

  function letGo() {
    if (waiting === undefined || !fits(waiting.bytes)) return
    waiting.go()
    waiting = undefined
  }

  return {
    room(bytes) {
      if (fits(bytes)) return Promise.resolve()
      return new Promise((go) => (waiting = { bytes, go }))
    },
    sent(bytes) {
      underway.push(bytes)
      underwayBytes += bytes
    },
    consumed(messages) {
      for (const bytes of underway.slice(0, messages)) underwayBytes -= bytes
      underway = underway.slice(messages)
      letGo()
    },
    close() {
      isClosed = true
      letGo()
    },
  }
}
