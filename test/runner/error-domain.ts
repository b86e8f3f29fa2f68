/**
 * Whose error it is that nobody has caught: this takes the place of `async-hook-domain` in tap, which
 * follows every promise of the process for it, and takes a sixth of all that the tests cost. The
 * context that Node carries along anyway says the same.
 */
import { AsyncLocalStorage, AsyncResource, executionAsyncResource } from 'node:async_hooks'

type OnError = (error: unknown, origin: string) => void
type Scope = AsyncResource['runInAsyncScope']

const context = new AsyncLocalStorage<Domain>()
/** Of several that have begun, the innermost: an error may come out of nowhere. */
const begun: Domain[] = []

export class Domain {
  readonly onerror: OnError
  readonly parent = context.getStore()
  destroyed = false

  constructor(onerror: OnError) {
    this.onerror = onerror
    const test: unknown = executionAsyncResource()
    if (test instanceof AsyncResource) this.#ofTest(test)
    else begun.unshift(this) // of all of them
  }

  /** Whatever the test begins knows it from then on. */
  #ofTest(test: AsyncResource): void {
    const enter: Scope = (work, self, ...args) =>
      AsyncResource.prototype.runInAsyncScope.call(test, () => {
        if (!begun.includes(this) && !this.destroyed) begun.push(this)
        return context.run(this, () => Reflect.apply(work, self, args) as never)
      }) as never
    test.runInAsyncScope = enter
  }

  destroy(): void {
    this.destroyed = true
    const at = begun.indexOf(this)
    if (at !== -1) begun.splice(at, 1)
  }
}

function whoseNow(): Domain | undefined {
  let domain = context.getStore()
  while (domain?.destroyed === true) domain = domain.parent
  return domain ?? begun.at(-1)
}

/** Whether a test takes it as its own; not where the code that is tested looks after such errors. */
function isTaken(error: unknown, origin: string): boolean {
  if (process.listenerCount('uncaughtException') > 0) return false
  const domain = whoseNow()
  domain?.onerror(error, origin)
  return domain !== undefined
}

process.on('uncaughtExceptionMonitor', (error, origin) => {
  if (process.hasUncaughtExceptionCaptureCallback() || !isTaken(error, origin)) return
  process.setUncaughtExceptionCaptureCallback(() =>
    process.setUncaughtExceptionCaptureCallback(null),
  )
})

const emit = process.emit.bind(process) as (name: string, ...given: unknown[]) => boolean
/** Without a listener, which would be one for the code that is tested as well. */
process.emit = ((name: string, ...given: unknown[]) =>
  name === 'unhandledRejection' && process.listenerCount(name) === 0
    ? isTaken(given[0], name)
    : emit(name, ...given)) as typeof process.emit
