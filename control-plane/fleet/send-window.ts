/**
 * How much may be on its way to one gateway. What the kernel and the gateway have queued cannot be
 * overtaken any more, so a bulk of tenants is kept here, where a revocation still passes it.
 */
export function createSendWindow(messagesMax: number, bytesMax: number) {
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
    /** Waits until so many bytes fit; one message always fits into an empty window. */
    room(bytes: number): Promise<void> {
      if (fits(bytes)) return Promise.resolve()
      return new Promise((go) => (waiting = { bytes, go }))
    },
    sent(bytes: number) {
      underway.push(bytes)
      underwayBytes += bytes
    },
    /** The gateway has dealt with the oldest ones. */
    consumed(messages: number) {
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
