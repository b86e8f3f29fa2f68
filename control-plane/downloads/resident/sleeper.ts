/** Waiting that can be cut short, and is over when it stops. */
export function createSleeper(stopped: AbortSignal) {
  let wakeNow: (() => void) | undefined
  /** Nobody slept when it was called: the next sleep is none. */
  let isWoken = false
  const wake = () => {
    if (wakeNow === undefined) isWoken = true
    else wakeNow()
  }
  stopped.addEventListener('abort', wake)

  return {
    wake,
    sleep(forMs: number): Promise<void> {
      if (isWoken || stopped.aborted) {
        isWoken = false
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        const end = () => {
          wakeNow = undefined
          clearTimeout(timer)
          resolve()
        }
        const timer = setTimeout(end, forMs)
        wakeNow = end
      })
    },
  }
}
