/**
 * Work that waits in the store until it is due and then for somebody else's server, however long
 * that takes. Tenants are in rotation, so many pieces under way at once and fewer of one tenant;
 * whenever one has ended, another begins.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createCoalescingRunner } from './coalescing-runner.ts'

interface DueWork<Item> {
  readonly underWayMax: number
  /** As things stand. With 0 nothing of this tenant begins. */
  readonly underWayMaxOf: (tenantId: string) => number
  readonly tenantsWithDue: () => Promise<readonly string[]>
  readonly nextOf: (tenantId: string) => Promise<Item | undefined>
  /** So that nobody else has it, and it is due no more; what is answered is then under way. */
  readonly claim: (item: Item) => Promise<(() => Promise<void>) | undefined>
  readonly onError: (error: unknown) => void
}

export function createDueRotation<Item>(due: DueWork<Item>) {
  /** Those whose turn is still to come before anybody has another. */
  let rotation: string[] = []
  const underWay = new Set<{ readonly tenantId: string; readonly done: Promise<void> }>()
  const runner = createCoalescingRunner(beginDue, due.onError)
  /** Not on behalf of whoever asked first, who may be a stranger: their changes come last. */
  const run = AsyncLocalStorage.bind(() => runner.run())
  let asked = 0
  let settling: Promise<void> | undefined
  /** One for all who ask: nothing of their requests is kept while a server takes its time. */
  const settled = AsyncLocalStorage.bind(() => {
    settling ??= settle().finally(() => (settling = undefined))
    return settling
  })

  async function settle() {
    let answered: number
    do {
      answered = asked
      await run()
      await untilNoneIsUnderWay()
    } while (answered !== asked)
  }

  /** As many as there is room for. */
  async function beginDue(isClosed: () => boolean) {
    while (!isClosed() && underWay.size < due.underWayMax) {
      const next = (await nextInRotation()) ?? (await nextOfAll())
      if (next === undefined) return
      const work = await due.claim(next.item)
      if (work !== undefined) begin(next.tenantId, work)
    }
  }

  async function nextOfAll() {
    rotation = [...(await due.tenantsWithDue())]
    return nextInRotation()
  }

  async function nextInRotation() {
    for (let tenantId = rotation.shift(); tenantId !== undefined; tenantId = rotation.shift()) {
      const own = [...underWay].filter((one) => one.tenantId === tenantId).length
      if (own >= due.underWayMaxOf(tenantId)) continue
      const item = await due.nextOf(tenantId)
      if (item !== undefined) return { tenantId, item }
    }
    return undefined
  }

  function begin(tenantId: string, work: () => Promise<void>) {
    const done = work().catch(due.onError).then(end)
    const one = { tenantId, done }
    underWay.add(one)

    function end() {
      underWay.delete(one)
      return run()
    }
  }

  async function untilNoneIsUnderWay() {
    while (underWay.size > 0) await Promise.all([...underWay].map(({ done }) => done))
  }

  return {
    /** Settles when nothing more can begin and nothing is under way; never rejects. */
    deliver() {
      asked++
      void run()
      return settled()
    },
    /** Begins nothing more, and waits for what is under way. */
    async close() {
      await runner.close()
      await untilNoneIsUnderWay()
    },
  }
}
