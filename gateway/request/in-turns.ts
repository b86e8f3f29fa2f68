/**
 * What becomes possible for many at once, as when a tenant has come that a thousand requests wait for: they
 * go on for some milliseconds in each turn of the event loop, one of them at least.
 */
const TURN_MS = 5

type InTurns = (goOn: () => void) => void

export function createInTurns(): InTurns {
  let waiting: (() => void)[] = []
  let isDue = false

  function nextTurn(): void {
    isDue = false
    const beganMs = performance.now()
    let done = 0
    while (done < waiting.length) {
      waiting[done++]!()
      if (performance.now() - beganMs >= TURN_MS) break
    }
    waiting = waiting.slice(done)
    if (waiting.length > 0) soon()
  }

  function soon(): void {
    if (isDue) return
    isDue = true
    setImmediate(nextTurn)
  }

  return (goOn) => {
    waiting.push(goOn)
    soon()
  }
}
