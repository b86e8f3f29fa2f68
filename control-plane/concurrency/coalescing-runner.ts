export type CoalescingRunner = ReturnType<typeof createCoalescingRunner>

/** Work that runs one round at a time; who asks while it runs gets another round behind it. */
export function createCoalescingRunner(
  work: (isClosed: () => boolean) => Promise<void>,
  onError: (error: unknown) => void,
) {
  let running: Promise<void> | undefined
  let isAskedAgain = false
  let isClosed = false

  async function untilDone() {
    do {
      isAskedAgain = false
      try {
        await work(() => isClosed)
      } catch (error) {
        onError(error)
      }
    } while (isAskedAgain && !isClosed)
    running = undefined
  }

  return {
    /** Never rejects: what fails has been told, and waits for the next round. */
    run(): Promise<void> {
      if (isClosed) return Promise.resolve()
      isAskedAgain = true
      running ??= untilDone()
      return running
    },
    async close() {
      isClosed = true
      await running
    },
  }
}
