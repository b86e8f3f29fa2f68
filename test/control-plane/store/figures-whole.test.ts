/** Figures of all tenants, on Postgres: drawn whole, whenever what was counted is added together. */
import t from 'tap'
import { createFigures } from '../../../control-plane/monitoring/figures.ts'
import { addForService } from '../../../control-plane/store/queries/service-figures.ts'
import { systemClock, MINUTE_MS } from '../../../shared/clock.ts'
import { newUrl, storeAt } from '../../support/postgres-store.ts'

t.test('no figure is missing from a chart, or in it twice, while it is added', async (t) => {
  const url = await newUrl()
  const [writer, reader] = [await storeAt(t, url), await storeAt(t, url)]
  const tidying = createFigures({ store: writer, clock: systemClock })
  const drawing = createFigures({ store: reader, clock: systemClock })
  const nowMs = systemClock.nowMs()
  const fromMs = nowMs - (nowMs % MINUTE_MS)
  const seen = new Set<number>()
  for (let round = 1; round <= 20; round++) {
    await writer.changeOf('acme', ({ queries }) =>
      addForService(queries, 'realm', nowMs, 'acme', [
        { outcome: 'denied', reason: 'network_denied', count: 1 },
      ]),
    )
    let isDone = false
    const pruned = tidying.prune(100).finally(() => (isDone = true))
    while (!isDone) {
      const span = { fromMs, toMs: fromMs + MINUTE_MS, step: 'minute' } as const
      const { lines } = await drawing.seriesOfAll(span)
      seen.add((lines[0]?.total ?? 0) - round)
    }
    await pruned
  }
  t.same([...seen], [0])
})
