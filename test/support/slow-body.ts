/** The body of a request whose first byte is there; the rest comes once something has happened. */
export function slowBody(text: string) {
  const bytes = new TextEncoder().encode(text)
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let pulls = 0
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pulls += 1
        if (pulls === 1) return controller.enqueue(bytes.subarray(0, 1))
        begun.resolve()
        await over.promise
        controller.enqueue(bytes.subarray(1))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { body, begun: begun.promise, goOn: over.resolve }
}
