/** Whether the application is there, as requests find it; while it is not it is looked for. */
import { openApplication, type ApplicationAddress } from './splice.ts'

/** Until an application that was not there is tried again. */
const LOOKED_FOR_MS = 2000

interface ReachabilityWorld {
  readonly application: ApplicationAddress
  readonly applicationMs: number
}

export class Reachability {
  readonly #world: ReachabilityWorld
  readonly #tell: (isReached: boolean, reason?: string) => void
  #isReached = true
  #looking: NodeJS.Timeout | undefined
  #isClosed = false

  /** The gateway is told, so that requests come here again once it is there. */
  constructor(world: ReachabilityWorld, tell: (isReached: boolean, reason?: string) => void) {
    this.#world = world
    this.#tell = tell
  }

  note(isReached: boolean, reason?: string): void {
    clearTimeout(this.#looking)
    if (isReached !== this.#isReached || !isReached) this.#tell(isReached, reason)
    this.#isReached = isReached
    if (!isReached && !this.#isClosed) this.#looking = setTimeout(this.#look, LOOKED_FOR_MS)
  }

  readonly #look = (): void => {
    const { application, applicationMs } = this.#world
    openApplication(application, applicationMs, (answer) => {
      if (typeof answer === 'string') return this.note(false, answer)
      answer.close()
      this.note(true)
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#looking)
  }
}
